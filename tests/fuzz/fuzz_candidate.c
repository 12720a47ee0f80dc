/* SPDX-License-Identifier: MIT */
/* What km-evaluate reads of a candidate: 'c', 'g' (cuda) or 'p' (Python), then
 * the source; 'l' is a launch plan alone. The
 * normal form must not depend on being made twice, and a task must be read
 * safely. */
#include "base.h"

#include "evaluate/cuda/plan.h"
#include "evaluate/static.h"
#include "evaluate/task.h"
#include "mem.h"

static bool find(void *payload UNUSED, struct span name, struct plan_named *out)
{
    static const int64_t shape[] = {4, 1 << 20};
    if (span_is(name, "in1")) {
        *out = (struct plan_named){.number = true, .i = INT64_MAX};
        return true;
    }
    *out = (struct plan_named){
        .place = PLAN_OUT, .ndim = 2, .shape = shape, .numel = 4 << 20};
    return span_is(name, "in0") || span_is(name, "out0");
}

static void one_plan(struct span text)
{
    static struct plan p;
    static struct plan_bound b;
    struct plan_names names = {find, NULL, 132};
    struct arena a = ARENA_INIT;
    struct err e = {0};

    if (plan_read(&p, &a, text, &e) == 0 && plan_bind(&p, &names, &b, &e) == 0)
        for (size_t i = 0; i < b.n_steps; i++)
            if (b.steps[i].n_args > PLAN_ARGS || b.steps[i].grid[0] > INT32_MAX)
                abort();
    arena_release(&a);
}

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
    struct span language;

    if (size < 1 || size > 100000)
        return 0;
    if (!s && !(s = statics_new(NULL)))
        abort();
    text = (struct span){(const char *)data + 1, size - 1};
    if (data[0] == 't') {
        one_task(text);
        return 0;
    }
    if (data[0] == 'l') {
        one_plan(text);
        return 0;
    }
    language = data[0] == 'c'   ? SPAN_LIT("c")
               : data[0] == 'g' ? SPAN_LIT("cuda")
                                : SPAN_LIT("torch");
    if (statics_look(s, &a, text, language, (struct span){"", 0}, &one, &r,
                     NULL) == 0 &&
        (statics_look(s, &a, text, language, (struct span){"", 0}, &two, &r,
                      NULL) ||
         !span_eq(buf_span(&one), buf_span(&two))))
        abort();
    buf_release(&one);
    buf_release(&two);
    arena_release(&a);
    return 0;
}
