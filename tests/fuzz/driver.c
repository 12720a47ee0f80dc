/* SPDX-License-Identifier: MIT */
/*
 * main() for a fuzz target without a fuzzing engine: runs every file of the
 * given folders through it, once. A crash names the file it came from.
 */
#include "base.h"

#include <dirent.h>
#include <signal.h>

#include "buf.h"
#include "io.h"
#include "mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *current; /* for the signal handler */

static void on_crash(int sig)
{
    const char *parts[] = {"fuzz: crash on '", current ? current : "?", "'\n"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (write(2, parts[i], strlen(parts[i])) < 0)
            break;
    signal(sig, SIG_DFL);
    raise(sig);
}

static int replay(const char *path)
{
    struct buf text;
    struct err e;
    char *copy;

    buf_init(&text, 64 << 20);
    if (io_read_file(&text, path, &e) < 0) {
        fprintf(stderr, "fuzz: %s\n", e.msg);
        buf_release(&text);
        return -1;
    }
    /* An exact copy, so that ASan sees reads beyond the end. */
    copy = xmalloc(text.n ? text.n : 1);
    memcpy(copy, text.p, text.n);
    LLVMFuzzerTestOneInput((const uint8_t *)copy, text.n);
    free(copy);
    buf_release(&text);
    return 0;
}

int main(int argc, char **argv)
{
    const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    int done = 0, failed = 0;

    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        signal(signals[i], on_crash);
    for (int i = 1; i < argc; i++) {
        struct dirent **names;
        int n = scandir(argv[i], &names, NULL, alphasort);

        if (n < 0) {
            fprintf(stderr, "fuzz: cannot open folder '%s': %s\n", argv[i],
                    strerror(errno));
            return 1;
        }
        for (int k = 0; k < n; k++) {
            if (names[k]->d_name[0] != '.') {
                current = xasprintf("%s/%s", argv[i], names[k]->d_name);
                if (replay(current) < 0)
                    failed++;
                else
                    done++;
                free(current);
                current = NULL;
            }
            free(names[k]);
        }
        free(names);
    }
    printf("fuzz: %d passed, %d failed\n", done, failed);
    return failed > 0 || done == 0;
}
