/*
 * Calls that become one (src/compile/fuse.c), on the emulator: the gradients of every parameter and the running
 * statistics are those of the calls one by one, to the roundings of f16 or to the bit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "tests/support/trial.h"
#include "tests/emu/tests.h"

/* What makes the weights of a convolution of few channels. At these sizes the cost model takes such a kernel and the
 * mix's own, unless there is none. */
#define FEW_CHANNELS                                                                               \
    "conv2d_bwd_weight__cuda_direct,conv2d_bwd_weight__cuda_strips,conv2d_bwd_weight__cuda_lines," \
    "conv2d_bwd_weight__cuda_rows_wgmma"
#define LAYER "li_conv2d_bwd_weight__cuda_rows_wgmma"
#define BN_BWD_APPLY "integrate_bn_bwd_apply__cuda_wgmma"
#define PREPARE "integrate_bn_stats__cuda_wgmma"
#define POOL "conv2d_pool_bn_bwd_apply__cuda_rows_wgmma"
#define BN_REDUCE_ROWS "conv2d_dgrad_bn_reduce__cuda_resident3x3_rows136"
#define BN_REDUCE_LANES "conv2d_dgrad_bn_reduce__cuda_implicit_gemm_lanes"
#define BN_REDUCE BN_REDUCE_ROWS "," BN_REDUCE_LANES
/* What makes the data gradient of a convolution in less time than the kernels of conv2d_dgrad_bn_reduce. */
#define FAST_DATA                                                                           \
    "conv2d_bwd_data__cuda_implicit_gemm_lanes,conv2d_bwd_data__cuda_implicit_gemm_pixels," \
    "conv2d_bwd_data__cuda_strips,conv2d_bwd_data__cuda_patches,"                           \
    "conv2d_bwd_data__cuda_resident3x3_128x232,conv2d_bwd_data__cuda_resident3x3_64x240,"   \
    "conv2d_bwd_data__cuda_resident3x3_rows136,conv2d_bwd_data__cuda_mma"
#define CONV_BN_STATS_ROWS "conv2d_bn_stats__cuda_resident3x3_rows136"
#define CONV_BN_STATS_LANES "conv2d_bn_stats__cuda_implicit_gemm_lanes"
#define CONV_BN_STATS "conv2d_bn_stats__cuda_rows_wgmma," CONV_BN_STATS_ROWS "," CONV_BN_STATS_LANES

/* So that every convolution is prepared, and none. */
#define PREPARED "conv2d_bn_stats__chain,bn_stats_finalize__cuda_direct"
#define NOT_PREPARED CONV_BN_STATS "," PREPARE

#define NORM "bn_act_conv2d__cuda_resident3x3_rows136"
/* Those that are cheaper than resident_rows on images as small as these, and would keep a plan from fusing. */
#define CHEAPER "conv2d_fwd__cuda_implicit_gemm_lanes,conv2d_fwd__cuda_implicit_gemm_pixels,conv2d_fwd__cuda_mma"

/* So that a convolution makes the sums of the normalisation before it. */
#define SUMS_GIVEN FAST_DATA ",conv2d_dgrad_bn_reduce__chain," NORM "," BN_BWD_APPLY

/* The network ends with four classes of x. */
static braid_net *classified(braid_net *net, braid_value x) {
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {1, 1}});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {4}}));
    return net;
}

/* Two layers with a learned mix each; what the streams of both hold goes on. The first has nothing between its
 * normalisation and the convolution that reads it, the second a plane of its own for every stream. */
static braid_net *two_layers(void) {
    braid_net *net = NULL;
    OK(braid_net_create(NULL, NULL, &net));
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1)), z = {0};
    for (int j = 0; j < 2; j++) {
        const braid_problem first = {.op = BRAID_OP_CONV2D,
                                     .out_channels = {8, 16},
                                     .filter = {5, 5},
                                     .stride = {2, 2},
                                     .padding = {2, 2}},
                            second = {
                                .op = BRAID_OP_CONV2D, .out_channels = {16, 8}, .filter = {3, 3}, .padding = {1, 1}};
        x = braid_net_layer(net, j ? "conv2" : "conv1", x, j ? &second : &first);
        z = braid_net_integrate(net, j ? "mix2" : "mix1", x, z, &(braid_problem){.integrated_out = 8});
        x = braid_net_layer(net, j ? "norm2" : "norm1", braid_net_join(net, x, z),
                            &(braid_problem){.op = BRAID_OP_BATCHNORM});
        x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
        z = braid_net_select(net, x, 2, 1);
        if (!j) x = braid_net_select(net, x, 0, 2);
    }
    return classified(net, x);
}

/* The same without mixes, of channels that conv2d_bn_stats has kernels for: few in the first layer, then 16. */
static braid_net *two_plain_layers(void) {
    braid_net *net = NULL;
    OK(braid_net_create(NULL, NULL, &net));
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1));
    const braid_problem convs[2] = {
        {.op = BRAID_OP_CONV2D, .out_channels = {16, 16}, .filter = {5, 5}, .stride = {2, 2}, .padding = {2, 2}},
        {.op = BRAID_OP_CONV2D, .out_channels = {24, 16}, .filter = {3, 3}, .padding = {1, 1}}};
    for (int j = 0; j < 2; j++) {
        x = braid_net_layer(net, j ? "conv2" : "conv1", x, &convs[j]);
        x = braid_net_layer(net, j ? "norm2" : "norm1", x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
        x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
    }
    return classified(net, x);
}

/* Layer `number`, a convolution of filter x filter and its normalisation. */
static braid_value normalised(braid_net *net, int number, int filter, const int64_t channels[2], braid_value x) {
    const braid_problem conv = {.op = BRAID_OP_CONV2D,
                                .out_channels = {channels[0], channels[1]},
                                .filter = {filter, filter},
                                .padding = {filter / 2, filter / 2}};
    char conv_name[16], norm_name[16];
    snprintf(conv_name, sizeof conv_name, "conv%d", number);
    snprintf(norm_name, sizeof norm_name, "norm%d", number);
    x = braid_net_layer(net, conv_name, x, &conv);
    return braid_net_layer(net, norm_name, x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
}

static braid_value activated(braid_net *net, braid_value x) {
    return braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
}

/* A layer and two blocks around which it goes. */
static braid_net *two_blocks(void) {
    static const int64_t channels[2] = {32, 40};
    braid_net *net = NULL;
    OK(braid_net_create(NULL, NULL, &net));
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1));
    x = activated(net, normalised(net, 1, 3, channels, x));
    for (int j = 0; j < 2; j++) {
        braid_value y = activated(net, normalised(net, 2 * j + 2, 3, channels, x));
        x = activated(net, braid_net_add(net, normalised(net, 2 * j + 3, 3, channels, y), x));
    }
    return classified(net, x);
}

/* The same with blocks of a 1 x 1, a 3 x 3 and a 1 x 1 convolution. */
static braid_net *two_bottlenecks(void) {
    static const int64_t outer[2] = {136, 160}, inner[2] = {80, 88};
    braid_net *net = NULL;
    OK(braid_net_create(NULL, NULL, &net));
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1));
    x = activated(net, normalised(net, 1, 3, outer, x));
    for (int j = 0; j < 2; j++) {
        braid_value y = activated(net, normalised(net, 3 * j + 2, 1, inner, x));
        y = activated(net, normalised(net, 3 * j + 3, 3, inner, y));
        x = activated(net, braid_net_add(net, normalised(net, 3 * j + 4, 1, outer, y), x));
    }
    return classified(net, x);
}

/* A layer of some channels that is normalised and activated beside a mix, and a convolution that reads the streams. */
static braid_net *norm_between(void) {
    braid_net *net = NULL;
    OK(braid_net_create(NULL, NULL, &net));
    braid_value x = braid_net_join(net, braid_net_input(net, "rgb", 3), braid_net_input(net, "depth", 1)), z;
    const braid_problem conv = {.op = BRAID_OP_CONV2D, .out_channels = {64, 56}, .filter = {3, 3}, .padding = {1, 1}};
    x = braid_net_layer(net, "conv1", x, &conv);
    z = braid_net_integrate(net, "mix", x, (braid_value){0}, &(braid_problem){.integrated_out = 8});
    x = braid_net_layer(net, "norm", braid_net_join(net, x, z), &(braid_problem){.op = BRAID_OP_BATCHNORM});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_ACT});
    z = braid_net_select(net, x, 2, 1);
    x = braid_net_join(net, braid_net_layer(net, "conv2", braid_net_select(net, x, 0, 2), &conv), z);
    return classified(net, x);
}

/* One forward and backward run, with blanked samples where the plan has masks. */
static trial run_net(trial_setup s, braid_net *(*build)(void), const char *disable) {
    const unsigned char blanked[2][3] = {{0, 1, 0}, {0, 0, 1}};
    if (!s.kind) s.built = build();
    s.device = "cuda:0";
    s.disable = disable;
    trial t = trial_open(&s);
    trial_shake(&t, 7, 0);
    for (int i = 0; i < 2 && s.request.mask; i++) OK(braid_plan_set_mask(t.plan, i, blanked[i]));
    trial_feed(&t, t.plan, 3, 0);
    trial_run(t.plan, FORWARD | BACKWARD);
    return t;
}

static trial run(trial_setup s, const char *disable) { return run_net(s, two_layers, disable); }

static int count_calls(const trial *t, braid_op_id op) {
    int count = 0;
    for (int j = 0; j < t->plan->program.call_count; j++) count += t->plan->program.calls[j].problem.op == op;
    return count;
}

/* How far a gradient, or a running statistic, is from another, as a share of its length. */
static double distance(const trial *t, const trial *from, const graph_plane *what) {
    double *(*read)(const trial *, const char *, int64_t *) = what->kind == PLANE_STATE ? trial_read : trial_gradient;
    int64_t count, from_count;
    double *a = read(t, what->name, &count), *b = read(from, what->name, &from_count), off = 0, length = 0;
    assert_int_equal(count, from_count);
    for (int64_t j = 0; j < count; j++) {
        off += (a[j] - b[j]) * (a[j] - b[j]);
        length += b[j] * b[j];
    }
    memory_free(a);
    memory_free(b);
    return off == 0 ? 0 : sqrt(off / length);
}

/* Running statistics are of f32. Closes both. */
static void compare(trial *fused, trial *apart, double most) {
    const graph *g = fused->model->graph;
    int compared = 0;
    for (int plane = 0; plane < g->plane_count; plane++) {
        const graph_plane *what = &g->planes[plane];
        if (what->kind != PLANE_PARAMETER && (what->kind != PLANE_STATE || what->is_counter)) continue;
        const double off = plane_elements(what) ? distance(fused, apart, what) : 0;
        if (!(off <= (what->kind == PLANE_STATE ? 1e-5 : most)))
            fail_msg("%s: %g from that of calls one by one", what->name, off);
        compared++;
    }
    assert_true(compared > 10);
    trial_close(fused);
    trial_close(apart);
}

/* Running statistics of `fused` are about as far from those of `exact` as those of `plain`. Closes the last two. */
static void statistics_agree(const trial *fused, trial *plain, trial *exact) {
    const graph *g = fused->model->graph;
    int compared = 0;
    for (int plane = 0; plane < g->plane_count; plane++) {
        const graph_plane *what = &g->planes[plane];
        if (what->kind != PLANE_STATE || what->is_counter) continue;
        const double off = distance(fused, exact, what), usual = distance(plain, exact, what);
        if (!(off <= 3 * usual + 1e-4)) fail_msg("%s: %g from that of f32, made apart %g", what->name, off, usual);
        compared++;
    }
    assert_true(compared > 100);
    trial_close(plain);
    trial_close(exact);
}

/* The first layer's weights in one call, the gradients of the second's streams in another. Without the first of them,
 * the streams of both layers have the second. */
static void two_layers_are_fused(void **state) {
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        const trial_setup s = {.dtype = BRAID_DTYPE_F16, .request = {.batch = 3, .size = {21, 40}, .mask = mask}};
        for (int layer = 0; layer < 2; layer++) {
            trial fused = run(s, layer ? FEW_CHANNELS : LAYER), apart = run(s, LAYER "," BN_BWD_APPLY);
            assert_int_equal(count_calls(&fused, BRAID_OP_LI_CONV2D), layer);
            assert_int_equal(count_calls(&fused, BRAID_OP_INTEGRATE_BN_BWD_APPLY), layer ? 1 : 2);
            assert_int_equal(count_calls(&apart, BRAID_OP_LI_CONV2D), 0);
            assert_int_equal(count_calls(&apart, BRAID_OP_INTEGRATE_BN_BWD_APPLY), 0);
            compare(&fused, &apart, 2.5e-3);
        }
    }
}

/* A pooling behind the first layer, sums around blocks and downsamplings; roundings add up over eighteen layers. */
static void a_linet_is_fused(void **state) {
    const trial_setup s = {.kind = "linet18",
                           .net = {.streams = 2, .width = 1.0 / 8, .classes = 5},
                           .dtype = BRAID_DTYPE_F16,
                           .request = {.batch = 3, .size = {35, 40}, .mask = 1}};
    (void)state;
    trial fused = run(s, FEW_CHANNELS), apart = run(s, LAYER "," BN_BWD_APPLY);
    assert_int_equal(count_calls(&fused, BRAID_OP_LI_CONV2D), 1);
    assert_int_equal(count_calls(&fused, BRAID_OP_INTEGRATE_BN_BWD_APPLY), 8 + 3);
    compare(&fused, &apart, 1e-2);
}

/* The first layer's weights, in one call with the gradient through the pooling behind it. */
static void a_pooling_is_fused(void **state) {
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        const trial_setup s = {.kind = "mcresnet18",
                               .net = {.width = 1.0 / 8, .classes = 5},
                               .dtype = BRAID_DTYPE_F16,
                               .request = {.batch = 3, .size = {35, 40}, .mask = mask}};
        trial fused = run(s, FEW_CHANNELS ",conv2d_pool_bn_bwd_apply__chain"), apart = run(s, POOL);
        assert_int_equal(count_calls(&fused, BRAID_OP_CONV2D_POOL_BN_BWD_APPLY), 1);
        assert_int_equal(count_calls(&apart, BRAID_OP_CONV2D_POOL_BN_BWD_APPLY), 0);
        compare(&fused, &apart, 1e-2);
    }
}

/* The kernel, not the chain, which is faster at such sizes. */
static void mixes_are_prepared(void **state) {
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        const trial_setup s = {.dtype = BRAID_DTYPE_F16, .request = {.batch = 3, .size = {21, 40}, .mask = mask}};
        trial fused = run(s, "integrate_bn_stats__chain"), apart = run(s, PREPARE);
        assert_int_equal(count_calls(&fused, BRAID_OP_INTEGRATE_BN_STATS), 2);
        assert_int_equal(count_calls(&apart, BRAID_OP_INTEGRATE_BN_STATS), 0);
        compare(&fused, &apart, 2.5e-3);
    }
}

/* At such sizes the cost model would take two calls, unless there is no kernel for the second. The second layer has
 * kernels of two kinds. */
static void convolutions_are_prepared(void **state) {
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        const trial_setup s = {.dtype = BRAID_DTYPE_F16, .request = {.batch = 3, .size = {21, 40}, .mask = turn % 2}};
        trial fused = run_net(s, two_plain_layers,
                              turn < 2 ? PREPARED "," CONV_BN_STATS_LANES : PREPARED "," CONV_BN_STATS_ROWS),
              apart = run_net(s, two_plain_layers, CONV_BN_STATS);
        assert_int_equal(count_calls(&fused, BRAID_OP_CONV2D_BN_STATS), 2);
        assert_int_equal(count_calls(&apart, BRAID_OP_CONV2D_BN_STATS), 0);
        compare(&fused, &apart, 2.5e-3);
    }
}

/* The gradients between the convolutions of both blocks, and what comes back to the second. What comes back to the
 * first, which a plain layer made, has no kernel. Kernels of two kinds do it, one with masks and one without. */
static void sums_are_fused(void **state) {
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        const trial_setup s = {.dtype = BRAID_DTYPE_F16, .request = {.batch = 3, .size = {11, 80}, .mask = mask}};
        trial fused = run_net(s, two_blocks,
                              mask ? FAST_DATA ",conv2d_dgrad_bn_reduce__chain," BN_REDUCE_LANES
                                   : FAST_DATA ",conv2d_dgrad_bn_reduce__chain," BN_REDUCE_ROWS),
              apart = run_net(s, two_blocks, BN_REDUCE);
        assert_int_equal(count_calls(&fused, BRAID_OP_CONV2D_DGRAD_BN_REDUCE), 3);
        assert_int_equal(count_calls(&apart, BRAID_OP_CONV2D_DGRAD_BN_REDUCE), 0);
        compare(&fused, &apart, 2.5e-3);
    }
}

/* Both gradients between the convolutions of each block, 1 x 1 and 3 x 3, and what comes back to the second block. */
static void sums_of_bottlenecks_are_fused(void **state) {
    const trial_setup s = {.dtype = BRAID_DTYPE_F16, .request = {.batch = 3, .size = {21, 24}, .mask = 1}};
    (void)state;
    trial fused = run_net(s, two_bottlenecks, FAST_DATA ",conv2d_dgrad_bn_reduce__chain," CONV_BN_STATS),
          apart = run_net(s, two_bottlenecks, BN_REDUCE "," CONV_BN_STATS);
    assert_int_equal(count_calls(&fused, BRAID_OP_CONV2D_DGRAD_BN_REDUCE), 5);
    assert_int_equal(count_calls(&apart, BRAID_OP_CONV2D_DGRAD_BN_REDUCE), 0);
    compare(&fused, &apart, 2.5e-3);
}

/* What is between is the same, to the last bit; the convolution's kernels are others. */
static void norms_are_read_by_convolutions(void **state) {
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        const trial_setup s = {.dtype = BRAID_DTYPE_F16,
                               .request = {.batch = 2, .size = {21, 136}, .mask = mask, .keep_all = 1}};
        trial fused = run_net(s, norm_between, "bn_act_conv2d__chain," CHEAPER),
              apart = run_net(s, norm_between, NORM "," CHEAPER);
        assert_int_equal(count_calls(&fused, BRAID_OP_BN_ACT_CONV2D), 1);
        assert_int_equal(count_calls(&apart, BRAID_OP_BN_ACT_CONV2D), 0);
        compare(&fused, &apart, 2.5e-3);
    }
}

/* Both passes of a normalisation in one call, with the bits of two, where a convolution makes the sums of the streams:
 * those of the mix alone are left. */
static void normalisations_are_fused(void **state) {
    (void)state;
    for (int mask = 0; mask < 2; mask++) {
        const trial_setup s = {.dtype = BRAID_DTYPE_F16, .request = {.batch = 3, .size = {11, 80}, .mask = mask}};
        trial fused = run_net(s, norm_between, SUMS_GIVEN ",bn_bwd__chain"),
              apart = run_net(s, norm_between, SUMS_GIVEN ",bn_bwd__cuda_direct");
        assert_int_equal(count_calls(&fused, BRAID_OP_BN_BWD), 1);
        assert_int_equal(count_calls(&apart, BRAID_OP_BN_BWD), 0);
        compare(&fused, &apart, 0);
    }
}

/* Networks of fifty layers. In the backward pass roundings add up; in the forward pass each changes all that are behind
 * it, so that statistics made with the convolutions are held against those of f32, from which others are as far. */
static void bottlenecks_are_fused(void **state) {
    static const char *const kinds[] = {"linet50", "mcresnet50"};
    (void)state;
    for (int j = 0; j < 2; j++) {
        trial_setup s = {.kind = kinds[j],
                         .net = {.streams = j ? 0 : 2, .width = 1.0 / 8, .classes = 5},
                         .dtype = BRAID_DTYPE_F16,
                         .request = {.batch = 3, .size = {35, 40}, .mask = 1}};
        trial fused = run(s, FEW_CHANNELS ",conv2d_pool_bn_bwd_apply__chain," PREPARED),
              apart = run(s, PREPARED "," LAYER "," BN_BWD_APPLY "," POOL);
        assert_int_equal(count_calls(&fused, BRAID_OP_LI_CONV2D), 1 - j);
        assert_int_equal(count_calls(&fused, BRAID_OP_INTEGRATE_BN_BWD_APPLY), j ? 0 : 36);
        assert_int_equal(count_calls(&fused, BRAID_OP_INTEGRATE_BN_STATS), j ? 0 : 49);
        assert_int_equal(count_calls(&fused, BRAID_OP_CONV2D_POOL_BN_BWD_APPLY), j);
        assert_int_equal(count_calls(&fused, BRAID_OP_CONV2D_BN_STATS), j ? 53 : 0);
        trial plain = run(s, NOT_PREPARED);
        s.dtype = BRAID_DTYPE_F32;
        trial exact = run(s, NOT_PREPARED);
        statistics_agree(&fused, &plain, &exact);
        compare(&fused, &apart, 1.7e-2);
    }
}

int emu_fused(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_layers_are_fused),
        cmocka_unit_test(a_linet_is_fused),
        cmocka_unit_test(a_pooling_is_fused),
        cmocka_unit_test(mixes_are_prepared),
        cmocka_unit_test(convolutions_are_prepared),
        cmocka_unit_test(sums_are_fused),
        cmocka_unit_test(sums_of_bottlenecks_are_fused),
        cmocka_unit_test(norms_are_read_by_convolutions),
        cmocka_unit_test(normalisations_are_fused),
        cmocka_unit_test(bottlenecks_are_fused),
    };
    return cmocka_run_group_tests_name("emu/fused", tests, NULL, NULL);
}
