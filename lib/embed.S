/* SPDX-License-Identifier: MIT */
/* One file as read-only data. The build gives NAME and FILE. A NUL follows
 * the bytes, not counted in the size. */
#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

    .section .rodata
    .global NAME
    .type NAME, @object
    .balign 16
NAME:
    .incbin FILE
1:
    .byte 0
    .size NAME, . - NAME

    .global CAT(NAME, _size)
    .type CAT(NAME, _size), @object
    .balign 8
CAT(NAME, _size):
    .quad 1b - NAME
    .size CAT(NAME, _size), 8

    .section .note.GNU-stack, "", @progbits
