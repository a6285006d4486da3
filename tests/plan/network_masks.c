/*
 * Blanked samples in whole networks: their rows are exactly zero in every value of their stream and whatever they
 * hold changes nothing; the others are as if they were alone; statistics see active samples only; a stream that is
 * blanked for all is a stream whose mix is nothing, which is not a stream of zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

#define STREAMS 3
#define BATCH 4

/* Stream 0: samples 1 and 2 are active, stream 1: all, stream 2: none. */
static const unsigned char blanked[STREAMS][BATCH] = {{1, 0, 0, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}};

static const trial_setup masked = {.kind = "linet18",
                                   .net = {.streams = STREAMS, .width = 1.0 / 16, .init = "seed"},
                                   .request = {.batch = BATCH, .size = {35, 41}, .mask = 1}};

static void set_masks(braid_plan *plan) {
    for (int i = 0; i < STREAMS; i++) OK(braid_plan_set_mask(plan, i, blanked[i]));
}

static trial open_masked(braid_dtype dtype, braid_phase phase) {
    trial_setup s = masked;
    s.dtype = dtype;
    s.request.phase = phase;
    trial t = trial_open(&s);
    trial_shake(&t, 3, 1);
    trial_feed(&t, t.plan, 11, 0);
    set_masks(t.plan);
    return t;
}

/* The stream of a value with a row for each sample; -1: it is none, or of the integrated pathway. */
static int stream_of(const braid_plan *plan, int plane) {
    const graph_plane *what = &plan->model->graph->planes[plane];
    const tensor *t = &plan->program.tensors[plane];
    if (what->kind != PLANE_VALUE || t->shape.rank != 4 || t->shape.dims[0] != plan->program.options.batch) return -1;
    return what->stream;
}

/* ---- Rows of zeros -------------------------------------------------------------------------- */

static void rows_are_zero(braid_dtype dtype, braid_phase phase) {
    trial t = open_masked(dtype, phase);
    trial_record r = trial_record_forward(t.plan);
    int zero = 0, alive = 0;
    for (int plane = 0; plane < r.planes; plane++) {
        int stream = r.values[plane] ? stream_of(t.plan, plane) : -1;
        int64_t each = r.counts[plane] / BATCH;
        for (int b = 0; b < BATCH && stream >= 0; b++) {
            const double *row = r.values[plane] + b * each;
            int64_t set = 0;
            for (int64_t j = 0; j < each; j++) set += row[j] != 0 || signbit(row[j]);
            if (blanked[stream][b] && set)
                fail_msg("plane %d: blanked sample %d of stream %d is not zero", plane, b, stream);
            zero += blanked[stream][b];
            alive += !blanked[stream][b] && set > 0;
        }
    }
    assert_true(zero > 150 && alive > 150); /* 20 convolutions and as many normalisations, six samples of either kind */
    trial_record_free(&r);
    trial_close(&t);
}

static void c6_blanked_rows_are_zero(void **state) {
    (void)state;
    rows_are_zero(BRAID_DTYPE_F32, BRAID_PHASE_TRAIN);
    rows_are_zero(BRAID_DTYPE_F32, BRAID_PHASE_EVAL);
    rows_are_zero(BRAID_DTYPE_BF16, BRAID_PHASE_TRAIN);
    rows_are_zero(BRAID_DTYPE_F64, BRAID_PHASE_TRAIN);
}

/* ---- The active samples alone --------------------------------------------------------------- */

/* Stream 0 of samples 1 and 2, in a batch of two without masks, has the values it has among the blanked. */
static void active_rows_stand_alone(braid_dtype dtype, braid_phase phase, double bound) {
    trial t = open_masked(dtype, phase);
    braid_plan_request few = masked.request;
    few.batch = 2;
    few.mask = 0;
    few.phase = phase;
    braid_plan *alone = trial_plan(&t, &few);
    trial_feed(&t, alone, 11, 1);
    trial_record among = trial_record_forward(t.plan), by_itself = trial_record_forward(alone);
    int compared = 0;
    for (int plane = 0; plane < among.planes; plane++) {
        if (!among.values[plane] || stream_of(t.plan, plane) != 0) continue;
        assert_non_null(by_itself.values[plane]);
        int64_t each = among.counts[plane] / BATCH;
        double difference = trial_difference(among.values[plane] + each, by_itself.values[plane], 2 * each);
        if (!(difference <= bound)) fail_msg("plane %d: the active samples alone differ by %.2g", plane, difference);
        compared++;
    }
    assert_true(compared >= 30);
    trial_record_free(&among);
    trial_record_free(&by_itself);
    braid_plan_destroy(alone);
    trial_close(&t);
}

static void c6_active_rows_are_as_if_alone(void **state) {
    (void)state;
    active_rows_stand_alone(BRAID_DTYPE_F64, BRAID_PHASE_EVAL, 0);
    active_rows_stand_alone(BRAID_DTYPE_F64, BRAID_PHASE_TRAIN, 1e-12);
    active_rows_stand_alone(BRAID_DTYPE_F32, BRAID_PHASE_EVAL, 1e-5);
    active_rows_stand_alone(BRAID_DTYPE_F32, BRAID_PHASE_TRAIN, 1e-4);
}

/* ---- Whatever the blanked hold -------------------------------------------------------------- */

/* All gradients, one behind the other, then the output, then the loss. For memory_free. */
static double *all_results(const trial *t, int64_t *total) {
    const graph *g = t->model->graph;
    double *all = NULL;
    OK(memory_calloc((size_t)braid_net_parameter_count(t->net) + 1024, sizeof *all, "results", (void **)&all));
    *total = 0;
    for (int j = 0; j < g->plane_count; j++) {
        int64_t count;
        if (g->planes[j].kind != PLANE_PARAMETER) continue;
        double *gradient = trial_gradient(t, g->planes[j].name, &count);
        memcpy(all + *total, gradient, (size_t)count * sizeof *all);
        memory_free(gradient);
        *total += count;
    }
    int64_t count;
    double *output = trial_output(t->plan, &count);
    memcpy(all + *total, output, (size_t)count * sizeof *all);
    memory_free(output);
    all[*total + count] = trial_loss(t->plan);
    *total += count + 1;
    return all;
}

static void poison_blanked(const trial *t) {
    for (int i = 0; i < STREAMS; i++) {
        braid_operand_info info;
        void *memory;
        OK(braid_plan_tensor(t->plan, braid_net_stream(t->net, i, NULL), &info, &memory));
        int64_t each = (int64_t)(info.bytes[0] / dtype_bytes(info.dtype)) / BATCH;
        for (int64_t j = 0; j < BATCH * each; j++) {
            if (blanked[i][j / each]) dtype_store(memory, info.dtype, j, NAN);
        }
    }
}

static void what_the_blanked_hold_is_nothing(void **state) {
    const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F64};
    (void)state;
    for (int d = 0; d < 3; d++) {
        int64_t count, again;
        trial t = open_masked(dtypes[d], BRAID_PHASE_TRAIN);
        trial_run(t.plan, FORWARD | BACKWARD);
        double *clean = all_results(&t, &count);
        poison_blanked(&t);
        trial_run(t.plan, FORWARD | BACKWARD);
        double *poisoned = all_results(&t, &again);
        assert_int_equal(count, again);
        assert_memory_equal(clean, poisoned, (size_t)count * sizeof *clean);
        memory_free(clean);
        memory_free(poisoned);
        trial_close(&t);
    }
}

/* ---- Statistics ----------------------------------------------------------------------------- */

/* C7: 10 in four of eight samples, 99 in the others, which are blanked. */
static void c7_statistics_of_the_active(void **state) {
    const unsigned char half[8] = {0, 1, 1, 0, 0, 1, 0, 1};
    float values[8 * 9];
    int32_t labels[8] = {0};
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value x =
        braid_net_layer(net, "bn", braid_net_input(net, "x", 1), &(braid_problem){.op = BRAID_OP_BATCHNORM});
    x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL});
    braid_net_output(net, braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {2}}));
    const trial_setup s = {.built = net, .request = {.batch = 8, .size = {3, 3}, .mask = 1}};
    trial t = trial_open(&s);
    for (int j = 0; j < 8 * 9; j++) values[j] = half[j / 9] ? 99 : 10;
    OK(braid_plan_set_input(t.plan, "x", values, sizeof values));
    OK(braid_plan_write(t.plan, "labels", labels, sizeof labels));
    OK(braid_plan_set_mask(t.plan, 0, half));
    trial_run(t.plan, FORWARD);
    assert_true(fabs(trial_read_one(&t, "bn.running_mean") - 1) < 1e-6);
    assert_true(fabs(trial_read_one(&t, "bn.running_var") - 0.9) < 1e-6);
    assert_true(trial_read_one(&t, "bn.num_batches_tracked") == 1);
    OK(braid_plan_set_mask(t.plan, 0, NULL)); /* the mask goes as it came */
    trial_run(t.plan, FORWARD);
    assert_true(fabs(trial_read_one(&t, "bn.running_mean") - (0.9 + 0.1 * (10 + 99) / 2)) < 1e-4);
    trial_close(&t);
}

/* ---- A stream that is blanked for all ------------------------------------------------------- */

static int ends_with_stream(const char *name, int stream) {
    char words[3][40];
    snprintf(words[0], sizeof words[0], "stream_weights.%d", stream);
    snprintf(words[1], sizeof words[1], "stream_biases.%d", stream);
    snprintf(words[2], sizeof words[2], "integration_from_streams.%d", stream);
    return strstr(name, words[0]) || strstr(name, words[1]) || strstr(name, words[2]);
}

/* C8: of stream 2 nothing learns and no statistic moves; of the others and of the mix everything does. */
static void c8_blanked_stream_learns_nothing(void **state) {
    (void)state;
    trial t = open_masked(BRAID_DTYPE_F32, BRAID_PHASE_TRAIN);
    const graph *g = t.model->graph;
    int64_t count;
    int zero = 0, alive = 0;
    double *before = trial_read(&t, "layer1.0.bn1.stream2_running_mean", &count);
    double *moved = trial_read(&t, "layer1.0.bn1.integrated_running_mean", &count);
    trial_run(t.plan, FORWARD | BACKWARD);
    double *after = trial_read(&t, "layer1.0.bn1.stream2_running_mean", &count);
    double *moved_to = trial_read(&t, "layer1.0.bn1.integrated_running_mean", &count);
    assert_memory_equal(before, after, (size_t)count * sizeof *after);
    assert_memory_not_equal(moved, moved_to, (size_t)count * sizeof *after);
    assert_true(trial_read_one(&t, "layer1.0.bn1.num_batches_tracked") == 1);
    for (int j = 0; j < g->plane_count; j++) {
        if (g->planes[j].kind != PLANE_PARAMETER || !plane_elements(&g->planes[j])) continue;
        double *gradient = trial_gradient(&t, g->planes[j].name, &count), sum = 0;
        for (int64_t k = 0; k < count; k++) sum += fabs(gradient[k]);
        int of_blanked = ends_with_stream(g->planes[j].name, 2);
        int unread = strstr(g->planes[j].name, "layer4.1.bn2.stream") != NULL; /* behind the last mix */
        if ((sum == 0) != (of_blanked || unread)) fail_msg("%s: gradients of sum %g", g->planes[j].name, sum);
        zero += of_blanked;
        alive += !of_blanked && !unread;
        memory_free(gradient);
    }
    assert_true(zero >= 80 && alive >= 200);
    double *output = trial_output(t.plan, &count);
    for (int64_t j = 0; j < count; j++) assert_true(isfinite(output[j]) && output[j] != 0);
    double *all[] = {before, after, moved, moved_to, output};
    for (size_t j = 0; j < sizeof all / sizeof all[0]; j++) memory_free(all[j]);
    trial_close(&t);
}

/* The logits in evaluation with a stream blanked for all (1), its mix set to nothing (2), its input to zero (3). */
static double *logits_without(int stream, int how, int64_t *count) {
    const unsigned char all[BATCH] = {1, 1, 1, 1};
    trial_setup s = masked;
    s.dtype = BRAID_DTYPE_F64;
    s.request.phase = BRAID_PHASE_EVAL;
    trial t = trial_open(&s);
    const graph *g = t.model->graph;
    char mix[40];
    snprintf(mix, sizeof mix, "integration_from_streams.%d", stream);
    trial_shake(&t, 3, 1);
    trial_feed(&t, t.plan, 11, 0);
    if (how == 1) OK(braid_plan_set_mask(t.plan, stream, all));
    for (int j = 0; j < g->plane_count && how == 2; j++) {
        if (!strstr(g->planes[j].name, mix)) continue;
        double zeros[4096] = {0};
        trial_write(&t, g->planes[j].name, zeros, plane_elements(&g->planes[j]));
    }
    if (how == 3) {
        braid_operand_info info;
        void *memory;
        OK(braid_plan_tensor(t.plan, braid_net_stream(t.net, stream, NULL), &info, &memory));
        memset(memory, 0, info.bytes[0]);
    }
    trial_run(t.plan, FORWARD);
    double *logits = trial_output(t.plan, count);
    trial_close(&t);
    return logits;
}

/* C9 */
static void c9_blanked_stream_is_a_mix_without_it(void **state) {
    (void)state;
    for (int stream = 0; stream < STREAMS; stream++) {
        int64_t count;
        double *normal = logits_without(stream, 0, &count), *blank = logits_without(stream, 1, &count);
        double *unmixed = logits_without(stream, 2, &count), *zeros = logits_without(stream, 3, &count);
        assert_true(trial_difference(blank, unmixed, count) <= 1e-12);
        assert_true(trial_difference(blank, zeros, count) > 1e-3);
        assert_true(trial_difference(blank, normal, count) > 1e-3);
        memory_free(normal);
        memory_free(blank);
        memory_free(unmixed);
        memory_free(zeros);
    }
}

/* ---- Masks that cannot be ------------------------------------------------------------------- */

/* A normalisation over one value has no variance, as in PyTorch: refused before anything runs. */
static void masks_are_refused(void **state) {
    const unsigned char all_but_one[BATCH] = {1, 0, 1, 1};
    (void)state;
    trial_setup s = masked;
    s.request.size[0] = s.request.size[1] = 32; /* one pixel in the last layer */
    trial t = trial_open(&s);
    assert_refused(braid_plan_set_mask(t.plan, 0, all_but_one), BRAID_ERROR_ARGUMENT, "expected");
    OK(braid_plan_set_mask(t.plan, 0, blanked[2])); /* none at all is fine */
    assert_refused(braid_plan_set_mask(t.plan, STREAMS, blanked[0]), BRAID_ERROR_ARGUMENT,
                   "stream from 0 to 2|got stream 3");
    assert_refused(braid_plan_set_mask(t.plan, -1, blanked[0]), BRAID_ERROR_ARGUMENT, "got stream -1");
    s.request.mask = 0;
    braid_plan *without = trial_plan(&t, &s.request);
    assert_refused(braid_plan_set_mask(without, 0, blanked[0]), BRAID_ERROR_ARGUMENT, "of a plan without mask");
    braid_plan_destroy(without);
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c6_blanked_rows_are_zero),
        cmocka_unit_test(c6_active_rows_are_as_if_alone),
        cmocka_unit_test(what_the_blanked_hold_is_nothing),
        cmocka_unit_test(c7_statistics_of_the_active),
        cmocka_unit_test(c8_blanked_stream_learns_nothing),
        cmocka_unit_test(c9_blanked_stream_is_a_mix_without_it),
        cmocka_unit_test(masks_are_refused),
    };
    return cmocka_run_group_tests_name("plan/network_masks", tests, NULL, NULL);
}
