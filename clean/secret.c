/* SPDX-License-Identifier: MIT */
/*
 * Hand-written matchers, not regular expressions: the text is untrusted and
 * large, and each matcher is one pass. The token forms are those that the
 * issuers publish; generic "high entropy" guesses are left out because state
 * tensors and hashes in test data look the same.
 */
#include "base.h"

#include "clean/secret.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alnum(char c)
{
    return is_digit(c) || is_upper(c) || is_lower(c);
}

static bool is_word(char c)
{
    return is_alnum(c) || c == '_' || c == '-';
}

static bool is_upper_digit(char c)
{
    return is_upper(c) || is_digit(c);
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Tokens that begin with a fixed prefix and go on for at least MIN characters
 * of a class. BOUND: the character before must not belong to a word. */
static const struct {
    const char *prefix;
    bool (*cls)(char c);
    size_t min;
    const char *what;
} tokens[] = {
    {"AKIA", is_upper_digit, 16, "AWS access key"},
    {"ASIA", is_upper_digit, 16, "AWS access key"},
    {"ghp_", is_alnum, 36, "GitHub token"},
    {"gho_", is_alnum, 36, "GitHub token"},
    {"ghu_", is_alnum, 36, "GitHub token"},
    {"ghs_", is_alnum, 36, "GitHub token"},
    {"ghr_", is_alnum, 36, "GitHub token"},
    {"github_pat_", is_word, 40, "GitHub token"},
    {"glpat-", is_word, 20, "GitLab token"},
    {"hf_", is_alnum, 30, "Hugging Face token"},
    {"sk-ant-", is_word, 30, "Anthropic key"},
    {"sk-proj-", is_word, 30, "OpenAI key"},
    {"sk-", is_alnum, 40, "OpenAI key"},
    {"xoxb-", is_word, 20, "Slack token"},
    {"xoxp-", is_word, 20, "Slack token"},
    {"AIza", is_word, 35, "Google key"},
    {"ya29.", is_word, 30, "Google token"},
    {"npm_", is_alnum, 36, "npm token"},
    {"pypi-AgEIcHlwaS5vcmc", is_word, 20, "PyPI token"},
    {"eyJhbGciOi", is_word, 10, "JSON web token"},
    {"wandb_v1_", is_word, 30, "W&B key"},
};

static const char *match_token(struct span s, size_t i)
{
    if (i > 0 && is_word(s.p[i - 1]))
        return NULL;
    for (size_t t = 0; t < ARRAY_LEN(tokens); t++) {
        size_t n = strlen(tokens[t].prefix), k;

        if (s.n - i < n + tokens[t].min ||
            memcmp(s.p + i, tokens[t].prefix, n) != 0)
            continue;
        for (k = 0; i + n + k < s.n && tokens[t].cls(s.p[i + n + k]); k++)
            if (k == tokens[t].min)
                break;
        if (k >= tokens[t].min)
            return tokens[t].what;
    }
    return NULL;
}

/* -----BEGIN RSA PRIVATE KEY----- and its kin. */
static const char *match_key_block(struct span s, size_t i)
{
    static const char begin[] = "-----BEGIN ";
    struct span rest = {s.p + i, MIN(s.n - i, (size_t)64)};

    if (!span_starts(rest, begin))
        return NULL;
    if (memmem(rest.p, rest.n, "PRIVATE KEY", 11))
        return "private key";
    return NULL;
}

static bool is_mail_char(char c)
{
    return is_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-' ||
           c == '%';
}

/* At an '@': name before it, host with a dot and a top domain after it. */
static const char *match_mail(struct span s, size_t at)
{
    size_t i = at, dot = 0, end;

    while (i > 0 && is_mail_char(s.p[i - 1]))
        i--;
    if (i == at || s.p[at - 1] == '.')
        return NULL;
    for (end = at + 1; end < s.n; end++) {
        char c = s.p[end];

        if (c == '.' && end > at + 1 && s.p[end - 1] != '.')
            dot = end;
        else if (!is_alnum(c) && c != '-')
            break;
    }
    if (dot == end - 1 && dot > 0) { /* full stop after the address */
        end = dot;
        for (dot = end - 1; dot > at && s.p[dot] != '.'; dot--)
            ;
        if (dot == at)
            return NULL;
    }
    if (dot == 0 || end - dot < 3)
        return NULL;
    for (size_t k = dot + 1; k < end; k++)
        if (!is_lower(s.p[k]) && !is_upper(s.p[k]))
            return NULL;
    return "e-mail address";
}

static bool private_ip(struct span host)
{
    unsigned part[4] = {0};
    size_t n = 0;
    bool digit = false;

    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];

        if (is_digit(c)) {
            part[n] = part[n] * 10 + (unsigned)(c - '0');
            if (part[n] > 255)
                return false;
            digit = true;
        } else if (c == '.' && digit && n < 3) {
            n++;
            digit = false;
        } else {
            return false;
        }
    }
    if (n != 3 || !digit)
        return false;
    return part[0] == 10 || (part[0] == 192 && part[1] == 168) ||
           (part[0] == 172 && part[1] >= 16 && part[1] <= 31) ||
           (part[0] == 169 && part[1] == 254);
}

/* Host of scheme://[user:password@]host: only for others inside. */
static const char *match_url(struct span s, size_t at)
{
    static const char *const inner[] = {".internal", ".corp",  ".lan",
                                        ".intranet", ".local", ".intra"};
    struct span host;
    size_t i = at + 3, colon = 0;

    if (at == 0 || !is_lower(s.p[at - 1]))
        return NULL;
    host.p = s.p + i;
    for (; i < s.n; i++) {
        char c = s.p[i];

        if (c == '@') {
            if (colon)
                return "password in a URL";
            host.p = s.p + i + 1;
        } else if (c == ':') {
            colon = i;
        } else if (!is_word(c) && c != '.') {
            break;
        }
    }
    host.n = (size_t)(s.p + i - host.p);
    if (colon && s.p + colon >= host.p)
        host.n = (size_t)(s.p + colon - host.p);
    for (size_t k = 0; k < ARRAY_LEN(inner); k++)
        if (host.n > strlen(inner[k]) && span_ends(host, inner[k]))
            return "internal URL";
    return private_ip(host) ? "internal URL" : NULL;
}

/* 10.0.0.12, at its first digit. */
static const char *match_ip(struct span s, size_t i)
{
    struct span host = {s.p + i, 0};

    if (i > 0 && (is_word(s.p[i - 1]) || s.p[i - 1] == '.'))
        return NULL;
    while (i + host.n < s.n && host.n < 16 &&
           (is_digit(host.p[host.n]) || host.p[host.n] == '.'))
        host.n++;
    if (host.n > 0 && host.p[host.n - 1] == '.') /* full stop */
        host.n--;
    if (i + host.n < s.n && is_word(s.p[i + host.n]))
        return NULL;
    return private_ip(host) ? "private address" : NULL;
}

/* Is NAME that of a person's folder, and not one that stands for any or is of a
 * machine? */
static bool is_person(struct span name)
{
    static const char *const others[] = {
        "user",    "username", "users",  "name",   "you",  "yourname",
        "your",    "me",       "myname", "myuser", "xxx",  "ubuntu",
        "runner",  "docker",   "root",   "work",   "data", "workspace",
        "default", "public",   "shared", "all",    "app",  "anonymous",
    };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (name.n == strlen(others[i]) &&
            strncasecmp(name.p, others[i], name.n) == 0)
            return false;
    return name.n > 0;
}

static struct span path_part(struct span s, size_t i)
{
    struct span name = {s.p + i, 0};

    while (i + name.n < s.n &&
           (is_word(name.p[name.n]) || name.p[name.n] == '.'))
        name.n++;
    return name;
}

/* /home/NAME/, /Users/NAME/, at the first stroke; not in a URL. */
static const char *match_home(struct span s, size_t i)
{
    static const char *const roots[] = {"/home/", "/Users/"};

    if (i > 0 && (is_word(s.p[i - 1]) || s.p[i - 1] == '.'))
        return NULL;
    for (size_t k = 0; k < ARRAY_LEN(roots); k++) {
        size_t n = strlen(roots[k]);
        struct span name;

        if (s.n - i <= n || memcmp(s.p + i, roots[k], n) != 0)
            continue;
        name = path_part(s, i + n);
        if (i + n + name.n < s.n && s.p[i + n + name.n] == '/' &&
            is_person(name))
            return "home folder";
    }
    return NULL;
}

/* C:\\Users\\NAME, at the colon; as it stands in a string or plain. */
static const char *match_windows_home(struct span s, size_t at)
{
    static const char users[] = "Users";
    size_t i = at + 1, k;

    if (at == 0 || !(is_lower(s.p[at - 1]) || is_upper(s.p[at - 1])))
        return NULL;
    for (k = i; k < s.n && (s.p[k] == '\\' || s.p[k] == '/'); k++)
        ;
    if (k == i || s.n - k <= sizeof(users) ||
        strncasecmp(s.p + k, users, sizeof(users) - 1) != 0)
        return NULL;
    i = k + sizeof(users) - 1;
    for (k = i; k < s.n && (s.p[k] == '\\' || s.p[k] == '/'); k++)
        ;
    return k > i && is_person(path_part(s, k)) ? "home folder" : NULL;
}

/* 40 characters of base64 next to a name that says what they are. */
static const char *match_named_key(struct span s, size_t i)
{
    static const char name[] = "aws_secret_access_key";
    size_t k = i + sizeof(name) - 1, n = 0;

    if (s.n - i < sizeof(name) + 40 ||
        strncasecmp(s.p + i, name, sizeof(name) - 1) != 0)
        return NULL;
    while (k < s.n && strchr(" \t=:\"'", s.p[k]) && s.p[k])
        k++;
    while (k + n < s.n &&
           (is_alnum(s.p[k + n]) || s.p[k + n] == '/' || s.p[k + n] == '+'))
        n++;
    return n >= 40 ? "AWS secret key" : NULL;
}

/* W&B's and other older keys: a bare 40-digit hex string is a git id far more
 * often, so only "api_key = hex" counts. */
static const char *match_api_key(struct span s, size_t i)
{
    static const char name[] = "api_key";
    size_t k = i + sizeof(name) - 1, n = 0;

    if (s.n - i < sizeof(name) + 32 ||
        strncasecmp(s.p + i, name, sizeof(name) - 1) != 0)
        return NULL;
    while (k < s.n && strchr(" \t=:\"'", s.p[k]) && s.p[k])
        k++;
    while (k + n < s.n && is_hex(s.p[k + n]))
        n++;
    return n >= 32 ? "API key" : NULL;
}

const char *secret_find(struct span s, bool code)
{
    for (size_t i = 0; i < s.n; i++) {
        const char *what = NULL;

        switch (s.p[i]) {
        case '@':
            what = code ? NULL : match_mail(s, i);
            break;
        case ':':
            if (s.n - i > 3 && s.p[i + 1] == '/' && s.p[i + 2] == '/')
                what = match_url(s, i);
            if (!what)
                what = match_windows_home(s, i);
            break;
        case '/':
            what = match_home(s, i);
            break;
        case '1':
            what = match_ip(s, i);
            break;
        case '-':
            what = match_key_block(s, i);
            break;
        case 'a':
        case 'A':
            what = match_named_key(s, i);
            if (!what)
                what = match_api_key(s, i);
            if (!what)
                what = match_token(s, i);
            break;
        case 'e':
        case 'g':
        case 'h':
        case 'n':
        case 'p':
        case 's':
        case 'w':
        case 'x':
        case 'y':
            what = match_token(s, i);
            break;
        default:
            break;
        }
        if (what)
            return what;
    }
    return NULL;
}
