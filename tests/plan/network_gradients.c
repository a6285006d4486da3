/*
 * Gradients of whole networks in f64 against differences of the loss: all parameters move by a random direction d,
 * and the slope (L(w + h d) - L(w - h d)) / 2h must be the gradient times d to 1e-6, for 20 directions a network.
 *
 * A network with ReLU or max-pooling has kinks, and where one lies between w - h d and w + h d the difference says
 * nothing. There the slopes over h and over h/2 disagree, whatever the gradient is; such a direction is left out and
 * another one drawn, but of all that are drawn at most a third.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>

#include "core/memory.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

#define DIRECTIONS 20
#define MOST_DRAWN 30
#define STEP 1e-6 /* h, of a parameter that is as large as the mean square of its tensor */
#define SMOOTH_STEP 1e-5
#define MASKED_STEP 2e-7 /* of a network whose kinks lie close together */
#define DEEP_STEP 8e-9
#define BOUND 1e-6    /* of the slope */
#define AGREED 5e-7   /* slopes over h and h/2 agree to this share: no kink between them */
#define FEW_TENSORS 6 /* every second direction moves one tensor in so many, so that none hides behind another */

/* All parameters at w, and a direction, one behind the other as the model lists them. */
typedef struct point {
    trial *t;
    int64_t count;
    int tensors;
    double *w, *d, h;
    int64_t keys[8][2]; /* of dropouts, as they are before a run */
} point;

static int is_key(const graph_plane *plane) {
    return plane->kind == PLANE_STATE && plane->is_counter && plane->rank == 1;
}

/* Keys turn with every forward run: both sides of a difference must drop the same values. */
static void copy_keys(point *p, int restore) {
    const graph *g = p->t->model->graph;
    int n = 0;
    for (int j = 0; j < g->plane_count; j++) {
        if (!is_key(&g->planes[j])) continue;
        assert_true(n < 8);
        if (restore)
            OK(braid_model_write(p->t->model, g->planes[j].name, p->keys[n], sizeof p->keys[n]));
        else
            OK(braid_model_read(p->t->model, g->planes[j].name, p->keys[n], sizeof p->keys[n]));
        n++;
    }
}

/* Calls `visit` for every parameter with its numbers in an array of all. */
static void for_each_parameter(point *p, void (*visit)(point *p, const char *name, int64_t at, int64_t count)) {
    const graph *g = p->t->model->graph;
    int64_t at = 0;
    p->tensors = 0;
    for (int j = 0; j < g->plane_count; j++) {
        if (g->planes[j].kind != PLANE_PARAMETER) continue;
        visit(p, g->planes[j].name, at, plane_elements(&g->planes[j]));
        at += plane_elements(&g->planes[j]);
        p->tensors++;
    }
    p->count = at;
}

static void count_only(point *p, const char *name, int64_t at, int64_t count) {
    (void)p, (void)name, (void)at, (void)count;
}

static void read_weight(point *p, const char *name, int64_t at, int64_t count) {
    double *values = trial_read(p->t, name, &count);
    for (int64_t j = 0; j < count; j++) p->w[at + j] = values[j];
    memory_free(values);
}

static double step_now;

static void write_moved(point *p, const char *name, int64_t at, int64_t count) {
    double moved[1 << 16];
    assert_true(count <= 1 << 16);
    for (int64_t j = 0; j < count; j++) moved[j] = p->w[at + j] + step_now * p->d[at + j];
    trial_write(p->t, name, moved, count);
}

static double loss_at(point *p, double h) {
    step_now = h;
    for_each_parameter(p, write_moved);
    copy_keys(p, 1);
    trial_run(p->t->plan, FORWARD);
    return trial_loss(p->t->plan);
}

static double slope(point *p, double h) { return (loss_at(p, h) - loss_at(p, -h)) / (2 * h); }

static uint64_t direction_now;

/* N(0,1) times the size of the tensor's numbers; in every second direction most tensors stay where they are. */
static void draw_direction(point *p, const char *name, int64_t at, int64_t count) {
    rng r = {.seed = direction_now, .stream = (uint64_t)p->tensors};
    double square = 0;
    int moves = direction_now % 2 == 0 || ((int)direction_now / 2 + p->tensors) % FEW_TENSORS == 0;
    (void)name;
    for (int64_t j = 0; j < count; j++) square += p->w[at + j] * p->w[at + j];
    double size = square > 0 ? sqrt(square / (double)count) : 0.1;
    for (int64_t j = 0; j < count; j++) p->d[at + j] = moves ? size * rng_normal(&r) : 0;
}

static double product_now;

static void add_product(point *p, const char *name, int64_t at, int64_t count) {
    double *gradient = trial_gradient(p->t, name, &count);
    for (int64_t j = 0; j < count; j++) product_now += gradient[j] * p->d[at + j];
    memory_free(gradient);
}

/* Draws directions until enough of them counted. */
static void check_slopes(point *p, const char *what) {
    int counted = 0, drawn = 0;
    double worst = 0;
    for (direction_now = 1; counted < DIRECTIONS; direction_now++) {
        for_each_parameter(p, draw_direction);
        product_now = 0;
        for_each_parameter(p, add_product);
        double whole = slope(p, p->h), half = slope(p, p->h / 2);
        if (product_now == 0 && whole == 0 && half == 0) continue; /* only parameters that nothing reads */
        if (++drawn > MOST_DRAWN) fail_msg("%s: of %d directions only %d without a kink", what, drawn - 1, counted);
        if (fabs(whole - half) > AGREED * fabs(half)) continue;
        double error = fabs(half - product_now) / fmax(fabs(half), fabs(product_now));
        if (!(error <= BOUND))
            fail_msg("%s, direction %d: slope %.12g, gradient times direction %.12g, off by %.2g", what,
                     (int)direction_now, half, product_now, error);
        worst = fmax(worst, error);
        counted++;
    }
    print_message("%s: %d directions of %d, worst %.1e\n", what, counted, drawn, worst);
}

static void check_network(const char *what, const trial_setup *setup, double h, const unsigned char blanked[][4]) {
    trial_setup s = *setup;
    s.dtype = BRAID_DTYPE_F64;
    s.request.phase = BRAID_PHASE_TRAIN;
    trial t = trial_open(&s);
    point p = {.t = &t, .h = h};
    trial_shake(&t, 5, 0);
    trial_feed(&t, t.plan, 7, 0);
    for (int i = 0; blanked && i < braid_net_stream_count(t.net); i++) OK(braid_plan_set_mask(t.plan, i, blanked[i]));
    for_each_parameter(&p, count_only);
    OK(memory_calloc((size_t)p.count, sizeof *p.w, "weights", (void **)&p.w));
    OK(memory_calloc((size_t)p.count, sizeof *p.d, "direction", (void **)&p.d));
    for_each_parameter(&p, read_weight);
    copy_keys(&p, 0);
    trial_run(t.plan, FORWARD | BACKWARD);
    check_slopes(&p, what);
    memory_free(p.w);
    memory_free(p.d);
    trial_close(&t);
}

/* ---- The networks --------------------------------------------------------------------------- */

#define TINY .width = 1.0 / 16
#define LAYER(name, x, ...) braid_net_layer(net, name, x, &(braid_problem){__VA_ARGS__})
#define IMAGES .batch = 2, .size = {33, 37}

static void linet18(void **state) {
    const trial_setup s = {
        .kind = "linet18", .net = {.streams = 3, TINY, .init = "seed"}, .request = {IMAGES, .smoothing = 0.1}};
    (void)state;
    check_network("linet18", &s, STEP, NULL);
}

static void linet18_with_masks(void **state) {
    static const unsigned char blanked[3][4] = {{0, 1, 0}, {1, 0, 0}, {0, 1, 1}};
    const trial_setup s = {.kind = "linet18",
                           .net = {.streams = 3, TINY},
                           .request = {.batch = 3, .size = {33, 37}, .mask = 1, .class_weights = 1}};
    (void)state;
    check_network("linet18 with masks", &s, MASKED_STEP, blanked);
}

static void linet50(void **state) {
    const trial_setup s = {.kind = "linet50",
                           .net = {.streams = 2, TINY, .dilate = {0, 0, 1}},
                           .request = {IMAGES, .loss = BRAID_LOSS_FOCAL, .gamma = 1.5}};
    (void)state;
    check_network("linet50", &s, DEEP_STEP, NULL);
}

static void mcresnet18(void **state) {
    static const char *const names[] = {"mcresnet18 concat", "mcresnet18 weighted", "mcresnet18 gated"};
    (void)state;
    for (int fusion = 0; fusion < BRAID_FUSION_COUNT; fusion++) {
        const trial_setup s = {.kind = "mcresnet18",
                               .net = {TINY, .fusion = (braid_fusion)fusion},
                               .request = {IMAGES, .keep_all = fusion == 1}};
        check_network(names[fusion], &s, STEP, NULL);
    }
}

static void dropout(void **state) {
    const trial_setup s = {
        .kind = "linet18", .net = {.streams = 1, TINY, .dropout = 0.4}, .request = {.batch = 4, .size = {33, 37}}};
    (void)state;
    check_network("linet18 with dropout", &s, STEP, NULL);
}

/* What braid's own networks have not: a value that is pooled in two ways, a sum without a normalisation, groups, a bias
 * before a normalisation, an image seen as rows. */
static void a_network_of_ones_own(void **state) {
    const int64_t width = 6;
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_join(net, braid_net_input(net, "a", 4), braid_net_input(net, "b", 2));
    x = LAYER("conv1", x, .op = BRAID_OP_CONV2D, .out_channels = {6, 6}, .filter = {3, 3}, .groups = 2, .bias = 1);
    x = LAYER("bn1", x, .op = BRAID_OP_BATCHNORM);
    x = LAYER(NULL, x, .op = BRAID_OP_ACT);
    braid_value mean = LAYER(NULL, x, .op = BRAID_OP_AVGPOOL);
    braid_value most = LAYER(NULL, x, .op = BRAID_OP_MAXPOOL, .filter = {2, 2}, .stride = {2, 2});
    most = LAYER(NULL, most, .op = BRAID_OP_AVGPOOL);
    x = braid_net_reshape(net, braid_net_add(net, mean, most), width);
    x = LAYER("norm", x, .op = BRAID_OP_LAYERNORM);
    x = LAYER(NULL, x, .op = BRAID_OP_FUSE, .fusion = BRAID_FUSION_CONCAT);
    x = LAYER("fc1", x, .op = BRAID_OP_LINEAR, .out_channels = {9}, .bias = 1);
    x = LAYER(NULL, x, .op = BRAID_OP_ACT, .activation = BRAID_ACTIVATION_GELU);
    x = LAYER(NULL, x, .op = BRAID_OP_DROPOUT, .rate = 0.25);
    braid_net_output(net, LAYER("fc2", x, .op = BRAID_OP_LINEAR, .out_channels = {5}));
    const trial_setup s = {.built = net, .request = {.batch = 3, .size = {9, 8}, .mask = 1}};
    static const unsigned char blanked[2][4] = {{0, 1, 0}, {0, 0, 1}};
    check_network("a network of one's own", &s, STEP, blanked);
}

static void lenet86(void **state) {
    const trial_setup s = {.kind = "lenet86", .request = {.batch = 1, .size = {86, 86}}};
    (void)state;
    check_network("lenet86", &s, STEP, NULL);
}

static void ssae(void **state) {
    const trial_setup s = {.kind = "ssae", .request = {.batch = 3}};
    (void)state;
    check_network("ssae", &s, SMOOTH_STEP, NULL);
}

static void mlp(void **state) {
    const trial_setup s = {.kind = "mlp", .net = {.layers = {17, 24, 13, 9}}, .request = {.batch = 5}};
    const trial_setup fit = {
        .kind = "mlp", .net = {.layers = {17, 24, 9}}, .request = {.batch = 5, .loss = BRAID_LOSS_MSE}};
    (void)state;
    check_network("mlp", &s, STEP, NULL);
    check_network("mlp fitted by mse", &fit, STEP, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linet18), cmocka_unit_test(linet18_with_masks),
        cmocka_unit_test(linet50), cmocka_unit_test(mcresnet18),
        cmocka_unit_test(dropout), cmocka_unit_test(a_network_of_ones_own),
        cmocka_unit_test(lenet86), cmocka_unit_test(ssae),
        cmocka_unit_test(mlp),
    };
    return cmocka_run_group_tests_name("plan/network_gradients", tests, NULL, NULL);
}
