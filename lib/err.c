/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "err.h"
#include "utf8.h"

static const struct {
    const char *wire, *state;
} codes[ERR_COUNT] = {
#define ERRCODE(name, w, s) [ERR_##name] = {w, s},
#include "errcodes.def"
#undef ERRCODE
};

const char *err_code_name(enum err_code code)
{
    return (unsigned)code < ERR_COUNT ? codes[code].wire : "internal";
}

const char *err_code_state(enum err_code code)
{
    return (unsigned)code < ERR_COUNT ? codes[code].state : "failed";
}

int err_code_find(const char *wire)
{
    for (int i = 0; i < ERR_COUNT; i++) {
        if (strcmp(codes[i].wire, wire) == 0)
            return i;
    }
    return -1;
}

char *mask_text(char *dst, size_t cap, struct span src)
{
    size_t o = 0;

    for (size_t i = 0; i < src.n && o + 1 < cap;) {
        unsigned char c = (unsigned char)src.p[i];
        size_t len = 1;

        if (c >= 0x80) {
            size_t want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
            struct span cp = {src.p + i, MIN(want, src.n - i)};
            if (cp.n == want && utf8_valid(cp) == want)
                len = want;
            else
                c = '?';
        } else if (c < 0x20 || c == 0x7f) {
            c = '?';
        }
        if (o + len >= cap)
            break;
        if (len > 1)
            memcpy(dst + o, src.p + i, len);
        else
            dst[o] = (char)c;
        o += len;
        i += len;
    }
    if (cap > 0)
        dst[o] = '\0';
    return dst;
}

static void set_message(struct err *e, const char *fmt, va_list ap)
{
    char raw[sizeof(e->msg) * 2];
    int n = vsnprintf(raw, sizeof(raw), fmt, ap);

    if (n < 0)
        n = 0;
    mask_text(e->msg, sizeof(e->msg),
              (struct span){raw, MIN((size_t)n, sizeof(raw) - 1)});
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        e->code = code;
        e->sys = 0;
        e->hint[0] = '\0';
        va_start(ap, fmt);
        set_message(e, fmt, ap);
        va_end(ap);
    }
    return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
    int saved = errno;

    if (e) {
        char text[128];
        va_list ap;
        size_t n;

        e->code = ERR_SYS;
        e->sys = saved;
        e->hint[0] = '\0';
        va_start(ap, fmt);
        set_message(e, fmt, ap);
        va_end(ap);
        n = strlen(e->msg);
        snprintf(e->msg + n, sizeof(e->msg) - n, ": %s",
                 strerror_r(saved, text, sizeof(text)));
    }
    errno = saved;
    return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    if (e) {
        char old[sizeof(e->msg)];
        va_list ap;
        size_t n;

        memcpy(old, e->msg, sizeof(old));
        va_start(ap, fmt);
        set_message(e, fmt, ap);
        va_end(ap);
        n = strlen(e->msg);
        /* the cause matters more than a long context */
        if (n > sizeof(e->msg) / 2)
            n = sizeof(e->msg) / 2;
        snprintf(e->msg + n, sizeof(e->msg) - n, ": %.*s",
                 (int)(sizeof(e->msg) - n - 3), old);
    }
    return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
    if (e) {
        char raw[2 * sizeof(e->hint)];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(raw, sizeof(raw), fmt, ap);
        va_end(ap);
        mask_text(e->hint, sizeof(e->hint), span_str(raw));
    }
    return -1;
}
