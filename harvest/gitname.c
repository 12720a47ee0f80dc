/* SPDX-License-Identifier: MIT */
/* Names of repositories from URLs and folders. */
#include "base.h"

#include "harvest/gitrepo.h"

static struct span cut_end(struct span s, const char *end)
{
    if (span_ends(s, end) && s.n > strlen(end))
        s.n -= strlen(end);
    return s;
}

static struct span cut_slashes(struct span s)
{
    while (s.n > 0 && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

/* What a query and a fragment say, often a token, names no repository. */
static struct span cut_query(struct span url)
{
    for (size_t i = 0; i < url.n; i++)
        if (url.p[i] == '?' || url.p[i] == '#')
            url.n = i;
    return url;
}

void git_public_source(const char *source, char *out, size_t cap)
{
    const char *scheme = strstr(source, "://");
    struct span head = {source, 0}, rest = span_str(source);
    if (scheme && !span_starts(rest, "file://")) {
        head.n = (size_t)(scheme + 3 - source);
        size_t n = strcspn(scheme + 3, "/");
        const char *at = memrchr(scheme + 3, '@', n);
        rest = cut_query(span_str(at ? at + 1 : scheme + 3));
    }
    snprintf(out, cap, "%.*s%.*s", (int)head.n, head.p, (int)rest.n, rest.p);
}

void git_url_name(struct span url, char *out, size_t cap)
{
    struct span host, path;
    const char *colon, *slash, *at;
    out[0] = '\0';
    const char *scheme = url.n ? memmem(url.p, url.n, "://", 3) : NULL;
    if (scheme) {
        struct span name = {url.p, (size_t)(scheme - url.p)};
        if (span_is(name, "file"))
            return;
        host = (struct span){scheme + 3, (size_t)(url.p + url.n - scheme - 3)};
        slash = memchr(host.p, '/', host.n);
        if (!slash)
            return;
        path = (struct span){slash + 1, (size_t)(host.p + host.n - slash - 1)};
        host.n = (size_t)(slash - host.p);
    } else { /* user@host:owner/name; a '/' before the ':' is a local path */
        colon = url.n ? memchr(url.p, ':', url.n) : NULL;
        slash = url.n ? memchr(url.p, '/', url.n) : NULL;
        if (!colon || (slash && slash < colon))
            return;
        host = (struct span){url.p, (size_t)(colon - url.p)};
        path = (struct span){colon + 1, url.n - host.n - 1};
    }
    at = memrchr(host.p, '@', host.n);
    if (at)
        host = (struct span){at + 1, (size_t)(host.p + host.n - at - 1)};
    if (cut_query(host).n < host.n)
        return;
    path = cut_query(path);
    colon = memchr(host.p, ':', host.n);
    if (scheme && colon)
        host.n = (size_t)(colon - host.p);
    while (path.n > 0 && path.p[0] == '/')
        path = (struct span){path.p + 1, path.n - 1};
    path = cut_slashes(cut_end(cut_slashes(path), ".git"));
    if (host.n == 0 || path.n == 0 || host.n + path.n + 2 > cap)
        return;
    char text[512];
    if (host.n + path.n + 2 > sizeof(text))
        return;
    snprintf(text, sizeof(text), "%.*s/%.*s", (int)host.n, host.p, (int)path.n,
             path.p);
    mask_text(out, cap, span_str(text));
}

void git_folder_name(const char *path, char *out, size_t cap)
{
    char *real = realpath(path, NULL);
    struct span s = cut_slashes(span_str(real ? real : path));
    if (span_ends(s, "/.git"))
        s.n -= 5;
    const char *slash = s.n ? memrchr(s.p, '/', s.n) : NULL;
    if (slash)
        s = (struct span){slash + 1, (size_t)(s.p + s.n - slash - 1)};
    s = cut_end(cut_end(s, ".git"), ".bundle");
    mask_text(out, cap, s.n ? s : SPAN_LIT("repository"));
    free(real);
}

int git_odd_path(struct buf *path, struct span name)
{
    int rc = buf_addc(path, '/');
    for (size_t i = 0; i < name.n && rc == 0; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c <= ' ' || c >= 0x7f || c == '/' || c == '%')
            rc = buf_printf(path, "%%%02X", c);
        else
            rc = buf_addc(path, (char)c);
    }
    return rc;
}
