/*
 * conv2d: n independent convolutions, one for each stream, as one op.
 *
 *   y_i[b][p][q][k] = bias_i[k] + sum over r, s, c of
 *                     x_i[b][p*st - pad + r*dil][q*st - pad + s*dil][c] * w_i[k][r][s][c]
 *
 * (cross-correlation, as every framework computes it). Beyond the edge, x is zero or follows the
 * padding mode. With groups, output channel k sees the C/g input channels of its group. Gradients:
 * bwd_data gives dx from dy and w; bwd_weight gives dw, and dbias where there is a bias, from x and dy.
 * A blanked sample has y = 0, dx = 0 and adds nothing to dw and dbias. With add1, bwd_data gives a_i + dx_i, where
 * a_i is the gradient that x_i gets from elsewhere (a blanked sample gets its a_i alone).
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/op.h"
#include "ops/shapes.h"

int64_t conv2d_out_size(const braid_problem *p, int axis) {
    int64_t padded = p->size[axis] + 2 * p->padding[axis] + p->extra_padding[axis];
    int64_t reach = p->dilation[axis] * (p->filter[axis] - 1) + 1;
    return padded < reach ? 0 : (padded - reach) / p->stride[axis] + 1;
}

int64_t conv2d_in_index(const braid_problem *p, int axis, int64_t out, int64_t tap) {
    int64_t size = p->size[axis];
    int64_t at = out * p->stride[axis] - p->padding[axis] + tap * p->dilation[axis];
    if (at >= 0 && at < size) return at;
    switch (p->padding_mode) {
        case BRAID_PADDING_REFLECT: return at < 0 ? -at : 2 * (size - 1) - at;
        case BRAID_PADDING_REPLICATE: return at < 0 ? 0 : size - 1;
        case BRAID_PADDING_CIRCULAR: return at < 0 ? at + size : at - size;
        default: return -1;
    }
}

static braid_status check_groups(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] % p->groups || p->out_channels[i] % p->groups) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected g (groups) to divide the channels of every stream, got g%lld with c%lld and "
                        "k%lld in stream %d",
                        op_of(p)->name, (long long)p->groups, (long long)p->in_channels[i],
                        (long long)p->out_channels[i], i);
        }
    }
    return BRAID_OK;
}

static braid_status check_padding(const braid_problem *p) {
    static const char *const axis_name[] = {"height", "width"};
    for (int axis = 0; axis < 2; axis++) {
        int64_t most = p->padding[axis] + p->extra_padding[axis];
        if (p->padding_mode == BRAID_PADDING_REFLECT && most >= p->size[axis]) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected pad (padding) below the %s %lld with mode=reflect, got %lld", op_of(p)->name,
                        axis_name[axis], (long long)p->size[axis], (long long)most);
        }
        if (p->padding_mode == BRAID_PADDING_CIRCULAR && most > p->size[axis]) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected pad (padding) of at most the %s %lld with mode=circular, got %lld",
                        op_of(p)->name, axis_name[axis], (long long)p->size[axis], (long long)most);
        }
        if (conv2d_out_size(p, axis) < 1) {
            return fail(
                BRAID_ERROR_ARGUMENT,
                "%s: expected rs (filter) %lld with dil%lld to fit in the padded %s, got a %s of %lld with pad%lld",
                op_of(p)->name, (long long)p->filter[axis], (long long)p->dilation[axis], axis_name[axis],
                axis_name[axis], (long long)p->size[axis], (long long)p->padding[axis]);
        }
    }
    return BRAID_OK;
}

braid_status conv2d_check(const braid_problem *p) {
    TRY(check_groups(p));
    return check_padding(p);
}

static braid_status check(const braid_problem *p) {
    if (p->add && p->pass != BRAID_PASS_BWD_DATA)
        return fail(BRAID_ERROR_ARGUMENT, "conv2d: expected add1 with pass bwd_data, got another pass");
    return conv2d_check(p);
}

const char *conv2d_refuses_add(const braid_problem *p) {
    return p->op == BRAID_OP_CONV2D && p->add ? "does not add to what x gets from elsewhere" : NULL;
}

static int planes(const braid_problem *p, int slot) {
    if (slot == CONV2D_A) return p->add ? p->streams : 0;
    if (slot == CONV2D_BIAS) return p->bias ? p->streams : 0;
    if (slot == CONV2D_MASK) return p->mask ? p->streams : 0;
    return p->streams;
}

void conv2d_shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int64_t out_size[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    int64_t filter_channels = p->in_channels[i] / p->groups;
    switch (slot) {
        case CONV2D_X: shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out); break;
        case CONV2D_Y: shape_pixels(p, out_size, p->out_channels[i], p->out_pitch[i], out); break;
        case CONV2D_BIAS: shape_vector(p, p->out_channels[i], out); break;
        case CONV2D_MASK: shape_mask(p, out); break;
        default:
            *out = (plane_shape){
                p->dtype, 4, {p->out_channels[i], p->filter[0], p->filter[1], filter_channels}, filter_channels};
            break;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    conv2d_shape(p, slot == CONV2D_A ? CONV2D_X : slot, i, out);
}

double conv2d_flops(const braid_problem *p) {
    double pixels = (double)p->batch * (double)conv2d_out_size(p, 0) * (double)conv2d_out_size(p, 1);
    double taps = (double)p->filter[0] * (double)p->filter[1];
    double products = 0;
    for (int i = 0; i < p->streams; i++) {
        products += (double)p->out_channels[i] * (double)(p->in_channels[i] / p->groups);
    }
    return 2 * pixels * taps * products;
}

int64_t conv2d_terms(const braid_problem *p) {
    int64_t taps = p->filter[0] * p->filter[1];
    int64_t most = 1;
    for (int i = 0; i < p->streams; i++) {
        int64_t sum = taps * p->in_channels[i] / p->groups + 1;
        if (p->pass == BRAID_PASS_BWD_DATA) sum = taps * p->out_channels[i] / p->groups;
        if (sum > most) most = sum;
    }
    int64_t pixels = p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    return p->pass == BRAID_PASS_BWD_WEIGHT ? pixels : most;
}

static int64_t terms(const braid_problem *p) { return conv2d_terms(p) + p->add; }

chain_step *conv2d_chain_outputs(op_chain *c, const braid_problem *p, braid_op_id op, braid_pass pass) {
    chain_step *s = chain_add(c, p, op, pass);
    for (int axis = 0; axis < 2; axis++) s->problem.size[axis] = conv2d_out_size(p, axis);
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        s->problem.in_channels[i] = p->out_channels[i];
        s->problem.in_pitch[i] = p->out_pitch[i];
    }
    return s;
}

static void draw_axis(rng *r, braid_problem *p, int axis) {
    p->size[axis] = draw_size(r, 19);
    p->filter[axis] = draw_chance(r, 60) ? rng_between(r, 1, 3) : rng_between(r, 1, 7);
    p->dilation[axis] = draw_chance(r, 75) ? 1 : rng_between(r, 1, 3);
    p->stride[axis] = draw_chance(r, 55) ? 1 : rng_between(r, 1, 4);
    p->padding[axis] = rng_between(r, 0, p->filter[axis]);
    if (draw_chance(r, 8)) p->extra_padding[axis] = 1;
    int64_t most = p->padding_mode == BRAID_PADDING_REFLECT ? p->size[axis] - 1 : p->size[axis];
    if (p->padding_mode != BRAID_PADDING_ZEROS && p->padding[axis] + p->extra_padding[axis] > most) {
        p->padding[axis] = most;
        p->extra_padding[axis] = 0;
    }
    while (conv2d_out_size(p, axis) < 1) p->size[axis]++;
}

void conv2d_draw(rng *r, braid_problem *p) {
    p->padding_mode =
        draw_chance(r, 60) ? BRAID_PADDING_ZEROS : (braid_padding_mode)rng_between(r, 0, BRAID_PADDING_COUNT - 1);
    p->bias = draw_chance(r, 30);
    p->groups = draw_chance(r, 75) ? 1 : rng_between(r, 2, 4);
    for (int i = 0; i < p->streams; i++) {
        p->in_channels[i] *= p->groups;
        p->out_channels[i] = draw_size(r, 48) * p->groups;
    }
    if (p->groups == 1 && draw_chance(r, 12)) { /* depthwise */
        p->groups = p->in_channels[0];
        for (int i = 0; i < p->streams; i++) p->in_channels[i] = p->out_channels[i] = p->groups;
    }
    draw_axis(r, p, 0);
    draw_axis(r, p, 1);
    if (draw_chance(r, 15)) { /* the filter that networks use most, and some kernels alone */
        for (int axis = 0; axis < 2; axis++) {
            p->filter[axis] = 3;
            p->stride[axis] = p->dilation[axis] = 1;
            while (conv2d_out_size(p, axis) < 1) p->size[axis]++;
        }
    }
    while (conv2d_flops(p) > DRAW_FLOPS && p->batch > 1) p->batch--;
    while (conv2d_flops(p) > DRAW_FLOPS && (p->size[0] > 8 || p->size[1] > 8)) {
        int axis = p->size[0] > p->size[1] ? 0 : 1;
        int64_t before = p->size[axis]--;
        int64_t most = p->padding_mode == BRAID_PADDING_REFLECT ? p->size[axis] - 1 : p->size[axis];
        int fits = p->padding_mode == BRAID_PADDING_ZEROS || p->padding[axis] + p->extra_padding[axis] <= most;
        if (fits && conv2d_out_size(p, axis) >= 1) continue;
        p->size[axis] = before;
        break;
    }
}

void conv2d_shrink(braid_problem *p) {
    for (int axis = 0; axis < 2; axis++) {
        int64_t reach = p->dilation[axis] * (p->filter[axis] - 1) + 1;
        int64_t most = 12 > reach ? 12 : reach;
        if (p->size[axis] > most) p->size[axis] = most + p->size[axis] % 2;
    }
    for (int i = 0; i < p->streams && p->groups == 1; i++) {
        int dense_in = p->in_pitch[i] == p->in_channels[i], dense_out = p->out_pitch[i] == p->out_channels[i];
        p->in_channels[i] = shrink_size(p->in_channels[i], 80);
        p->out_channels[i] = shrink_size(p->out_channels[i], 80);
        if (dense_in) p->in_pitch[i] = p->in_channels[i];
        if (dense_out) p->out_pitch[i] = p->out_channels[i];
    }
}

const op_info op_conv2d = {
    .name = "conv2d",
    .summary = "2-D convolution of every stream",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = CONV2D_FIELDS | FIELD_BIT(bias) | FIELD_BIT(add),
    .max_streams = BRAID_MAX_STREAMS,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [CONV2D_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [CONV2D_W] = {"w", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [CONV2D_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [CONV2D_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [CONV2D_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN, ROLE_DIN}},
            [CONV2D_A] = {"a", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_NONE}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = conv2d_flops,
    .terms = terms,
    .draw = conv2d_draw,
    .shrink = conv2d_shrink,
};
