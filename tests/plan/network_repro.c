/*
 * The same bits again: three training steps of whole networks, twice (R1), and at 1, 2 and 7 threads with the kernels
 * of level R2. Compared are all parameters, running statistics, counters and the output.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "core/memory.h"
#include "tests/support/trial.h"

#define STEPS 3

static const trial_setup networks[] = {
    {.kind = "linet18",
     .net = {.streams = 3, .width = 1.0 / 16, .dropout = 0.3},
     .request = {.batch = 3, .size = {37, 45}, .mask = 1, .optimiser = BRAID_OPTIMISER_ADAMW, .clip_norm = 1}},
    {.kind = "mcresnet18",
     .net = {.width = 1.0 / 16, .fusion = BRAID_FUSION_GATED},
     .request = {.batch = 3, .size = {37, 45}, .optimiser = BRAID_OPTIMISER_SGD, .momentum = 0.9, .nesterov = 1}},
    {.kind = "ssae", .request = {.batch = 37, .optimiser = BRAID_OPTIMISER_ADAM}},
    {.kind = "mlp",
     .net = {.layers = {67, 130, 45, 11}},
     .request = {.batch = 65, .optimiser = BRAID_OPTIMISER_RMSPROP}},
};
#define NETWORKS ((int)(sizeof networks / sizeof networks[0]))

static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16};

/* What a training leaves behind. */
typedef struct outcome {
    uint64_t begin, end, loss;
} outcome;

static outcome train(const trial_setup *setup, uint64_t seed) {
    static const unsigned char blanked[3][3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 0}};
    trial t = trial_open(setup);
    outcome o = {.begin = trial_hash(&t)};
    trial_set_rates(t.plan, 1e-3, 1e-2);
    for (int i = 0; i < 3 && setup->request.mask; i++) OK(braid_plan_set_mask(t.plan, i, blanked[i]));
    for (uint64_t turn = 0; turn < STEPS; turn++) {
        double loss;
        uint64_t bits;
        trial_feed(&t, t.plan, seed + turn, 0);
        trial_run(t.plan, FORWARD | BACKWARD | UPDATE);
        loss = trial_loss(t.plan);
        memcpy(&bits, &loss, sizeof bits);
        o.loss = o.loss * 31 + bits;
    }
    o.end = trial_hash(&t);
    trial_close(&t);
    assert_true(o.end != o.begin); /* or nothing was trained */
    return o;
}

static void assert_same(const outcome *a, const outcome *b, const char *what, braid_dtype dtype, int threads) {
    if (a->begin != b->begin || a->end != b->end || a->loss != b->loss)
        fail_msg("%s %s at %d threads: expected the same %s, got others", what, braid_dtype_name(dtype), threads,
                 a->begin != b->begin ? "initial bits" : "bits after three steps");
}

/* Runs the whole of `networks` in f32 and bf16; other inputs give other bits, or the comparison would prove nothing. */
static void two_runs(void **state) {
    (void)state;
    for (int j = 0; j < NETWORKS; j++) {
        for (int d = 0; d < 2; d++) {
            trial_setup s = networks[j];
            s.dtype = dtypes[d];
            s.threads = 2;
            outcome first = train(&s, 1), second = train(&s, 1), other = train(&s, 2);
            assert_same(&first, &second, s.kind, s.dtype, s.threads);
            assert_true(first.begin == other.begin && first.end != other.end);
        }
    }
}

/* The CPU has no product that rounds to TF32. */
static void tf32_is_f32_here(void **state) {
    (void)state;
    for (int j = 0; j < NETWORKS; j++) {
        trial_setup s = networks[j];
        outcome exact = train(&s, 1);
        s.tf32 = 1;
        outcome rounded = train(&s, 1);
        assert_same(&exact, &rounded, s.kind, s.dtype, 1);
    }
}

static void any_number_of_threads(void **state) {
    (void)state;
    for (int j = 0; j < NETWORKS; j++) {
        for (int d = 0; d < 2; d++) {
            trial_setup s = networks[j];
            s.dtype = dtypes[d];
            s.repro = BRAID_REPRO_THREADS;
            s.threads = 1;
            outcome alone = train(&s, 1);
            for (s.threads = 2; s.threads <= 7; s.threads += 5) {
                outcome many = train(&s, 1);
                assert_same(&alone, &many, s.kind, s.dtype, s.threads);
            }
        }
    }
}

/* A seed is all that the initial numbers depend on. */
static void same_seed_same_network(void **state) {
    (void)state;
    for (int j = 0; j < NETWORKS; j++) {
        uint64_t hash[3];
        for (int k = 0; k < 3; k++) {
            trial_setup s = networks[j];
            s.seed = k == 2 ? 8 : 7;
            trial t = trial_open(&s);
            hash[k] = trial_hash(&t);
            trial_close(&t);
        }
        assert_true(hash[0] == hash[1] && hash[0] != hash[2]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_runs),
        cmocka_unit_test(tf32_is_f32_here),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(same_seed_same_network),
    };
    return cmocka_run_group_tests_name("plan/network_repro", tests, NULL, NULL);
}
