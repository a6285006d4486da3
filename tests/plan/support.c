/*
 * The support matrix of the CPU: every op, pass and dtype of the list has a fast path (f64: the reference), and whoever
 * says no says why. A fast path is a kernel of ours, or a chain whose steps each have one; vendor libraries may be
 * missing and do not count. The same holds under every mask of BRAID_ISA, where no kernel above the mask may be able.
 *
 *     support          the tests
 *     support print    the matrix: candidates that can do some problem, as own+vendor+chain+reference
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/memory.h"
#include "kernels/kernel.h"
#include "tests/support/given.h"
#include "tests/support/matrix.h"

#define CHECKED 2 /* random problems of an op and pass that run against the reference under each mask */

static const struct {
    const char *word;
    unsigned features;
} masks[] = {
    {"none", 0},
    {"avx2", FEATURE_AVX2},
    {"avx512", FEATURE_AVX2 | FEATURE_AVX512},
    {"avx512_bf16", FEATURE_AVX2 | FEATURE_AVX512 | FEATURE_AVX512_BF16},
    {"", ~0u}, /* none of them */
};
enum { MASKS = sizeof masks / sizeof masks[0] };

static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F64};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

/* Of one op, pass and dtype. */
typedef struct cell {
    int asked, fast;                /* problems, and those with a fast path */
    int able[BRAID_KIND_CHAIN + 1]; /* candidates that can do some problem, by braid_kind */
    int by_reference;               /* problems that the reference does */
    int wordless, unmasked;         /* refusals without words; able candidates above the mask */
    char slow[BRAID_PROBLEM_TEXT];  /* a problem without a fast path */
} cell;

/* What the reference alone may do on the CPU: numbers that become doubles, and sums that plans ask of a GPU alone. */
static int reference_will_do(const braid_problem *p) {
    return (p->op == BRAID_OP_CAST && p->to == BRAID_DTYPE_F64) || (p->op == BRAID_OP_INTEGRATE && p->add) ||
           p->op == BRAID_OP_INTEGRATE_BN_BWD_APPLY;
}

/* A reason is in words: more than one, and none of them cut short by a line's end. */
static int is_in_words(const char *reason) {
    return strchr(reason, ' ') && strlen(reason) >= 8 && !strchr(reason, '\n');
}

static void ask_kernel(const kernel *k, const braid_problem *problems, int count, const device *d, unsigned mask,
                       cell *out) {
    int able = 0;
    for (int j = 0; j < count; j++) {
        const char *reason = kernel_refuses(k, &problems[j], d);
        if (reason) {
            out->wordless += !is_in_words(reason);
        } else {
            able = 1;
            out->by_reference += k->backend == KERNEL_REF;
            out->unmasked += (k->features & ~mask) != 0;
        }
    }
    out->able[kernel_kind(k)] += able;
}

static cell ask(const braid_problem *problems, int count, const device *d, unsigned mask) {
    cell out = {.asked = count};
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (count > 0 && k->op == problems[0].op && k->pass == problems[0].pass && kernel_runs_on(k, d))
            ask_kernel(k, problems, count, d, mask, &out);
    }
    for (int j = 0; j < count; j++) {
        int fast = matrix_has_fast_path(&problems[j], d) || reference_will_do(&problems[j]);
        out.fast += fast;
        if (!fast && !out.slow[0])
            assert_int_equal(braid_problem_print(&problems[j], out.slow, sizeof out.slow), BRAID_OK);
    }
    return out;
}

typedef void (*cell_function)(braid_op_id op, braid_pass pass, braid_dtype dtype, const cell *c);

static void for_each_cell(const char *isa, unsigned mask, cell_function use) {
    device *d = NULL;
    assert_int_equal(setenv("BRAID_ISA", isa, 1), 0);
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (int op = 0; op < BRAID_OP_COUNT; op++) {
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            if (!braid_pass_name((braid_op_id)op, (braid_pass)pass)) continue;
            for (int t = 0; t < DTYPES; t++) {
                int count = 0;
                braid_problem *problems = matrix_problems((braid_op_id)op, (braid_pass)pass, dtypes[t], &count);
                cell c = ask(problems, count, d, mask);
                use((braid_op_id)op, (braid_pass)pass, dtypes[t], &c);
                memory_free(problems);
            }
        }
    }
    d->backend->close(d);
    unsetenv("BRAID_ISA");
}

/* ---- The tests ----------------------------------------------------------------------------- */

static int broken;

static void judge(braid_op_id op, braid_pass pass, braid_dtype dtype, const cell *c) {
    int fast = dtype == BRAID_DTYPE_F64 || c->fast == c->asked;
    int held = c->asked >= MATRIX_DRAWN && fast && c->by_reference == c->asked && !c->wordless && !c->unmasked;
    if (held) return;
    broken++;
    print_error("%s%s%s %s under BRAID_ISA=%s: of %d problems %d have a fast path and the reference does %d; "
                "%d refusals without words, %d able candidates above the mask%s%s\n",
                braid_op_id_name(op), *braid_pass_name(op, pass) ? "_" : "", braid_pass_name(op, pass),
                braid_dtype_name(dtype), getenv("BRAID_ISA"), c->asked, c->fast, c->by_reference, c->wordless,
                c->unmasked, fast ? "" : "; slow: ", fast ? "" : c->slow);
}

static void every_cell_has_a_fast_path(void **state) {
    (void)state;
    broken = 0;
    for (int m = 0; m < MASKS; m++) for_each_cell(masks[m].word, masks[m].features, judge);
    assert_int_equal(broken, 0);
}

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* What a kernel's name says of its instruction set is what it asks of the device. */
static void names_tell_the_instruction_set(void **state) {
    static const struct {
        const char *end;
        unsigned features;
    } sets[] = {{"_amx_bf16", FEATURE_AMX_BF16},
                {"_avx512_bf16", FEATURE_AVX512_BF16},
                {"_avx512", FEATURE_AVX512},
                {"_avx2", FEATURE_AVX2}};
    (void)state;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        unsigned told = 0;
        if (k->backend == KERNEL_CUDA) continue;
        for (size_t i = 0; i < sizeof sets / sizeof sets[0] && !told; i++) {
            if (ends_with(k->name, sets[i].end)) told = sets[i].features;
        }
        if (k->features != told) fail_msg("%s: its name tells features %#x, its line %#x", k->name, told, k->features);
    }
}

/* Runs some problems of every op and pass on each candidate that the mask leaves. */
static int check_some(braid_context *context, unsigned mask) {
    int checked = 0;
    for (int op = 0; op < BRAID_OP_COUNT; op++) {
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            for (int j = 0; j < CHECKED && braid_pass_name((braid_op_id)op, (braid_pass)pass); j++) {
                braid_problem p;
                braid_op *one = NULL;
                assert_int_equal(braid_problem_draw((braid_op_id)op, (braid_pass)pass, (uint64_t)(900 + j), &p),
                                 BRAID_OK);
                p.dtype = dtypes[j % 2];
                assert_int_equal(braid_op_create(context, &p, &one), BRAID_OK);
                if (braid_op_check(one, 1) != BRAID_OK) fail_msg("%s", braid_message());
                const braid_race *r = braid_op_explain(one);
                for (int c = 0; c < r->count; c++) {
                    if (r->candidates[c].compared == 0) continue;
                    assert_int_equal(kernel_find(r->candidates[c].kernel)->features & ~mask, 0);
                    checked += r->candidates[c].kind == BRAID_KIND_OWN || r->candidates[c].kind == BRAID_KIND_CHAIN;
                }
                braid_op_destroy(one);
            }
        }
    }
    return checked;
}

/* Under each mask the candidates give right results, and each mask that the CPU has brings further ones. */
static void masked_kernels_are_right(void **state) {
    int before = 0;
    unsigned had = ~0u;
    (void)state;
    for (int m = 0; m < MASKS; m++) {
        assert_int_equal(setenv("BRAID_ISA", masks[m].word, 1), 0);
        braid_context *context = given_context("", "onednn,openblas");
        int checked = check_some(context, masks[m].features);
        unsigned has = cpu_features();
        assert_true(has == had ? checked == before : checked > before);
        before = checked;
        had = has;
        braid_context_destroy(context);
    }
    unsetenv("BRAID_ISA");
}

/* ---- The table ----------------------------------------------------------------------------- */

static void print_cell(braid_op_id op, braid_pass pass, braid_dtype dtype, const cell *c) {
    if (dtype == dtypes[0]) printf("| `%s` | %s |", braid_op_id_name(op), braid_pass_name(op, pass));
    printf(" %d+%d+%d+%d |", c->able[BRAID_KIND_OWN], c->able[BRAID_KIND_VENDOR], c->able[BRAID_KIND_CHAIN],
           c->able[BRAID_KIND_REF]);
    if (dtype == dtypes[DTYPES - 1]) printf("\n");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_has_a_fast_path),
        cmocka_unit_test(names_tell_the_instruction_set),
        cmocka_unit_test(masked_kernels_are_right),
    };
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        printf("| op | pass | f32 | bf16 | f64 |\n|---|---|---|---|---|\n");
        for_each_cell("", ~0u, print_cell);
        return 0;
    }
    return cmocka_run_group_tests_name("plan/support", tests, NULL, NULL);
}
