/*
 * The case tests of bn_stats: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/memory.h"
#include "core/rng.h"
#include "race/tolerance.h"
#include "tests/support/bn_chain.h"
#include "tests/support/cases.h"
#include "tests/support/rig.h"
#include "tests/support/stream_properties.h"

#define OUTLIER 1000 /* times the others */

/* Multiplies one pixel of every stream, wherever it lies, in all its channels. */
static void enlarge_a_pixel(rig *r, uint64_t seed) {
    rng numbers = {.seed = seed};
    for (int i = 0; i < r->problem.streams; i++) {
        const int64_t channels = r->problem.in_channels[i], pixels = rig_elements(r, BN_STATS_X, i) / channels;
        const int64_t first = rng_between(&numbers, 0, pixels - 1) * channels;
        for (int64_t j = first; j < first + channels; j++)
            rig_set(r, BN_STATS_X, i, j, OUTLIER * rig_get(r, BN_STATS_X, i, j));
    }
}

static outcome compare_with_truth(trial *t, const rig *r, const buffers *truth) {
    for (int slot = BN_STATS_MEAN; slot <= BN_STATS_VAR; slot++) {
        for (int i = 0; i < t->problem->streams; i++) {
            for (int64_t j = 0; j < rig_elements(r, slot, i); j++) {
                const ref_value expected = ref_at_f64(BRAID_OP_BN_STATS, BRAID_PASS_FWD)(t->problem, truth, slot, i, j);
                const double got = rig_get(r, slot, i, j),
                             bound = tolerance_bound(t->problem, t->kernel, slot, expected, expected.magnitude);
                if (fabs(got - expected.value) <= bound) continue;
                return broken(t, "%s of stream %d at %lld: expected %.9g, got %.9g, bound %.3g",
                              op_operand_name(t->problem, slot), i, (long long)j, expected.value, got, bound);
            }
        }
    }
    return HELD;
}

/* Of kernels of the CPU; those for CUDA take the mean of the first pixels, which one pixel does move. */
static outcome outlier_costs_no_digits(trial *t) {
    rig r;
    buffers truth;
    void *memory = NULL;
    if (t->problem->batch == 0 || t->kernel->backend == KERNEL_CUDA) return NOT_HERE;
    if (rig_create(&r, t->problem, t->device, t->kernel, IMAGE_REAL, t->seed)) return could_not_run(t);
    enlarge_a_pixel(&r, t->seed);
    int status = image_truth(t->problem, &r.layout, r.block, &truth, &memory) || rig_run(&r);
    outcome found = status ? could_not_run(t) : compare_with_truth(t, &r, &truth);
    memory_free(memory);
    rig_destroy(&r);
    return found;
}

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_samples_do_not_leak},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {"a pixel far from the others costs no digits", outlier_costs_no_digits},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){
            .op = BRAID_OP_BN_STATS, .properties = properties, .scenarios = bn_scenarios, .gradients = bn_gradients});
}
