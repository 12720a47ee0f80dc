/* SPDX-License-Identifier: MIT */
/* What km-evaluate reads of a candidate: 'c' or 'p', then the source. The
 * normal form must not depend on being made twice, and a task must be read
 * safely. */
#include "base.h"

#include "evaluate/static.h"
#include "evaluate/task.h"
#include "mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_task(struct span s)
{
    struct arena a = ARENA_INIT;
    struct val *v;
    struct task t;
    if (val_parse_json(&a, s, VAL_JSON_LENIENT, &v, NULL) == 0 &&
        task_parse(&t, &a, v, NULL) == 0 &&
        t.in_bytes + t.out_bytes > TASK_SLOT_MAX)
        abort();
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct statics *s;
    struct span text;
    struct arena a = ARENA_INIT;
    struct buf one = BUF_INIT(1u << 20), two = BUF_INIT(1u << 20);
    struct static_result r;

    if (size < 1 || size > 100000)
        return 0;
    if (!s && !(s = statics_new(NULL)))
        abort();
    text = (struct span){(const char *)data + 1, size - 1};
    if (data[0] == 't') {
        one_task(text);
        return 0;
    }
    if (statics_look(s, &a, text, data[0] == 'c', (struct span){"", 0}, &one,
                     &r, NULL) == 0 &&
        (statics_look(s, &a, text, data[0] == 'c', (struct span){"", 0}, &two,
                      &r, NULL) ||
         !span_eq(buf_span(&one), buf_span(&two))))
        abort();
    buf_release(&one);
    buf_release(&two);
    arena_release(&a);
    return 0;
}
