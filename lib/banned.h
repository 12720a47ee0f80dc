/* SPDX-License-Identifier: MIT */
/*
 * Functions that nobody here may call: they cannot bound what they write, or
 * they depend on the locale or on static storage.
 */
#ifndef KM_BANNED_H
#define KM_BANNED_H

#define KM_BANNED(f) sorry_##f##_is_banned

#undef strcpy
#define strcpy KM_BANNED(strcpy)
#undef strcat
#define strcat KM_BANNED(strcat)
#undef strncpy
#define strncpy KM_BANNED(strncpy)
#undef strncat
#define strncat KM_BANNED(strncat)
#undef strtok
#define strtok KM_BANNED(strtok)
#undef sprintf
#define sprintf KM_BANNED(sprintf)
#undef vsprintf
#define vsprintf KM_BANNED(vsprintf)
#undef gets
#define gets KM_BANNED(gets)
#undef atoi
#define atoi KM_BANNED(atoi)
#undef atol
#define atol KM_BANNED(atol)
#undef gmtime
#define gmtime KM_BANNED(gmtime)
#undef localtime
#define localtime KM_BANNED(localtime)
#undef ctime
#define ctime KM_BANNED(ctime)
#undef mktemp
#define mktemp KM_BANNED(mktemp)

#endif
