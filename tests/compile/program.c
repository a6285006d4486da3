/*
 * The stages that make a program of a graph: shapes, what is dropped, what becomes a fused op, what is made again,
 * where everything lies, what waits for what.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/net_facts.h"
#include "tests/support/trial.h"

#define TINY .width = 1.0 / 16

/* A network and its program. */
typedef struct given_program {
    braid_net *net;
    program p;
} given_program;

static given_program build(const char *kind, const braid_net_options *net, const program_options *options) {
    given_program g = {.net = given_net(kind, net)};
    OK(program_build(graph_of_net(g.net), options, &g.p));
    return g;
}

static void discard(given_program *g) {
    program_free(&g->p);
    braid_net_destroy(g->net);
}

static program_options images(braid_phase phase) {
    return (program_options){.phase = phase,
                             .batch = 2,
                             .size = {37, 45},
                             .mask = 1,
                             .loss = phase == BRAID_PHASE_TRAIN ? BRAID_LOSS_CROSS_ENTROPY : BRAID_LOSS_NONE};
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static void assert_shape(const given_program *g, const char *weight, int64_t h, int64_t w, int64_t c) {
    const graph_node *n = reader(g->net, weight);
    const plane_shape *s = &g->p.tensors[n->plane[CONV2D_Y][0]].shape;
    if (s->rank != 4 || s->dims[0] != 2 || s->dims[1] != h || s->dims[2] != w || s->dims[3] != c)
        fail_msg("%s: expected 2x%dx%dx%d, got %dx%dx%dx%d", weight, (int)h, (int)w, (int)c, (int)s->dims[0],
                 (int)s->dims[1], (int)s->dims[2], (int)s->dims[3]);
}

static void shapes_at_odd_sizes(void **state) {
    const program_options o = images(BRAID_PHASE_TRAIN);
    (void)state;
    given_program g = build("linet18", &(braid_net_options){TINY}, &o);
    assert_shape(&g, "conv1.stream_weights.0", 19, 23, 4);
    assert_shape(&g, "layer1.0.conv1.stream_weights.0", 10, 12, 4);
    assert_shape(&g, "layer2.0.conv1.stream_weights.0", 5, 6, 8);
    assert_shape(&g, "layer2.0.downsample.0.stream_weights.0", 5, 6, 8);
    assert_shape(&g, "layer3.1.conv2.stream_weights.0", 3, 3, 16);
    assert_shape(&g, "layer4.1.conv2.stream_weights.0", 2, 2, 32);
    const plane_shape *output = &g.p.tensors[g.p.output].shape;
    assert_true(output->dims[0] == 2 && output->dims[output->rank - 1] == 15);
    for (int t = 0; t < g.p.tensor_count; t++) { /* a gradient is as large as what it is the gradient of */
        const tensor *one = &g.p.tensors[t];
        if (one->home == HOME_GRADIENT)
            assert_int_equal(one->bytes, 4 * plane_elements(&g.net->graph.planes[one->plane]));
    }
    discard(&g);
}

/* ---- Fusing --------------------------------------------------------------------------------- */

static int count_calls(const program *p, braid_op_id op, braid_segment segment) {
    int count = 0;
    for (int j = 0; j < p->call_count; j++) count += p->calls[j].problem.op == op && p->calls[j].segment == segment;
    return count;
}

static int count_natural(const program *p) {
    int count = 0;
    for (int j = 0; j < p->call_count; j++) count += p->calls[j].natural;
    return count;
}

/* The forward calls of a program are these, and no others. */
typedef struct expected_calls {
    braid_op_id op;
    int count;
} expected_calls;

static void assert_calls(const program *p, const expected_calls *rows, int count) {
    int all = 0;
    for (int j = 0; j < count; j++) {
        int got = count_calls(p, rows[j].op, FORWARD);
        if (got != rows[j].count)
            fail_msg("%s: expected %d calls, got %d", braid_op_id_name(rows[j].op), rows[j].count, got);
        all += got;
    }
    for (int j = 0; j < p->call_count; j++) all -= p->calls[j].segment == FORWARD;
    assert_int_equal(all, 0);
}
#define ASSERT_CALLS(p, rows) assert_calls(p, rows, (int)(sizeof rows / sizeof rows[0]))

/* 20 convolutions: that before the pooling, 8 with relu, 8 that end a block, 3 of them with a downsampling. */
static void linet_is_fused(void **state) {
    static const expected_calls train[] = {
        {BRAID_OP_CONV2D, 20},     {BRAID_OP_INTEGRATE, 20}, {BRAID_OP_BN_STATS_FINALIZE, 20},
        {BRAID_OP_BN_ACT_POOL, 1}, {BRAID_OP_BN_ACT, 8},     {BRAID_OP_BN_ADD_ACT, 8},
        {BRAID_OP_AVGPOOL, 1},     {BRAID_OP_LINEAR, 1},     {BRAID_OP_DROPOUT, 1},
        {BRAID_OP_SOFTMAX_XENT, 1}};
    static const expected_calls eval[] = {
        {BRAID_OP_CONV2D, 20}, {BRAID_OP_INTEGRATE, 20}, {BRAID_OP_BN_FINALIZE, 10}, {BRAID_OP_BN_ACT_POOL, 1},
        {BRAID_OP_BN_ACT, 8},  {BRAID_OP_BN_ADD_ACT, 8}, {BRAID_OP_AVGPOOL, 1},      {BRAID_OP_LINEAR, 1}};
    const braid_net_options net = {.streams = 3, TINY, .dropout = 0.5};
    program_options o = images(BRAID_PHASE_TRAIN);
    int normed = 0;
    (void)state;
    given_program g = build("linet18", &net, &o);
    ASSERT_CALLS(&g.p, train);
    assert_int_equal(count_natural(&g.p), g.net->graph.node_count + 1); /* the loss */
    for (int j = 0; j < g.p.call_count; j++)
        normed += g.p.calls[j].segment == FORWARD && g.p.calls[j].problem.residual_norm;
    assert_int_equal(normed, 3);
    discard(&g);
    o = images(BRAID_PHASE_EVAL);
    g = build("linet18", &net, &o);
    ASSERT_CALLS(&g.p, eval);
    assert_int_equal(count_natural(&g.p), g.net->graph.node_count - 21); /* statistics of the batch, and dropout */
    for (int j = 0; j < g.p.call_count; j++) {
        const braid_problem *of = &g.p.calls[j].problem;
        if (op_of(of)->fields & FIELD_BIT(phase)) assert_int_equal(of->phase, BRAID_PHASE_EVAL);
    }
    discard(&g);
}

static void mcresnet_is_fused(void **state) {
    static const expected_calls train[] = {{BRAID_OP_CONV2D, 20},      {BRAID_OP_BN_STATS_FINALIZE, 20},
                                           {BRAID_OP_BN_ACT_POOL, 1},  {BRAID_OP_BN_ACT, 8},
                                           {BRAID_OP_BN_ADD_ACT, 8},   {BRAID_OP_AVGPOOL, 1},
                                           {BRAID_OP_FUSE, 2},         {BRAID_OP_LINEAR_ACT, 1},
                                           {BRAID_OP_SOFTMAX_XENT, 1}, {BRAID_OP_LINEAR, 2}};
    static const expected_calls eval[] = {{BRAID_OP_CONV2D_SCALE_BIAS_ACT, 20},
                                          {BRAID_OP_BN_FINALIZE, 5},
                                          {BRAID_OP_MAXPOOL, 1},
                                          {BRAID_OP_AVGPOOL, 1},
                                          {BRAID_OP_FUSE, 2},
                                          {BRAID_OP_LINEAR_ACT, 1},
                                          {BRAID_OP_LINEAR, 2}};
    const braid_net_options net = {TINY, .fusion = BRAID_FUSION_GATED};
    program_options o = images(BRAID_PHASE_TRAIN);
    int added = 0;
    (void)state;
    given_program g = build("mcresnet18", &net, &o);
    ASSERT_CALLS(&g.p, train);
    assert_int_equal(count_natural(&g.p), g.net->graph.node_count); /* with the loss, without a cast from f32 to f32 */
    discard(&g);
    o = images(BRAID_PHASE_EVAL);
    g = build("mcresnet18", &net, &o);
    ASSERT_CALLS(&g.p, eval);
    assert_int_equal(count_natural(&g.p), g.net->graph.node_count - 21);
    for (int j = 0; j < g.p.call_count; j++) added += g.p.calls[j].problem.add;
    assert_int_equal(added, 8);
    discard(&g);
}

static const call *last_call(const program *p, braid_op_id op) {
    for (int j = p->call_count - 1; j >= 0; j--) {
        if (p->calls[j].problem.op == op && p->calls[j].segment == FORWARD) return &p->calls[j];
    }
    fail_msg("there is no %s", braid_op_id_name(op));
    return NULL;
}

static int always(void *user, const braid_problem *p) {
    (void)user;
    (void)p;
    return 1;
}

/* All of it is one call in evaluation, where a kernel does that; in training its layers are needed. */
static void ssae_is_fused(void **state) {
    static const expected_calls layers[] = {{BRAID_OP_LAYERNORM, 2},
                                            {BRAID_OP_LINEAR_ACT, 2},
                                            {BRAID_OP_ROWNORM, 1},
                                            {BRAID_OP_MATMUL, 2},
                                            {BRAID_OP_LINEAR, 1}};
    static const expected_calls whole[] = {{BRAID_OP_SSAE, 1}};
    program_options o = {.phase = BRAID_PHASE_EVAL, .batch = 7};
    (void)state;
    given_program g = build("ssae-medium", NULL, &o);
    ASSERT_CALLS(&g.p, layers);
    int natural = count_natural(&g.p);
    discard(&g);
    o.pays = always;
    g = build("ssae-medium", NULL, &o);
    ASSERT_CALLS(&g.p, whole);
    assert_int_equal(count_natural(&g.p), natural);
    const braid_problem *p = &last_call(&g.p, BRAID_OP_SSAE)->problem;
    assert_int_equal(p->batch, 7);
    assert_int_equal(p->segments, 10);
    assert_int_equal(p->in_channels[0], 128);
    assert_int_equal(p->out_channels[0], 256);
    assert_int_equal(p->integrated_out, 128);
    discard(&g);
    o.phase = BRAID_PHASE_TRAIN;
    o.loss = BRAID_LOSS_MSE;
    g = build("ssae-medium", NULL, &o);
    assert_int_equal(count_calls(&g.p, BRAID_OP_SSAE, FORWARD), 0);
    discard(&g);
}

/* ---- What nobody needs ---------------------------------------------------------------------- */

/* The last block of a LINet normalises the integrated plane only, but in training the statistics of all move. */
static void dead_planes_are_dropped(void **state) {
    const braid_net_options net = {.streams = 3, TINY};
    (void)state;
    for (int phase = 0; phase < BRAID_PHASE_COUNT; phase++) {
        const program_options o = images((braid_phase)phase);
        given_program g = build("linet18", &net, &o);
        const call *end = last_call(&g.p, BRAID_OP_BN_ADD_ACT);
        assert_int_equal(end->problem.streams, 1);
        assert_int_equal(end->problem.in_channels[0], 32);
        assert_int_equal(end->problem.in_channels[1], 0);
        assert_int_equal(end->tensor[BN_FUSED_X][1], -1);
        assert_int_equal(end->tensor[BN_FUSED_X][0], last_node(g.net, BRAID_OP_INTEGRATE)->plane[INTEGRATE_Y][0]);
        assert_int_equal(last_call(&g.p, BRAID_OP_CONV2D)->problem.streams, 3);
        int eval = phase == BRAID_PHASE_EVAL;
        assert_int_equal(last_call(&g.p, eval ? BRAID_OP_BN_FINALIZE : BRAID_OP_BN_STATS_FINALIZE)->problem.streams,
                         eval ? 8 : 4);
        discard(&g);
    }
}

/* A normalisation that leads nowhere still moves its running statistics, in training only; its gradients are none. */
static void what_leads_nowhere(void **state) {
    (void)state;
    for (int phase = 0; phase < BRAID_PHASE_COUNT; phase++) {
        braid_net *net = given_net(NULL, NULL);
        braid_value x = braid_net_input(net, "x", 4);
        braid_value side = braid_net_layer(net, "side", x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
        (void)braid_net_layer(net, NULL, side, &(braid_problem){.op = BRAID_OP_ACT});
        x = braid_net_layer(net, NULL, x, &(braid_problem){.op = BRAID_OP_AVGPOOL});
        braid_net_output(net,
                         braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {3}}));
        const program_options o = images((braid_phase)phase);
        given_program g = {.net = net};
        OK(program_build(graph_of_net(net), &o, &g.p));
        assert_int_equal(count_calls(&g.p, BRAID_OP_BN_STATS_FINALIZE, FORWARD), phase == BRAID_PHASE_TRAIN);
        assert_int_equal(count_calls(&g.p, BRAID_OP_BN_APPLY, FORWARD), 0);
        assert_int_equal(count_calls(&g.p, BRAID_OP_ACT, FORWARD) + count_calls(&g.p, BRAID_OP_BN_ACT, FORWARD), 0);
        assert_int_equal(count_calls(&g.p, BRAID_OP_BN_BWD_REDUCE, BACKWARD), 0);
        discard(&g);
    }
}

/* ---- Made again ----------------------------------------------------------------------------- */

static int reads_tensor(const call *c, int tensor_index) {
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        for (int i = 0; op_is_input(op_role(&c->problem, slot)) && i < o->planes(&c->problem, slot); i++) {
            if (c->tensor[slot][i] == tensor_index) return 1;
        }
    }
    return 0;
}

/* A call that is made again stands right before the first that reads it. */
static void cheap_calls_are_made_again(void **state) {
    program_options o = images(BRAID_PHASE_TRAIN);
    int again = 0;
    (void)state;
    given_program g = build("linet18", &(braid_net_options){TINY}, &o);
    for (int j = 0; j < g.p.call_count; j++) {
        const call *c = &g.p.calls[j];
        if (!c->made_again) continue;
        again++;
        assert_true(op_of(&c->problem)->is_cheap && c->segment == BACKWARD && c->natural == 0);
        int first = -1;
        for (int k = 0; k < g.p.call_count && first < 0; k++) {
            for (int i = 0; i < c->problem.streams; i++) {
                if (reads_tensor(&g.p.calls[k], c->tensor[BN_FUSED_Y][i])) first = k;
            }
        }
        assert_int_equal(first, j + 1);
    }
    assert_int_equal(again, 8);
    discard(&g);
    o.keep_all = 1;
    g = build("linet18", &(braid_net_options){TINY}, &o);
    for (int j = 0; j < g.p.call_count; j++) assert_int_equal(g.p.calls[j].made_again, 0);
    discard(&g);
}

/* The same bits, whether kept or made again, and less memory. */
static void made_again_is_the_same(void **state) {
    trial_setup s = {.kind = "linet18", .net = {.streams = 2, TINY}, .request = {.batch = 4, .size = {61, 53}}};
    const char *const names[] = {"conv1.stream_weights.1", "layer2.0.conv2.integration_from_streams.0", "fc.weight"};
    braid_plan_memory use[2];
    double *gradients[2][3];
    int64_t count[3];
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        s.request.keep_all = keep;
        trial t = trial_open(&s);
        trial_feed(&t, t.plan, 3, 0);
        trial_run(t.plan, FORWARD);
        trial_run(t.plan, BACKWARD);
        braid_plan_memory_use(t.plan, &use[keep]);
        for (int j = 0; j < 3; j++) gradients[keep][j] = trial_gradient(&t, names[j], &count[j]);
        trial_close(&t);
    }
    assert_true(use[0].arena_bytes < use[1].arena_bytes);
    for (int j = 0; j < 3; j++) {
        assert_memory_equal(gradients[0][j], gradients[1][j], (size_t)count[j] * sizeof(double));
        memory_free(gradients[0][j]);
        memory_free(gradients[1][j]);
    }
}

/* ---- Sums of gradients ---------------------------------------------------------------------- */

static int only_added(void *user, const braid_problem *p) {
    (void)user;
    return p->op != BRAID_OP_INTEGRATE_BN_BWD_APPLY && p->op != BRAID_OP_CONV2D_DGRAD_BN_REDUCE;
}

static int never_z(void *user, const braid_problem *p) {
    return only_added(user, p) && (p->op != BRAID_OP_INTEGRATE || !(p->add & INTEGRATE_ADD_Z));
}

/* Backward calls of an op, with this add. */
static int count_added(const program *p, braid_op_id op, int add) {
    int count = 0;
    for (int j = 0; j < p->call_count; j++)
        count += p->calls[j].segment == BACKWARD && p->calls[j].problem.op == op && p->calls[j].problem.add == add;
    return count;
}

/* In a LINet-18 every gradient that meets another one can be made with it: what the streams pass back beside the
 * integration (20 layers, but not the last, whose streams lead nowhere), and what comes back around a block (8 blocks,
 * the last one for the integrated pathway alone). Without a kernel for it, it is summed in calls of its own. */
static void sums_are_made_in_passes(void **state) {
    program_options o = images(BRAID_PHASE_TRAIN);
    (void)state;
    given_program g = build("linet18", &(braid_net_options){.streams = 3, TINY}, &o);
    assert_true(count_added(&g.p, BRAID_OP_ADD, 0) >= 8 + 19);
    discard(&g);
    o.pays = only_added;
    g = build("linet18", &(braid_net_options){.streams = 3, TINY}, &o);
    assert_int_equal(count_added(&g.p, BRAID_OP_ADD, 0), 0);
    assert_int_equal(count_added(&g.p, BRAID_OP_CONV2D, 1), 7);
    assert_int_equal(count_added(&g.p, BRAID_OP_INTEGRATE, INTEGRATE_ADD_R | INTEGRATE_ADD_Z), 8);
    assert_int_equal(count_added(&g.p, BRAID_OP_INTEGRATE, INTEGRATE_ADD_R), 10);
    assert_int_equal(count_added(&g.p, BRAID_OP_LI_CONV2D, 0), 1); /* the weights of the first layer, by its outputs */
    discard(&g);
    o.pays = never_z;
    g = build("linet18", &(braid_net_options){.streams = 3, TINY}, &o);
    assert_int_equal(count_added(&g.p, BRAID_OP_ADD, 0), 8);
    assert_int_equal(count_added(&g.p, BRAID_OP_CONV2D, 1), 7);
    discard(&g);
}

/* The gradients of raw outputs in front of an activation (8 layers) or of a downsampling's end (3) are made where the
 * mix is; in front of it the normalisation goes on for the integrated plane alone. Blocks that end in a sum, the last
 * of which has no streams, keep their calls; behind the pooling the mix of the first layer is part of its weights'. */
static void gradients_are_made_in_the_mix(void **state) {
    program_options o = images(BRAID_PHASE_TRAIN);
    (void)state;
    o.pays = always;
    given_program g = build("linet18", &(braid_net_options){.streams = 3, TINY}, &o);
    assert_int_equal(count_added(&g.p, BRAID_OP_INTEGRATE_BN_BWD_APPLY, 1), 8);
    assert_int_equal(count_added(&g.p, BRAID_OP_INTEGRATE_BN_BWD_APPLY, 0), 3);
    assert_int_equal(count_added(&g.p, BRAID_OP_INTEGRATE, INTEGRATE_ADD_R), 7);
    assert_int_equal(count_added(&g.p, BRAID_OP_INTEGRATE, INTEGRATE_ADD_R | INTEGRATE_ADD_Z), 0);
    for (int j = 0; j < g.p.call_count; j++) {
        const braid_problem *p = &g.p.calls[j].problem;
        int data = p->op == BRAID_OP_BN_ACT && p->pass == BRAID_PASS_BWD_DATA;
        if (data || p->op == BRAID_OP_BN_BWD_APPLY) assert_int_equal(p->streams, 1);
        if (p->op == BRAID_OP_INTEGRATE_BN_BWD_APPLY) assert_int_equal(p->streams, 3);
    }
    discard(&g);
}

/* ---- Places --------------------------------------------------------------------------------- */

/* The calls between which a tensor's memory must be its own. */
static void find_life(const program *p, int root, int *first, int *last) {
    *first = p->tensors[root].is_kept ? -1 : INT_MAX;
    *last = p->tensors[root].is_kept ? p->call_count : -1;
    for (int j = 0; j < p->call_count; j++) {
        const call *c = &p->calls[j];
        const op_info *o = op_of(&c->problem);
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            for (int i = 0; op_role(&c->problem, slot) != ROLE_NONE && i < o->planes(&c->problem, slot); i++) {
                if (p->tensors[c->tensor[slot][i]].root != root) continue;
                if (j < *first) *first = j;
                if (j > *last) *last = j;
            }
        }
    }
}

/* One piece of the arena. */
typedef struct piece {
    size_t begin, end;
    int first, last;
} piece;

static int list_pieces(const program *p, const size_t *bytes, const size_t *offset, piece *out) {
    int count = 0;
    for (int t = 0; t < p->tensor_count; t++) {
        const tensor *one = &p->tensors[t];
        piece x = {one->offset, one->offset + one->bytes, 0, 0};
        find_life(p, t, &x.first, &x.last);
        if (one->home == HOME_PLACED && one->root == t && one->bytes && x.first <= x.last) out[count++] = x;
    }
    for (int j = 0; j < p->call_count; j++) {
        if (bytes[j]) out[count++] = (piece){offset[j], offset[j] + bytes[j], j, j};
    }
    return count;
}

static void check_places(const char *kind, const braid_net_options *net, const program_options *o) {
    given_program g = build(kind, net, o);
    program *p = &g.p;
    size_t *bytes = NULL, *offset = NULL, sum = 0, end = 0;
    piece *pieces = NULL;
    rng r = {.seed = 9};
    OK(memory_calloc((size_t)p->call_count, sizeof *bytes, "bytes", (void **)&bytes));
    OK(memory_calloc((size_t)p->call_count, sizeof *offset, "offsets", (void **)&offset));
    OK(memory_calloc((size_t)(p->call_count + p->tensor_count), sizeof *pieces, "pieces", (void **)&pieces));
    for (int j = 0; j < p->call_count; j++) bytes[j] = rng_u32(&r) % 3 ? rng_u32(&r) % 5000 : 0;
    OK(program_place(p, bytes, offset));
    int count = list_pieces(p, bytes, offset, pieces), together = 0;
    for (int j = 0; j < count; j++) {
        assert_true(pieces[j].begin % MEMORY_DEVICE_ALIGNMENT == 0 && pieces[j].end <= p->arena_bytes);
        sum += (pieces[j].end - pieces[j].begin + MEMORY_DEVICE_ALIGNMENT - 1) / MEMORY_DEVICE_ALIGNMENT *
               MEMORY_DEVICE_ALIGNMENT;
        end = pieces[j].end > end ? pieces[j].end : end;
        for (int k = 0; k < j; k++) {
            if (pieces[j].first > pieces[k].last || pieces[k].first > pieces[j].last) continue;
            together++;
            if (pieces[j].begin < pieces[k].end && pieces[k].begin < pieces[j].end)
                fail_msg("%s: two pieces that live together overlap", kind);
        }
    }
    assert_true(count > 5 && together > count / 2);
    assert_true(p->arena_bytes <= p->sum_bytes && p->arena_bytes >= end && p->arena_bytes < end + 256);
    assert_int_equal(p->sum_bytes, sum);
    if (o->phase == BRAID_PHASE_TRAIN && o->size[0] > 0) assert_true(p->arena_bytes < p->sum_bytes * 3 / 4);
    memory_free(bytes);
    memory_free(offset);
    memory_free(pieces);
    discard(&g);
}

static void places_do_not_overlap(void **state) {
    const program_options train = images(BRAID_PHASE_TRAIN), eval = images(BRAID_PHASE_EVAL);
    program_options rows = {.batch = 7, .loss = BRAID_LOSS_MSE}, large = {.batch = 3, .size = {86, 86}};
    (void)state;
    check_places("linet18", &(braid_net_options){.streams = 3, TINY, .dropout = 0.5}, &train);
    check_places("linet18", &(braid_net_options){.streams = 3, TINY}, &eval);
    check_places("mcresnet18", &(braid_net_options){TINY, .fusion = BRAID_FUSION_GATED}, &train);
    check_places("mcresnet18", &(braid_net_options){TINY}, &eval);
    check_places("ssae", NULL, &rows);
    rows.loss = BRAID_LOSS_CROSS_ENTROPY;
    check_places("mlp", &(braid_net_options){.layers = {20, 30, 30, 10}}, &rows);
    large.loss = BRAID_LOSS_CROSS_ENTROPY;
    check_places("lenet86", NULL, &large);
}

/* ---- Dependencies --------------------------------------------------------------------------- */

/* Memory that a step reads or writes. */
typedef struct span {
    const char *begin, *end;
    int is_written;
} span;

static int list_spans(const step *s, span *out) {
    const braid_problem *p = &s->op->problem;
    int count = 0, is_pack = s->part == STEP_PACK;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        braid_operand_info info;
        if (op_role(p, slot) == ROLE_NONE || (is_pack && !(s->op->kernel->functions->pack_reads >> slot & 1))) continue;
        OK(op_operand_info(p, slot, &info));
        for (int i = 0; i < info.planes; i++) {
            const char *begin = s->buffers.plane[slot][i];
            out[count++] = (span){begin, begin + info.bytes[i], info.role != BRAID_ROLE_IN};
        }
    }
    const char *workspace = s->buffers.workspace;
    if (s->op->workspace_bytes) out[count++] = (span){workspace, workspace + s->op->workspace_bytes, 1};
    return count;
}

/* 1 where step b reads or writes what a writes, or writes what a reads. */
static int must_wait(const step *a, const step *b) {
    span x[OP_MAX_OPERANDS * BRAID_MAX_PLANES + 1], y[OP_MAX_OPERANDS * BRAID_MAX_PLANES + 1];
    int count = list_spans(a, x), others = list_spans(b, y);
    for (int j = 0; j < count; j++) {
        for (int k = 0; k < others; k++) {
            int touch = x[j].begin < y[k].end && y[k].begin < x[j].end;
            if (touch && (x[j].is_written || y[k].is_written)) return 1;
        }
    }
    return 0;
}

/* depends_on counts the steps that must have ended and that no other of them waits for. */
static void check_dependencies(const trial_setup *setup) {
    static unsigned char waits[400][400], behind[400][400];
    trial t = trial_open(setup);
    int n = t.plan->step_count, beside = 0;
    assert_true(n <= 400);
    memset(behind, 0, sizeof behind);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++)
            behind[j][i] = waits[j][i] = (unsigned char)must_wait(&t.plan->steps[i], &t.plan->steps[j]);
        for (int i = 0; i < j; i++) {
            for (int k = 0; k < i && behind[j][i]; k++) behind[j][k] |= behind[i][k];
        }
        int direct = 0;
        for (int i = 0; i < j; i++) {
            int through_another = 0;
            for (int k = i + 1; k < j; k++) through_another |= behind[j][k] && behind[k][i];
            direct += waits[j][i] && !through_another;
        }
        braid_step_info info;
        OK(braid_plan_step(t.plan, j, &info));
        if (info.depends_on != direct) fail_msg("step %d: waits for %d, expected %d", j, info.depends_on, direct);
        beside += j > 0 && !behind[j][j - 1];
    }
    assert_true(beside > 0); /* some may run side by side */
    trial_close(&t);
}

static void steps_wait_for_what_they_read(void **state) {
    const trial_setup linet = {.kind = "linet18",
                               .net = {.streams = 2, TINY},
                               .request = {.batch = 2, .size = {37, 45}, .optimiser = BRAID_OPTIMISER_SGD}},
                      mlp = {.kind = "mlp",
                             .net = {.layers = {9, 8, 7}},
                             .request = {.batch = 2, .optimiser = BRAID_OPTIMISER_ADAM}};
    (void)state;
    check_dependencies(&linet);
    check_dependencies(&mlp);
}

/* ---- Order ---------------------------------------------------------------------------------- */

static void runs_have_an_order(void **state) {
    const trial_setup s = {
        .kind = "mlp", .net = {.layers = {9, 8, 7}}, .request = {.batch = 2, .optimiser = BRAID_OPTIMISER_SGD}};
    (void)state;
    trial t = trial_open(&s);
    double seconds[64];
    assert_refused(braid_plan_run(t.plan, BACKWARD), BRAID_ERROR_ARGUMENT, "a forward run before every backward");
    assert_refused(braid_plan_run(t.plan, UPDATE), BRAID_ERROR_ARGUMENT, "expected a backward run before an update");
    assert_refused(braid_plan_run(t.plan, FORWARD | UPDATE), BRAID_ERROR_ARGUMENT, "expected a backward run");
    trial_run(t.plan, FORWARD);
    assert_refused(braid_plan_run(t.plan, UPDATE), BRAID_ERROR_ARGUMENT, "expected a backward run before an update");
    trial_run(t.plan, BACKWARD);
    assert_refused(braid_plan_run(t.plan, BACKWARD), BRAID_ERROR_ARGUMENT, "a forward run before every backward");
    trial_run(t.plan, UPDATE);
    trial_run(t.plan, FORWARD | BACKWARD | UPDATE);
    assert_refused(braid_plan_run(t.plan, 0), BRAID_ERROR_ARGUMENT, "bits of braid_segment, got 0");
    assert_refused(braid_plan_run(t.plan, 8), BRAID_ERROR_ARGUMENT, "bits of braid_segment, got 8");
    assert_refused(braid_plan_run(NULL, FORWARD), BRAID_ERROR_ARGUMENT, "expected a plan, got NULL");
    assert_refused(braid_plan_profile(t.plan, FORWARD, 0, seconds), BRAID_ERROR_ARGUMENT, "rounds|got 0");
    assert_true(t.plan->step_count <= 64);
    OK(braid_plan_profile(t.plan, FORWARD | BACKWARD, 3, seconds));
    for (int j = 0; j < t.plan->step_count; j++) assert_true((seconds[j] > 0) == (t.plan->steps[j].segment != UPDATE));
    braid_plan *eval = trial_plan(&t, &(braid_plan_request){.phase = BRAID_PHASE_EVAL, .batch = 2});
    assert_refused(braid_plan_run(eval, FORWARD | BACKWARD), BRAID_ERROR_ARGUMENT, "forward alone|evaluation");
    braid_plan_destroy(eval);
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_at_odd_sizes),        cmocka_unit_test(linet_is_fused),
        cmocka_unit_test(mcresnet_is_fused),          cmocka_unit_test(ssae_is_fused),
        cmocka_unit_test(dead_planes_are_dropped),    cmocka_unit_test(what_leads_nowhere),
        cmocka_unit_test(cheap_calls_are_made_again), cmocka_unit_test(made_again_is_the_same),
        cmocka_unit_test(sums_are_made_in_passes),    cmocka_unit_test(gradients_are_made_in_the_mix),
        cmocka_unit_test(places_do_not_overlap),      cmocka_unit_test(steps_wait_for_what_they_read),
        cmocka_unit_test(runs_have_an_order),
    };
    return cmocka_run_group_tests_name("compile/program", tests, NULL, NULL);
}
