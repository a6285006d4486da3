/*
 * Whole networks on the emulator, from the plan down to the CUDA kernels: training steps give what the CPU gives, and
 * a replayed recording gives the bits of the launches one by one, with dropout, blanked samples, updates that an
 * overflow prevents and a learning rate that changes on the way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/trial.h"
#include "tests/emu/tests.h"

#define CASES ((int)(sizeof networks / sizeof networks[0]))

static const trial_setup networks[] = {
    {.kind = "mlp", .net = {.layers = {19, 14, 7}}, .request = {.batch = 5, .optimiser = BRAID_OPTIMISER_RMSPROP}},
    {.kind = "linet18",
     .net = {.streams = 2, .width = 1.0 / 32, .dropout = 0.3, .classes = 5},
     .request = {.batch = 3, .size = {33, 35}, .mask = 1, .optimiser = BRAID_OPTIMISER_ADAMW, .clip_norm = 1}},
    {.kind = "mcresnet18",
     .net = {.width = 1.0 / 32, .fusion = BRAID_FUSION_GATED, .classes = 5},
     .request = {.batch = 2, .size = {33, 35}, .optimiser = BRAID_OPTIMISER_SGD, .momentum = 0.9}},
    {.kind = "ssae", .request = {.batch = 3, .optimiser = BRAID_OPTIMISER_ADAM}},
    {.kind = "lenet86", .request = {.batch = 1, .size = {86, 86}, .optimiser = BRAID_OPTIMISER_ADAM}},
};

/* Steps of training; the loss of each in `losses`. */
static void train(trial *t, const trial_setup *setup, int steps, double *losses) {
    for (int turn = 0; turn < steps; turn++) {
        const unsigned char blanked[2][3] = {{0, turn % 2 == 1, 0}, {turn % 3 == 0, 0, 0}};
        trial_set_rates(t->plan, turn < steps / 2 ? 1e-3 : 3e-4, 1e-2);
        for (int i = 0; i < 2 && setup->request.mask; i++) OK(braid_plan_set_mask(t->plan, i, blanked[i]));
        trial_feed(t, t->plan, (uint64_t)turn, 0);
        trial_run(t->plan, FORWARD | BACKWARD | UPDATE);
        losses[turn] = trial_loss(t->plan);
    }
}

static void the_cpu_agrees(void **state) {
    (void)state;
    for (int j = 0; j < CASES; j++) {
        enum { STEPS = 2 };
        trial_setup s = networks[j];
        double expected[STEPS], got[STEPS];
        s.net.dropout = 0; /* its numbers are drawn alike, but a step later every rounding shows */
        trial cpu = trial_open(&s);
        train(&cpu, &s, STEPS, expected);
        trial_close(&cpu);
        s.device = "cuda:0";
        trial emulated = trial_open(&s);
        train(&emulated, &s, STEPS, got);
        trial_close(&emulated);
        for (int turn = 0; turn < STEPS; turn++) {
            if (!(fabs(got[turn] - expected[turn]) <= 1e-4 * fabs(expected[turn])))
                fail_msg("%s, step %d: expected a loss of %.9g as on the CPU, got %.9g", s.kind, turn, expected[turn],
                         got[turn]);
        }
    }
}

/* How far the direction of a parameter's gradient is from that of another trial: 0 is the same, 2 the opposite. */
static double distance(const trial *t, const trial *from, const char *name) {
    int64_t count, from_count;
    double *a = trial_gradient(t, name, &count), *b = trial_gradient(from, name, &from_count);
    double product = 0, a_square = 0, b_square = 0;
    assert_int_equal(count, from_count);
    for (int64_t j = 0; j < count; j++) {
        product += a[j] * b[j];
        a_square += a[j] * a[j];
        b_square += b[j] * b[j];
    }
    memory_free(a);
    memory_free(b);
    return 1 - product / sqrt(a_square * b_square);
}

/* With channels that the tensor cores take, gradients that meet are added in the passes that make them, some in place,
 * and those of streams through their normalisation are made there too. They are as far from f32 as those of the CPU,
 * which adds them in calls of their own, though not the same: f16 shows in few samples of few pixels. Without
 * integrate_bn_bwd_apply the numbers differ by a rounding. */
static void sums_of_gradients_agree(void **state) {
    static const char *const names[] = {"conv1.stream_weights.0",
                                        "layer1.0.conv1.integration_from_streams.1",
                                        "layer1.1.conv2.stream_weights.1",
                                        "layer2.0.conv1.stream_weights.0",
                                        "layer3.0.downsample.0.stream_weights.1",
                                        "layer3.1.conv1.integrated_weight"};
    trial_setup s = {.kind = "linet18",
                     .net = {.streams = 2, .width = 1.0 / 8, .classes = 5},
                     .request = {.batch = 3, .size = {49, 67}, .mask = 1}};
    trial of[4]; /* the CPU in f32 and f16, and the emulator, with integrate_bn_bwd_apply and without */
    int fused = 0, in_place = 0, made = 0, prepared = 0;
    (void)state;
    for (int j = 0; j < 4; j++) {
        s.dtype = j ? BRAID_DTYPE_F16 : BRAID_DTYPE_F32;
        s.device = j >= 2 ? "cuda:0" : NULL;
        s.disable = j == 3 ? "integrate_bn_bwd_apply__cuda_wgmma" : NULL;
        of[j] = trial_open(&s);
        trial_feed(&of[j], of[j].plan, 3, 0);
        trial_run(of[j].plan, FORWARD | BACKWARD);
    }
    const program *p = &of[2].plan->program;
    for (int j = 0; j < p->call_count; j++) {
        const call *c = &p->calls[j];
        fused += c->segment == BACKWARD && ((c->problem.add && c->problem.op != BRAID_OP_BN_BWD) ||
                                            c->problem.op == BRAID_OP_INTEGRATE_BN_BWD_APPLY);
        made += c->problem.op == BRAID_OP_INTEGRATE_BN_BWD_APPLY;
        in_place += c->problem.op == BRAID_OP_INTEGRATE_BN_BWD_APPLY && c->problem.add &&
                    p->tensors[c->tensor[INTEGRATE_BN_BWD_APPLY_DZ][0]].root == c->tensor[INTEGRATE_BN_BWD_APPLY_AZ][0];
        prepared += c->problem.op == BRAID_OP_INTEGRATE_BN_STATS;
        in_place += c->problem.op == BRAID_OP_INTEGRATE && (c->problem.add & INTEGRATE_ADD_Z) &&
                    p->tensors[c->tensor[INTEGRATE_Z][0]].root == c->tensor[INTEGRATE_AZ][0];
        in_place += c->problem.op == BRAID_OP_CONV2D && c->problem.add &&
                    p->tensors[c->tensor[CONV2D_X][0]].root == c->tensor[CONV2D_A][0];
    }
    assert_int_equal(fused, 7 + 19);
    assert_int_equal(in_place, 3 + 3);
    assert_int_equal(made, 8 + 3);
    assert_int_equal(prepared, 20);
    for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
        double cpu = distance(&of[1], &of[0], names[j]), got = distance(&of[2], &of[0], names[j]);
        if (!(got < 3 * cpu + 0.005))
            fail_msg("%s: the gradient is %g from that of f32, the CPU's %g", names[j], got, cpu);
        double apart = distance(&of[2], &of[3], names[j]);
        if (!(apart < cpu + 0.002)) fail_msg("%s: the gradient is %g from that of calls one by one", names[j], apart);
    }
    for (int j = 0; j < 4; j++) trial_close(&of[j]);
}

/* Every step by one of our own kernels for sm_80. */
static void assert_portable(const braid_plan *plan) {
    for (int j = 0; j < plan->step_count; j++) {
        const kernel *k = plan->steps[j].op->kernel;
        if (k->backend != KERNEL_CUDA || k->vendor || k->features != FEATURE_SM80)
            fail_msg("expected a kernel of ours for sm_80, got %s", k->name);
    }
}

/* All gradients are as far from f32 as those of the CPU in f16, but for those of parameters that none reaches. */
static void assert_gradients(const trial *exact, const trial *cpu, const trial *emulated) {
    const graph *g = exact->model->graph;
    int compared = 0;
    for (int plane = 0; plane < g->plane_count; plane++) {
        const char *name = g->planes[plane].name;
        if (g->planes[plane].kind != PLANE_PARAMETER || !plane_elements(&g->planes[plane])) continue;
        const double usual = distance(cpu, exact, name), got = distance(emulated, exact, name);
        if (isnan(usual) && isnan(got)) continue;
        if (!(got < 3 * usual + 0.005))
            fail_msg("%s: the gradient is %g from that of f32, the CPU's %g", name, got, usual);
        compared++;
    }
    assert_true(compared > 100);
}

/* A step in f16 on a GPU that has sm_80 alone, and the loss behind it. With some seeds a gradient of few pixels is
 * farther from f32 than the CPU's, and as far on cuda:0. */
static void sm_80_trains(void **state) {
    static const char *const kinds[] = {"linet18", "mcresnet18"};
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        trial_setup s = {.kind = kinds[kind],
                         .net = {.streams = kind ? 0 : 2, .width = 1.0 / 8, .classes = 5},
                         .seed = 2,
                         .request = {.batch = 3, .size = {49, 67}, .mask = 1, .optimiser = BRAID_OPTIMISER_ADAMW}};
        trial of[3]; /* the CPU in f32 and f16, and the emulator */
        double losses[2][3];
        for (int j = 0; j < 3; j++) {
            s.dtype = j ? BRAID_DTYPE_F16 : BRAID_DTYPE_F32;
            s.device = j == 2 ? "cuda:1" : NULL;
            of[j] = trial_open(&s);
            train(&of[j], &s, 1, &losses[0][j]);
        }
        assert_portable(of[2].plan);
        assert_gradients(&of[0], &of[1], &of[2]);
        for (int j = 0; j < 3; j++) {
            train(&of[j], &s, 1, &losses[1][j]);
            trial_close(&of[j]);
        }
        for (int turn = 0; turn < 2; turn++) {
            if (!(fabs(losses[turn][2] - losses[turn][0]) <= 5e-3 * losses[turn][0]))
                fail_msg("%s, step %d: expected a loss of %.9g, as in f32, to 0.5 %%, got %.9g", s.kind, turn,
                         losses[turn][0], losses[turn][2]);
        }
    }
}

/* How many steps of an op a run of some segments has. */
static int steps_of(const braid_plan *plan, braid_op_id op, unsigned segments) {
    int count = 0;
    for (int j = 0; j < plan->step_count; j++)
        count += plan->steps[j].op->problem.op == op && step_runs(&plan->steps[j], segments);
    return count;
}

/* In one run the norm casts gradients in half precision on its way; in a run of each segment a cast does. Parameters
 * get the same bits. */
static void the_norm_casts_gradients(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    (void)state;
    for (int j = 0; j < 2; j++) {
        float norm[2] = {0};
        uint64_t bits[2] = {0};
        for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
            const trial_setup s = {.device = "cuda:0",
                                   .kind = "mcresnet18",
                                   .net = {.width = 1.0 / 32, .classes = 5},
                                   .dtype = dtypes[j],
                                   .request = {.batch = 2, .size = {33, 35}, .optimiser = BRAID_OPTIMISER_ADAMW}};
            trial t = trial_open(&s);
            for (int turn = 0; turn < 4; turn++) { /* the last two are replayed */
                trial_set_rates(t.plan, 1e-2, 0);
                trial_feed(&t, t.plan, (uint64_t)turn, 0);
                trial_run(t.plan, one_by_one ? FORWARD | BACKWARD : FORWARD | BACKWARD | UPDATE);
                if (one_by_one) trial_run(t.plan, UPDATE);
            }
            OK(braid_plan_read(t.plan, "norm", &norm[one_by_one], sizeof norm[0]));
            bits[one_by_one] = trial_hash(&t);
            assert_in_range(t.model->split, 1, t.model->elements - 1); /* gradients of both kinds */
            const unsigned all = FORWARD | BACKWARD | UPDATE;
            assert_int_equal(steps_of(t.plan, BRAID_OP_CAST, all), 0);
            assert_int_equal(steps_of(t.plan, BRAID_OP_CLIP_NORM, all), 1);
            assert_int_equal(steps_of(t.plan, BRAID_OP_CAST, BACKWARD), 1);
            assert_int_equal(steps_of(t.plan, BRAID_OP_CLIP_NORM, UPDATE), 1);
            trial_close(&t);
        }
        assert_true(bits[0] == bits[1]);
        assert_true(norm[0] > 0 && fabsf(norm[0] - norm[1]) <= 1e-6F * norm[1]);
    }
}

/* The output of the autoencoder in evaluation; *calls is how many its forward pass has. For memory_free. */
static double *autoencoded(trial_setup s, int64_t *count, int *calls) {
    s.kind = "ssae";
    s.request.phase = BRAID_PHASE_EVAL;
    s.request.batch = 21;
    trial t = trial_open(&s);
    trial_shake(&t, 3, 0);
    trial_feed(&t, t.plan, 5, 0);
    trial_run(t.plan, FORWARD);
    double *output = trial_output(t.plan, count);
    *calls = t.plan->program.call_count;
    trial_close(&t);
    return output;
}

/* In one kernel it gives what its layers give one by one, and they what the CPU gives. */
static void the_autoencoder_is_one_call(void **state) {
    static const struct {
        braid_dtype dtype;
        double most;
    } formats[] = {{BRAID_DTYPE_F32, 1e-5}, {BRAID_DTYPE_F16, 4e-3}, {BRAID_DTYPE_BF16, 3e-2}};
    int64_t count;
    int calls;
    (void)state;
    double *expected = autoencoded((trial_setup){.dtype = BRAID_DTYPE_F32}, &count, &calls);
    assert_int_equal(calls, 8);
    for (int j = 0; j < 6; j++) {
        int64_t got_count;
        trial_setup s = {.device = "cuda:0", .dtype = formats[j / 2].dtype};
        s.disable = j % 2 ? "ssae__cuda_resident" : NULL;
        double *got = autoencoded(s, &got_count, &calls);
        assert_int_equal(calls, j % 2 ? 8 : 1);
        assert_int_equal(got_count, count);
        const double off = trial_difference(got, expected, count);
        if (!(off <= formats[j / 2].most)) fail_msg("%s in %d calls: off by %g", braid_dtype_name(s.dtype), calls, off);
        memory_free(got);
    }
    memory_free(expected);
}

/* Calls by a kernel that rounds to TF32. */
static int rounding_calls(const braid_plan *plan) {
    int count = 0;
    for (int j = 0; j < plan->step_count; j++) count += plan->steps[j].op->kernel->flags & KERNEL_TF32 ? 1 : 0;
    return count;
}

/* Losses in TF32 are those of f32 to its roundoff. Small networks are faster without it: one has nothing else. */
static void tf32_trains(void **state) {
    (void)state;
    for (int j = 0; j < CASES; j++) {
        enum { STEPS = 2 };
        trial_setup s = networks[j];
        double expected[STEPS], got[STEPS];
        int rounds = strcmp(s.kind, "mlp") == 0;
        s.net.dropout = 0;
        if (rounds) s.net = (braid_net_options){.layers = {20, 16, 8}};
        trial cpu = trial_open(&s);
        train(&cpu, &s, STEPS, expected);
        trial_close(&cpu);
        s.device = "cuda:0";
        s.tf32 = 1;
        if (rounds)
            s.disable = "linear_fwd__cuda_direct,linear_bwd_data__cuda_direct,linear_bwd_weight__cuda_direct,"
                        "linear_fwd_f32__cuda_skinny,linear_bwd_data_f32__cuda_skinny,"
                        "linear_bwd_weight_f32__cuda_skinny,linear_act_fwd_f32__cuda_skinny,"
                        "linear_act_bwd_data_f32__cuda_skinny,linear_act_bwd_weight_f32__cuda_skinny";
        trial emulated = trial_open(&s);
        train(&emulated, &s, STEPS, got);
        if (rounds && !rounding_calls(emulated.plan)) fail_msg("%s: no call rounds to TF32", s.kind);
        trial_close(&emulated);
        for (int turn = 0; turn < STEPS; turn++) {
            if (!(fabs(got[turn] - expected[turn]) <= 5e-3 * fabs(expected[turn])))
                fail_msg("%s in TF32, step %d: expected a loss of %.9g, as in f32, to 0.5 %%, got %.9g", s.kind, turn,
                         expected[turn], got[turn]);
        }
    }
}

/* The calls that repeat a forward call. */
static int made_again(const braid_plan *plan) {
    int count = 0;
    for (int j = 0; j < plan->step_count; j++) count += plan->steps[j].made_again;
    return count;
}

/* Recorded with every activation kept, which there is room for, and launch by launch with cheap ones made again. */
static void recordings_replay_the_bits(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    (void)state;
    for (int j = 0; j < 2; j++) {               /* the two with most that changes */
        for (int d = j; d < (j ? 2 : 3); d++) { /* LINet in f16 alone, for the sake of time */
            enum { STEPS = 6 };
            trial_setup s = networks[j];
            uint64_t hash[2], begin = 0;
            double losses[2][STEPS];
            s.device = "cuda:0";
            s.dtype = dtypes[d];
            for (int eager = 0; eager < 2; eager++) {
                s.request.eager = eager;
                s.request.keep_all = eager ? -1 : 0;
                trial t = trial_open(&s);
                assert_int_equal(made_again(t.plan), eager && j ? 8 : 0);
                begin = trial_hash(&t);
                train(&t, &s, STEPS, losses[eager]);
                hash[eager] = trial_hash(&t);
                assert_true(eager ? !t.plan->recorded[FORWARD | BACKWARD | UPDATE]
                                  : t.plan->recorded[FORWARD | BACKWARD | UPDATE] != NULL);
                trial_close(&t);
            }
            assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
            assert_true(hash[0] == hash[1] && hash[0] != begin);
        }
    }
}

/* Two streams of small images through every kind of layer that has something to remember. */
static braid_net *small_net(void) {
    braid_net *net = NULL;
    OK(braid_net_create(NULL, NULL, &net));
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1));
    x = braid_net_layer(net, "conv", x,
                        &(braid_problem){.op = BRAID_OP_CONV2D, .out_channels = {5, 5}, .filter = {3, 3}});
    braid_value mix = braid_net_integrate(net, "mix", x, (braid_value){0}, &(braid_problem){.integrated_out = 5});
    x = braid_net_layer(net, "norm", braid_net_join(net, x, mix), &(braid_problem){.op = BRAID_OP_BATCHNORM});
    x = braid_net_layer(net, "relu", x, &(braid_problem){.op = BRAID_OP_ACT});
    x = braid_net_layer(net, "pool", x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    x = braid_net_layer(net, "drop", braid_net_select(net, x, 2, 1),
                        &(braid_problem){.op = BRAID_OP_DROPOUT, .rate = 0.3});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

/* 50 updates in f16 that begin with a factor of the loss at which gradients overflow. */
static void fifty_steps_with_skips(void **state) {
    enum { STEPS = 50 };
    uint64_t hash[2];
    double losses[2][STEPS];
    (void)state;
    for (int eager = 0; eager < 2; eager++) {
        trial_setup s = {
            .device = "cuda:0",
            .built = small_net(),
            .dtype = BRAID_DTYPE_F16,
            .request = {.batch = 3, .size = {7, 6}, .mask = 1, .optimiser = BRAID_OPTIMISER_ADAMW, .eager = eager}};
        trial t = trial_open(&s);
        int64_t cells[METRIC_COUNT];
        float scale;
        OK(braid_model_scale_loss(t.model, 65536.0 * 65536, 1));
        train(&t, &s, STEPS, losses[eager]);
        hash[eager] = trial_hash(&t);
        device *d = t.model->context->device;
        OK(d->backend->download(d, cells, t.model->metrics, sizeof cells));
        memcpy(&scale, &cells[METRIC_LOSS_SCALE], sizeof scale);
        int64_t skipped = cells[METRIC_SCALING + SCALING_SKIPPED];
        assert_in_range(skipped, 1, STEPS / 2);
        assert_true(scale == (float)ldexp(1, 32 - (int)skipped));
        trial_close(&t);
    }
    assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
    assert_true(hash[0] == hash[1]);
}

int emu_networks(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifty_steps_with_skips),      cmocka_unit_test(the_cpu_agrees),
        cmocka_unit_test(the_autoencoder_is_one_call), cmocka_unit_test(tf32_trains),
        cmocka_unit_test(sums_of_gradients_agree),     cmocka_unit_test(recordings_replay_the_bits),
        cmocka_unit_test(the_norm_casts_gradients),    cmocka_unit_test(sm_80_trains),
    };
    return cmocka_run_group_tests_name("emu/networks", tests, NULL, NULL);
}
