/*
 * What must hold for a whole network, whatever its numbers are: the mix is the sum of its parts, streams stay apart
 * until they meet, evaluation changes nothing, groups of parameters are complete, micro-batches add up to a batch, a
 * clipped gradient has the norm it was given, model files keep every bit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/safetensors.h"
#include "tests/support/given_net.h"
#include "tests/support/scratch.h"
#include "tests/support/trial.h"

#define TINY .width = 1.0 / 16
#define IMAGES .batch = 3, .size = {35, 41}

static trial open_shaken(const trial_setup *s) {
    trial t = trial_open(s);
    trial_shake(&t, 3, 1);
    trial_feed(&t, t.plan, 11, 0);
    return t;
}

static int64_t rows_of(const braid_plan *plan, int plane) {
    const plane_shape *s = &plan->program.tensors[plane].shape;
    return s->rank == 4 ? s->dims[0] * s->dims[1] * s->dims[2] : s->dims[0];
}

/* ---- C3: the mix ---------------------------------------------------------------------------- */

/* Adds matrix [K][C] times the row x to the row y. */
static void add_product(double *y, const double *matrix, const double *x, int64_t k, int64_t c) {
    for (int64_t j = 0; j < k; j++) {
        for (int64_t i = 0; i < c; i++) y[j] += matrix[j * c + i] * x[i];
    }
}

/* The row of z that output row `row` reads: the integrated pathway has the stride of the convolution. */
static const double *row_of_z(const braid_plan *plan, const graph_node *n, const trial_record *r, int64_t row) {
    const int64_t *out = plan->program.tensors[n->plane[INTEGRATE_Y][0]].shape.dims;
    const int64_t *in = plan->program.tensors[n->plane[INTEGRATE_Z][0]].shape.dims;
    int64_t b = row / (out[1] * out[2]), p = row / out[2] % out[1], q = row % out[2];
    return r->values[n->plane[INTEGRATE_Z][0]] +
           ((b * in[1] + p * n->problem.stride[0]) * in[2] + q * n->problem.stride[1]) * in[3];
}

static void check_mix(const trial *t, const graph_node *n, const trial_record *r) {
    const graph *g = t->model->graph;
    int y = n->plane[INTEGRATE_Y][0];
    int64_t k = g->planes[y].channels, rows = rows_of(t->plan, y), count;
    double *sum = NULL;
    OK(memory_calloc((size_t)(rows * k), sizeof *sum, "mix", (void **)&sum));
    for (int i = 0; i < n->problem.streams; i++) {
        int64_t c = n->problem.in_channels[i];
        double *v = trial_read(t, g->planes[n->plane[INTEGRATE_V][i]].name, &count);
        const double *x = r->values[n->plane[INTEGRATE_R][i]];
        for (int64_t row = 0; row < rows; row++) add_product(sum + row * k, v, x + row * c, k, c);
        memory_free(v);
    }
    if (n->plane[INTEGRATE_Z][0] >= 0) {
        double *w = trial_read(t, g->planes[n->plane[INTEGRATE_W][0]].name, &count);
        for (int64_t row = 0; row < rows; row++)
            add_product(sum + row * k, w, row_of_z(t->plan, n, r, row), k, n->problem.integrated_in);
        memory_free(w);
    }
    assert_true(trial_difference(r->values[y], sum, rows * k) <= 1e-12);
    memory_free(sum);
}

static void c3_mix_is_the_sum_of_its_parts(void **state) {
    const trial_setup s = {
        .kind = "linet18", .net = {.streams = 3, TINY}, .dtype = BRAID_DTYPE_F64, .request = {IMAGES}};
    int checked = 0;
    (void)state;
    trial t = open_shaken(&s);
    trial_record r = trial_record_forward(t.plan);
    for (int j = 0; j < t.model->graph->node_count; j++) {
        const graph_node *n = &t.model->graph->nodes[j];
        if (n->is_view || n->problem.op != BRAID_OP_INTEGRATE) continue;
        check_mix(&t, n, &r);
        checked++;
    }
    assert_int_equal(checked, 20);
    trial_record_free(&r);
    trial_close(&t);
}

/* ---- C5, C13: counters and evaluation ------------------------------------------------------- */

/* +1 for each forward run of training, +2 in MCResNet, where each stream counts; evaluation changes nothing. */
static void c5_c13_only_training_counts(void **state) {
    static const struct {
        const char *kind;
        double each;
    } cases[] = {{"linet18", 1}, {"mcresnet18", 2}};
    (void)state;
    for (int j = 0; j < 2; j++) {
        const trial_setup s = {.kind = cases[j].kind,
                               .net = {TINY, .dropout = 0.5},
                               .request = {IMAGES, .optimiser = BRAID_OPTIMISER_SGD}};
        trial t = open_shaken(&s);
        braid_plan *eval = trial_plan(&t, &(braid_plan_request){.phase = BRAID_PHASE_EVAL, IMAGES});
        int64_t count;
        trial_set_rates(t.plan, 0.1, 0);
        for (int turn = 1; turn <= 3; turn++) {
            trial_run(t.plan, FORWARD | BACKWARD | UPDATE);
            assert_true(trial_read_one(&t, "bn1.num_batches_tracked") == cases[j].each * turn);
            uint64_t hash = trial_hash(&t);
            trial_feed(&t, eval, 5, 0);
            trial_run(eval, FORWARD);
            double *first = trial_output(eval, &count);
            trial_run(eval, FORWARD);
            double *second = trial_output(eval, &count);
            assert_memory_equal(first, second, (size_t)count * sizeof *first);
            assert_true(hash == trial_hash(&t));
            memory_free(first);
            memory_free(second);
        }
        braid_plan_destroy(eval);
        trial_close(&t);
    }
}

/* A plan for evaluation sees what training has changed since. */
static void c13_plans_share_their_model(void **state) {
    const trial_setup s = {
        .kind = "mlp", .net = {.layers = {9, 12, 5}}, .request = {.batch = 4, .optimiser = BRAID_OPTIMISER_SGD}};
    int64_t count;
    (void)state;
    trial t = open_shaken(&s);
    braid_plan *eval = trial_plan(&t, &(braid_plan_request){.phase = BRAID_PHASE_EVAL, .batch = 4});
    trial_feed(&t, eval, 11, 0);
    trial_run(eval, FORWARD);
    double *before = trial_output(eval, &count);
    trial_run(t.plan, FORWARD | BACKWARD | UPDATE); /* no rates were set: nothing moves */
    trial_run(eval, FORWARD);
    double *same = trial_output(eval, &count);
    trial_set_rates(t.plan, 0.5, 0);
    trial_run(t.plan, FORWARD | BACKWARD | UPDATE);
    trial_run(eval, FORWARD);
    double *after = trial_output(eval, &count);
    assert_memory_equal(before, same, (size_t)count * sizeof *before);
    assert_true(trial_difference(after, before, count) > 1e-3);
    memory_free(before);
    memory_free(same);
    memory_free(after);
    braid_plan_destroy(eval);
    trial_close(&t);
}

/* ---- C10: f32 against f64 ------------------------------------------------------------------- */

static void copy_model(const trial *from, const trial *to) {
    for (int j = 0; j < braid_net_tensor_count(from->net); j++) {
        braid_tensor_info info;
        int64_t count;
        OK(braid_net_tensor(from->net, j, &info));
        double *values = trial_read(from, info.name, &count);
        trial_write(to, info.name, values, count);
        memory_free(values);
    }
}

static void c10_single_is_near_double(void **state) {
    (void)state;
    for (int j = 0; j < 8; j++) {
        trial_setup s = {.kind = "linet18", .net = {.streams = 1 + j / 2, TINY, .init = j % 2 ? "seed" : "head"}};
        s.request = (braid_plan_request){IMAGES, .phase = j % 2 ? BRAID_PHASE_EVAL : BRAID_PHASE_TRAIN};
        trial single = open_shaken(&s);
        s.dtype = BRAID_DTYPE_F64;
        trial precise = trial_open(&s);
        int64_t count;
        copy_model(&single, &precise);
        trial_feed(&precise, precise.plan, 11, 0);
        trial_run(single.plan, FORWARD);
        trial_run(precise.plan, FORWARD);
        double *got = trial_output(single.plan, &count), *expected = trial_output(precise.plan, &count);
        assert_true(trial_difference(got, expected, count) <= 1e-4);
        memory_free(got);
        memory_free(expected);
        trial_close(&single);
        trial_close(&precise);
    }
}

/* Halves are as near as they can be: the twin of the parameters holds what the parameters hold. */
static void c10_half_is_not_far(void **state) {
    static const braid_dtype halves[] = {BRAID_DTYPE_BF16, BRAID_DTYPE_F16};
    (void)state;
    for (int d = 0; d < 2; d++) {
        trial_setup s = {.kind = "mlp", .net = {.layers = {30, 40, 7}}, .dtype = halves[d], .request = {.batch = 5}};
        trial half = open_shaken(&s);
        s.dtype = BRAID_DTYPE_F64;
        trial precise = trial_open(&s);
        int64_t count;
        copy_model(&half, &precise);
        trial_feed(&precise, precise.plan, 11, 0);
        trial_run(half.plan, FORWARD);
        trial_run(precise.plan, FORWARD);
        double *got = trial_output(half.plan, &count), *expected = trial_output(precise.plan, &count);
        double difference = trial_difference(got, expected, count);
        assert_true(difference > 0 && difference <= (d ? 4e-3 : 3e-2));
        memory_free(got);
        memory_free(expected);
        trial_close(&half);
        trial_close(&precise);
    }
}

/* ---- C11: streams are plain networks -------------------------------------------------------- */

/* conv1.stream_weights.1 in LINet is conv1.stream2_weight in MCResNet. NULL: of neither stream. */
static const char *plain_name(const char *name, char *text, size_t size) {
    static const struct {
        const char *linet, *plain;
    } words[] = {{"stream_weights.0", "stream1_weight"},
                 {"stream_weights.1", "stream2_weight"},
                 {"stream_biases.0", "stream1_bias"},
                 {"stream_biases.1", "stream2_bias"}};
    for (size_t j = 0; j < sizeof words / sizeof words[0]; j++) {
        const char *at = strstr(name, words[j].linet);
        if (!at) continue;
        snprintf(text, size, "%.*s%s", (int)(at - name), name, words[j].plain);
        return text;
    }
    return NULL;
}

static int copy_streams(const trial *linet, const trial *plain) {
    const graph *g = linet->model->graph;
    int copied = 0;
    for (int j = 0; j < g->plane_count; j++) {
        char text[GRAPH_NAME];
        int64_t count;
        if (g->planes[j].kind != PLANE_PARAMETER) continue;
        double *values = trial_read(linet, g->planes[j].name, &count);
        if (plain_name(g->planes[j].name, text, sizeof text)) {
            trial_write(plain, text, values, count);
            copied++;
        } else if (strstr(g->planes[j].name, "integrat")) { /* V = 0, W_int = 0 */
            memset(values, 0, (size_t)count * sizeof *values);
            if (g->planes[j].rank == 4) trial_write(linet, g->planes[j].name, values, count);
        }
        memory_free(values);
    }
    return copied;
}

/* The node number `index` of an op. */
static const graph_node *nth_node(const graph *g, braid_op_id op, int index) {
    for (int j = 0; j < g->node_count; j++) {
        if (!g->nodes[j].is_view && g->nodes[j].problem.op == op && index-- == 0) return &g->nodes[j];
    }
    return NULL;
}

static int compare_nodes(const trial *linet, const trial *plain, const trial_record *a, const trial_record *b,
                         braid_op_id op, int slot) {
    int compared = 0;
    for (int j = 0; nth_node(plain->model->graph, op, j); j++) {
        const graph_node *x = nth_node(linet->model->graph, op, j), *y = nth_node(plain->model->graph, op, j);
        for (int i = 0; i < 2; i++) {
            int p = x->plane[slot][i], q = y->plane[slot][i];
            if (!a->values[p] || !b->values[q]) continue; /* inside a fused call, or read by nobody */
            assert_int_equal(a->counts[p], b->counts[q]);
            assert_true(trial_difference(a->values[p], b->values[q], a->counts[p]) <= 1e-12);
            compared++;
        }
    }
    return compared;
}

static void c11_streams_are_plain_networks(void **state) {
    trial_setup s = {.kind = "linet18", .net = {.streams = 2, TINY}, .dtype = BRAID_DTYPE_F64, .request = {IMAGES}};
    (void)state;
    trial linet = open_shaken(&s);
    s.kind = "mcresnet18";
    s.net = (braid_net_options){TINY};
    trial plain = open_shaken(&s);
    assert_true(copy_streams(&linet, &plain) > 2 * 50);
    trial_record a = trial_record_forward(linet.plan), b = trial_record_forward(plain.plan);
    assert_int_equal(compare_nodes(&linet, &plain, &a, &b, BRAID_OP_CONV2D, CONV2D_Y), 2 * 20);
    assert_true(compare_nodes(&linet, &plain, &a, &b, BRAID_OP_ACT, ACT_Y) >= 2 * 15);
    assert_int_equal(compare_nodes(&linet, &plain, &a, &b, BRAID_OP_MAXPOOL, MAXPOOL_Y), 2);
    trial_record_free(&a);
    trial_record_free(&b);
    trial_close(&linet);
    trial_close(&plain);
}

/* ---- C12: streams meet in the fusion only --------------------------------------------------- */

static void c12_streams_do_not_mix(void **state) {
    const trial_setup s = {.kind = "mcresnet18", .net = {TINY}, .request = {IMAGES}};
    int same = 0, changed = 0;
    (void)state;
    trial t = open_shaken(&s);
    trial_record before = trial_record_forward(t.plan);
    braid_operand_info info;
    void *memory;
    OK(braid_plan_tensor(t.plan, braid_net_stream(t.net, 1, NULL), &info, &memory));
    ((float *)memory)[17] += 1;
    trial_record after = trial_record_forward(t.plan);
    for (int plane = 0; plane < before.planes; plane++) {
        const graph_plane *what = &t.model->graph->planes[plane];
        if (!before.values[plane] || what->stream < 0) continue;
        int equal = !memcmp(before.values[plane], after.values[plane], (size_t)before.counts[plane] * sizeof(double));
        if (what->stream == 0) assert_true(equal);
        same += what->stream == 0;
        changed += what->stream == 1 && !equal;
    }
    assert_true(same > 100 && changed > 100);
    trial_record_free(&before);
    trial_record_free(&after);
    trial_close(&t);
}

/* A value, or what it is a view of. */
static const double *value_of(const trial *t, const trial_record *r, int plane) {
    const double *values = r->values[t->plan->program.tensors[plane].root];
    assert_non_null(values);
    return values;
}

static void check_fusion(const trial *t, braid_fusion fusion) {
    const graph_node *n =
        nth_node(t->model->graph, BRAID_OP_FUSE, fusion == BRAID_FUSION_GATED); /* 0: what gates read */
    trial_record r = trial_record_forward(t->plan);
    const double *y = r.values[n->plane[FUSE_Y][0]];
    int64_t c = n->problem.in_channels[0], batch = r.counts[n->plane[FUSE_Y][0]] / (2 * c), count = 0;
    double *logits = fusion == BRAID_FUSION_WEIGHTED ? trial_read(t, "fusion.logits", &count) : NULL;
    for (int64_t b = 0; b < batch; b++) {
        const double *l = fusion == BRAID_FUSION_GATED ? value_of(t, &r, n->plane[FUSE_LOGITS][0]) + 2 * b : logits;
        double share[2] = {1, 1}, sum = 0;
        for (int i = 0; i < 2 && fusion != BRAID_FUSION_CONCAT; i++) {
            share[i] = exp(l[i]) / (exp(l[0]) + exp(l[1])) * (fusion == BRAID_FUSION_WEIGHTED ? 2 : 1);
            sum += share[i];
        }
        if (fusion == BRAID_FUSION_GATED) assert_true(fabs(sum - 1) < 1e-14);
        for (int64_t j = 0; j < 2 * c; j++) {
            double f = value_of(t, &r, n->plane[FUSE_X][j / c])[b * c + j % c];
            assert_true(fabs(y[b * 2 * c + j] - share[j / c] * f) <= 1e-12 * fabs(f));
        }
    }
    memory_free(logits);
    trial_record_free(&r);
}

static void c12_fusions_are_their_formulas(void **state) {
    (void)state;
    for (int fusion = 0; fusion < BRAID_FUSION_COUNT; fusion++) {
        const trial_setup s = {.kind = "mcresnet18",
                               .net = {TINY, .fusion = (braid_fusion)fusion},
                               .dtype = BRAID_DTYPE_F64,
                               .request = {IMAGES}};
        trial t = open_shaken(&s);
        check_fusion(&t, (braid_fusion)fusion);
        trial_close(&t);
    }
}

/* ---- C14: groups ---------------------------------------------------------------------------- */

static int expected_group(const graph_plane *plane, int streams) {
    for (int i = 0; i < streams; i++) {
        char words[2][32];
        snprintf(words[0], sizeof words[0], "stream_weights.%d", i);
        snprintf(words[1], sizeof words[1], "stream_biases.%d", i);
        if (strstr(plane->name, words[0]) || strstr(plane->name, words[1])) return i;
    }
    return plane->rank == 4 ? streams : streams + 1; /* matrices of the mix; the rest */
}

/* With one group active, the parameters of that group change and no other; each has one group. */
static void c14_every_parameter_has_one_group(void **state) {
    const trial_setup s = {.kind = "linet18",
                           .net = {.streams = 2, TINY},
                           .request = {IMAGES, .optimiser = BRAID_OPTIMISER_ADAMW, .momentum = 0}};
    (void)state;
    trial t = open_shaken(&s);
    const graph *g = t.model->graph;
    int changed[4] = {0};
    assert_int_equal(braid_plan_group_count(t.plan), 4);
    for (int group = 0; group < 4; group++) {
        for (int j = 0; j < 4; j++) OK(braid_plan_set_rates(t.plan, j, &(braid_rates){0.01, 0.5, j == group}));
        double **before = NULL;
        OK(memory_calloc((size_t)g->plane_count, sizeof *before, "parameters", (void **)&before));
        int64_t count;
        for (int j = 0; j < g->plane_count; j++)
            before[j] = g->planes[j].kind == PLANE_PARAMETER ? trial_read(&t, g->planes[j].name, &count) : NULL;
        trial_run(t.plan, FORWARD | BACKWARD | UPDATE);
        for (int j = 0; j < g->plane_count; j++) {
            if (!before[j]) continue;
            double *after = trial_read(&t, g->planes[j].name, &count);
            int moved = memcmp(before[j], after, (size_t)count * sizeof *after) != 0;
            int unread = strstr(g->planes[j].name, "layer4.1.bn2.stream") || count == 0;
            if (moved != (!unread && expected_group(&g->planes[j], 2) == group))
                fail_msg("%s %s while group %d was active", g->planes[j].name, moved ? "moved" : "stayed", group);
            changed[group] += moved;
            memory_free(after);
            memory_free(before[j]);
        }
        memory_free((void *)before);
    }
    assert_int_equal(changed[0], 20 + 2 * 19); /* the last normalisation of a stream reaches nothing */
    assert_int_equal(changed[1], changed[0]);
    assert_int_equal(changed[2], 2 * 20 + 19);
    assert_int_equal(changed[3], 2 * 20 + 2);
    trial_close(&t);
}

/* ---- C15: accumulation and clipping --------------------------------------------------------- */

/* The gradient of a batch is the mean of those of its parts, where samples do not see each other. */
static void parts_add_up(const char *kind, const braid_net_options *net, const int64_t size[2], braid_dtype dtype,
                         double bound) {
    const int64_t part = 2, parts = 3;
    trial_setup s = {.kind = kind, .net = *net, .dtype = dtype};
    s.request = (braid_plan_request){.batch = part * parts, .size = {size[0], size[1]}};
    trial whole = trial_open(&s);
    s.request.batch = part;
    trial some = trial_open(&s);
    trial_feed(&whole, whole.plan, 11, 0);
    trial_run(whole.plan, FORWARD | BACKWARD);
    const graph *g = whole.model->graph;
    double *sum[64] = {0}, loss = 0;
    int64_t count;
    assert_true(g->plane_count <= 64);
    for (int64_t k = 0; k < parts; k++) {
        trial_feed(&some, some.plan, 11, k * part);
        trial_run(some.plan, FORWARD | BACKWARD);
        loss += trial_loss(some.plan) / (double)parts;
        for (int j = 0; j < g->plane_count; j++) {
            if (g->planes[j].kind != PLANE_PARAMETER) continue;
            double *gradient = trial_gradient(&some, g->planes[j].name, &count);
            if (!sum[j]) OK(memory_calloc((size_t)count, sizeof(double), "sum", (void **)&sum[j]));
            for (int64_t i = 0; i < count; i++) sum[j][i] += gradient[i] / (double)parts;
            memory_free(gradient);
        }
    }
    assert_true(fabs(loss - trial_loss(whole.plan)) <= bound * fabs(loss));
    for (int j = 0; j < g->plane_count; j++) {
        if (!sum[j]) continue;
        double *gradient = trial_gradient(&whole, g->planes[j].name, &count);
        if (!(trial_difference(sum[j], gradient, count) <= bound))
            fail_msg("%s %s: the parts differ by %.2g", kind, g->planes[j].name,
                     trial_difference(sum[j], gradient, count));
        memory_free(gradient);
        memory_free(sum[j]);
    }
    trial_close(&whole);
    trial_close(&some);
}

static void c15_micro_batches_add_up(void **state) {
    static const int64_t rows[2] = {0, 0}, images[2] = {86, 86};
    const braid_net_options layers = {.layers = {30, 40, 7}}, none = {0};
    (void)state;
    parts_add_up("mlp", &layers, rows, BRAID_DTYPE_F64, 1e-12);
    parts_add_up("mlp", &layers, rows, BRAID_DTYPE_F32, 1e-5);
    parts_add_up("ssae", &none, rows, BRAID_DTYPE_F64, 1e-12);
    parts_add_up("ssae", &none, rows, BRAID_DTYPE_F32, 1e-5);
    parts_add_up("lenet86", &none, images, BRAID_DTYPE_F32, 1e-5);
}

/* One step of plain sgd at rate 1 moves a parameter by its gradient, times limit / (norm + 1e-6). */
static void clipping_limits_the_norm(double limit, double loss_scale) {
    const trial_setup s = {.kind = "mlp",
                           .net = {.layers = {9, 12, 5}},
                           .dtype = BRAID_DTYPE_F64,
                           .request = {.batch = 4, .optimiser = BRAID_OPTIMISER_SGD, .clip_norm = limit}};
    trial t = open_shaken(&s);
    const graph *g = t.model->graph;
    double norm = 0, square = 0, moved = 0;
    int64_t count;
    trial_set_rates(t.plan, 1, 0);
    OK(braid_plan_write(t.plan, "loss_scale", &loss_scale, sizeof loss_scale));
    trial_run(t.plan, FORWARD | BACKWARD);
    for (int j = 0; j < g->plane_count; j++) {
        if (g->planes[j].kind != PLANE_PARAMETER) continue;
        double *gradient = trial_gradient(&t, g->planes[j].name, &count);
        for (int64_t i = 0; i < count; i++) square += gradient[i] * gradient[i] / (loss_scale * loss_scale);
        memory_free(gradient);
    }
    double *before = trial_read(&t, "layers.0.fc.weight", &count),
           *gradient = trial_gradient(&t, "layers.0.fc.weight", &count);
    trial_run(t.plan, UPDATE);
    double *after = trial_read(&t, "layers.0.fc.weight", &count);
    OK(braid_plan_read(t.plan, "norm", &norm, sizeof norm));
    assert_true(fabs(norm - sqrt(square)) <= 1e-12 * norm);
    double factor = (limit > 0 ? fmin(1, limit / (norm + 1e-6)) : 1) / loss_scale;
    for (int64_t j = 0; j < count; j++) {
        assert_true(fabs(before[j] - after[j] - factor * gradient[j]) <= 1e-12);
        moved += fabs(before[j] - after[j]);
    }
    assert_true(moved > 0);
    memory_free(before);
    memory_free(after);
    memory_free(gradient);
    trial_close(&t);
}

static void c15_norms_are_clipped(void **state) {
    (void)state;
    clipping_limits_the_norm(0, 1);
    clipping_limits_the_norm(0.01, 1);
    clipping_limits_the_norm(1e6, 1);
    clipping_limits_the_norm(0.01, 1024);
}

/* ---- C16: model files ----------------------------------------------------------------------- */

static void check_file(scratch *folder, braid_dtype dtype) {
    trial_setup s = {.kind = "linet18", .net = {.streams = 2, TINY}, .dtype = dtype, .request = {IMAGES}};
    trial saved = open_shaken(&s);
    trial_run(saved.plan, FORWARD);
    s.seed = 99;
    trial loaded = trial_open(&s);
    const char *path = scratch_path(folder, "model.safetensors");
    braid_net *net = NULL;
    safetensors *file = NULL;
    OK(braid_model_save(saved.model, path));
    assert_true(trial_hash(&saved) != trial_hash(&loaded));
    OK(braid_model_load(loaded.model, path));
    assert_true(trial_hash(&saved) == trial_hash(&loaded));
    OK(braid_net_from_file(path, &net));
    assert_string_equal(braid_net_describe(net), braid_net_describe(saved.net));
    OK(safetensors_open(path, &file));
    const safetensors_entry *empty = safetensors_find(file, "conv1.integrated_weight");
    assert_non_null(empty);
    assert_true(empty->rank == 4 && empty->dims[0] == 4 && empty->dims[1] == 0 && empty->begin == empty->end);
    assert_int_equal(empty->dtype, dtype == BRAID_DTYPE_F64 ? BRAID_DTYPE_F64 : BRAID_DTYPE_F32);
    assert_int_equal(safetensors_count(file), braid_net_tensor_count(saved.net));
    safetensors_close(file);
    braid_net_destroy(net);
    trial_close(&saved);
    trial_close(&loaded);
}

static void c16_model_files_keep_every_bit(void **state) {
    scratch folder;
    (void)state;
    scratch_begin(&folder);
    check_file(&folder, BRAID_DTYPE_F32);
    check_file(&folder, BRAID_DTYPE_BF16);
    check_file(&folder, BRAID_DTYPE_F64);
    scratch_end(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c3_mix_is_the_sum_of_its_parts),
        cmocka_unit_test(c5_c13_only_training_counts),
        cmocka_unit_test(c13_plans_share_their_model),
        cmocka_unit_test(c10_single_is_near_double),
        cmocka_unit_test(c10_half_is_not_far),
        cmocka_unit_test(c11_streams_are_plain_networks),
        cmocka_unit_test(c12_streams_do_not_mix),
        cmocka_unit_test(c12_fusions_are_their_formulas),
        cmocka_unit_test(c14_every_parameter_has_one_group),
        cmocka_unit_test(c15_micro_batches_add_up),
        cmocka_unit_test(c15_norms_are_clipped),
        cmocka_unit_test(c16_model_files_keep_every_bit),
    };
    return cmocka_run_group_tests_name("plan/network_checks", tests, NULL, NULL);
}
