/* SPDX-License-Identifier: MIT */
/*
 * JSON. Reading is jansson behind a pass over the tokens that bounds the
 * nesting and, where asked, repairs what Python writes and JSON forbids.
 */
#include "base.h"

#include <jansson.h>
#include <math.h>

#include "utf8.h"
#include "val.h"

static void json_text(struct buf *out, struct span s)
{
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n;) {
        size_t run = i;
        unsigned char c;

        while (run < s.n && (unsigned char)s.p[run] >= 0x20 &&
               s.p[run] != '"' && s.p[run] != '\\' && s.p[run] != 0x7f)
            run++;
        buf_add(out, s.p + i, run - i);
        i = run;
        if (i == s.n)
            break;
        c = (unsigned char)s.p[i++];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_adds(out, "\\n");
        else if (c == '\t')
            buf_adds(out, "\\t");
        else if (c == '\r')
            buf_adds(out, "\\r");
        else
            buf_printf(out, "\\u%04x", c);
    }
    buf_addc(out, '"');
}

/* Shortest of 15 to 17 digits that reads back the same. */
static void json_float(struct buf *out, double f)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    buf_adds(out, text);
    if (!strpbrk(text, ".e"))
        buf_adds(out, ".0");
}

static void json_val(struct buf *out, const struct val *v)
{
    switch (v->type) {
    case VAL_NIL:
        buf_adds(out, "null");
        break;
    case VAL_BOOL:
        buf_adds(out, v->b ? "true" : "false");
        break;
    case VAL_INT:
        buf_printf(out, "%" PRId64, v->i);
        break;
    case VAL_FLOAT:
        json_float(out, v->f);
        break;
    case VAL_STR:
        json_text(out, v->s);
        break;
    case VAL_LIST:
        buf_addc(out, '[');
        for (uint32_t i = 0; i < v->list.n; i++) {
            if (i)
                buf_addc(out, ',');
            json_val(out, v->list.v[i]);
        }
        buf_addc(out, ']');
        break;
    case VAL_MAP:
        buf_addc(out, '{');
        for (uint32_t i = 0; i < v->map.n; i++) {
            if (i)
                buf_addc(out, ',');
            json_text(out, v->map.keys[i]);
            buf_addc(out, ':');
            json_val(out, v->map.v[i]);
        }
        buf_addc(out, '}');
        break;
    }
}

int val_json(struct buf *out, const struct val *v)
{
    size_t before = out->n;

    json_val(out, v);
    if (out->full) {
        buf_setlen(out, before);
        return -1;
    }
    return 0;
}

/* End of the text that starts at IN[I] == '"', past the closing quote. */
static size_t text_end(struct span in, size_t i)
{
    for (i++; i < in.n; i++) {
        if (in.p[i] == '\\')
            i++;
        else if (in.p[i] == '"')
            return i + 1;
    }
    return in.n;
}

static long hex4(struct span in, size_t i)
{
    char h[5] = {0}, *end;

    if (i + 4 > in.n)
        return -1;
    memcpy(h, in.p + i, 4);
    for (int k = 0; k < 4; k++) {
        if (!strchr("0123456789abcdefABCDEF", h[k]) || !h[k])
            return -1;
    }
    return strtol(h, &end, 16);
}

/* Copy a text token; lone surrogates become U+FFFD, raw control characters
 * their escapes, invalid UTF-8 U+FFFD. */
static void copy_text(struct buf *out, struct span in, size_t i, size_t end)
{
    while (i < end) {
        long u, low;
        unsigned char c = (unsigned char)in.p[i];

        if (c < 0x20) {
            buf_printf(out, "\\u%04x", c);
            i++;
            continue;
        }
        if (c != '\\') {
            size_t run = i;
            while (run < end && (unsigned char)in.p[run] >= 0x20 &&
                   in.p[run] != '\\')
                run++;
            utf8_repair(out, (struct span){in.p + i, run - i});
            i = run;
            continue;
        }
        if (i + 1 < end && in.p[i + 1] == 'u' &&
            (u = hex4(in, i + 2)) >= 0xd800 && u <= 0xdfff) {
            low = i + 7 < end && in.p[i + 6] == '\\' && in.p[i + 7] == 'u'
                      ? hex4(in, i + 8)
                      : -1;
            if (u < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) {
                buf_add(out, in.p + i, 12);
                i += 12;
            } else {
                buf_adds(out, "\\ufffd");
                i += 6;
            }
            continue;
        }
        buf_add(out, in.p + i, MIN((size_t)2, end - i));
        i += 2;
    }
}

static bool starts_at(struct span in, size_t i, const char *word)
{
    return span_starts((struct span){in.p + i, in.n - i}, word);
}

/* Copy a number; one that JSON or int64 cannot hold becomes text or null. */
static size_t copy_number(struct buf *out, struct span in, size_t i)
{
    size_t end = i;
    bool real = false;
    char text[400];

    while (end < in.n && in.p[end] && strchr("+-.0123456789eE", in.p[end])) {
        real = real || strchr(".eE", in.p[end]);
        end++;
    }
    if (end - i >= sizeof(text)) {
        buf_adds(out, "null");
        return end;
    }
    memcpy(text, in.p + i, end - i);
    text[end - i] = '\0';
    errno = 0;
    if (real) {
        buf_adds(out, isfinite(strtod(text, NULL)) ? text : "null");
    } else {
        (void)strtoll(text, NULL, 10);
        if (errno == ERANGE)
            buf_printf(out, "\"%s\"", text);
        else
            buf_adds(out, text);
    }
    return end;
}

/* Bounds the nesting; with LENIENT also writes the repaired text to OUT. */
static int prepare(struct buf *out, struct span in, bool lenient, struct err *e)
{
    int depth = 0;

    for (size_t i = 0; i < in.n;) {
        char c = in.p[i];
        if (c == '"') {
            size_t end = text_end(in, i);
            if (lenient)
                copy_text(out, in, i, end);
            i = end;
            continue;
        }
        if (c == '{' || c == '[') {
            if (++depth > VAL_DEPTH)
                return err_set(e, ERR_CORRUPT,
                               "json: nested too deep at byte %zu", i);
        } else if (c == '}' || c == ']') {
            depth--;
        }
        if (lenient && starts_at(in, i, "NaN")) {
            buf_adds(out, "null");
            i += 3;
        } else if (lenient && starts_at(in, i, "Infinity")) {
            buf_adds(out, "null");
            i += 8;
        } else if (lenient && starts_at(in, i, "-Infinity")) {
            buf_adds(out, "null");
            i += 9;
        } else if (lenient && (c == '-' || (c >= '0' && c <= '9'))) {
            i = copy_number(out, in, i);
        } else {
            if (lenient)
                buf_addc(out, c);
            i++;
        }
    }
    return 0;
}

static struct val *convert(struct arena *a, json_t *j)
{
    struct val *v;
    const char *key;
    size_t i;
    json_t *item;

    switch (json_typeof(j)) {
    case JSON_TRUE:
    case JSON_FALSE:
        return val_bool(a, json_is_true(j));
    case JSON_INTEGER:
        return val_int(a, json_integer_value(j));
    case JSON_REAL:
        return val_float(a, json_real_value(j));
    case JSON_STRING:
        return val_str(
            a, (struct span){json_string_value(j), json_string_length(j)});
    case JSON_ARRAY:
        v = val_list(a);
        json_array_foreach(j, i, item) val_push(a, v, convert(a, item));
        return v;
    case JSON_OBJECT:
        v = val_map(a);
        json_object_foreach(j, key, item)
            val_add(a, v, arena_strdup(a, span_str(key)), convert(a, item));
        return v;
    default:
        return val_nil(a);
    }
}

int val_parse_json(struct arena *a, struct span in, int flags, struct val **out,
                   struct err *e)
{
    struct buf fixed = BUF_INIT(SIZE_MAX / 2);
    bool lenient = flags & VAL_JSON_LENIENT;
    json_error_t je;
    json_t *j;
    int rc = -1;

    *out = NULL;
    if (lenient && span_starts(in, "\xef\xbb\xbf")) {
        in.p += 3;
        in.n -= 3;
    }
    if (prepare(&fixed, in, lenient, e) < 0)
        goto out;
    if (lenient)
        in = buf_span(&fixed);
    j = json_loadb(in.p, in.n,
                   JSON_DECODE_ANY | JSON_ALLOW_NUL |
                       (lenient ? 0 : JSON_REJECT_DUPLICATES),
                   &je);
    if (!j) {
        err_set(e,
                json_error_code(&je) == json_error_premature_end_of_input
                    ? ERR_TRUNCATED
                    : ERR_CORRUPT,
                "json: %s at byte %d", je.text, je.position);
        goto out;
    }
    *out = convert(a, j);
    json_decref(j);
    rc = 0;
out:
    buf_release(&fixed);
    return rc;
}
