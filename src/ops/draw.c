/*
 * Random problems: a function of the seed alone, small, with odd sizes, several streams of unequal
 * channels, masks, pitches and every option of the op. Tests, `braid check` and fuzzing draw from here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/planes.h"
#include "ops/op.h"
#include "ops/shapes.h"

static braid_dtype draw_dtype(rng *r) {
    int64_t percent = rng_between(r, 1, 100);
    if (percent <= 60) return BRAID_DTYPE_F32;
    if (percent <= 75) return BRAID_DTYPE_F16;
    return percent <= 90 ? BRAID_DTYPE_BF16 : BRAID_DTYPE_F64;
}

static void draw_streams(rng *r, braid_problem *p, const op_info *o) {
    int one = o->max_streams == 1 || draw_chance(r, 45);
    p->streams = one ? 1 : (int)rng_between(r, 2, draw_chance(r, 80) ? 4 : o->max_streams);
    p->batch = rng_between(r, 1, draw_chance(r, 80) ? 3 : 9);
    p->mask = (o->fields & FIELD_BIT(mask)) && draw_chance(r, 20);
    for (int i = 0; i < p->streams; i++) p->in_channels[i] = draw_size(r, 48);
}

/* Some planes get a pixel pitch wider than their channels. */
static void draw_pitches(rng *r, braid_problem *p, const op_info *o) {
    if (!draw_chance(r, 15)) return;
    for (int i = 0; i < p->streams; i++) {
        if (o->fields & FIELD_BIT(cp)) p->in_pitch[i] = planes_pitch16(p->in_channels[i], p->dtype);
        if (o->fields & FIELD_BIT(kp)) p->out_pitch[i] = p->out_channels[i] + rng_between(r, 0, 3);
    }
}

braid_status braid_problem_draw(braid_op_id id, braid_pass pass, uint64_t seed, braid_problem *problem) {
    const op_info *o = op_find(id);
    if (!o || (unsigned)pass >= BRAID_PASS_COUNT || !(o->passes & (1u << pass)) || !problem) {
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_problem_draw: expected an op, one of its passes and a problem, got op %d pass %d", (int)id,
                    (int)pass);
    }
    rng r = {.seed = seed, .stream = (uint64_t)id * BRAID_PASS_COUNT + (uint64_t)pass};
    braid_problem p = {.op = id, .pass = pass, .dtype = draw_dtype(&r)};
    draw_streams(&r, &p, o);
    o->draw(&r, &p);
    draw_pitches(&r, &p, o);
    TRY(braid_problem_check(&p));
    *problem = p;
    return BRAID_OK;
}

static int64_t in_eights(int64_t number) { return (number + 7) / 8 * 8; }

void problem_round(braid_problem *p) {
    if (p->groups) p->groups = 1;
    p->padding_mode = BRAID_PADDING_ZEROS;
    p->integrated_in = in_eights(p->integrated_in);
    p->integrated_out = in_eights(p->integrated_out);
    for (int i = 0; i < p->streams; i++) {
        p->in_channels[i] = in_eights(p->in_channels[i]);
        p->out_channels[i] = in_eights(p->out_channels[i]);
        p->in_pitch[i] = in_eights(p->in_pitch[i]);
        p->out_pitch[i] = in_eights(p->out_pitch[i]);
    }
}

/* A convolution as networks have most of them: 3x3, every pixel or every other one, 16 channels and more. */
static void draw_usual(rng *r, braid_problem *p) {
    const int64_t stride = draw_chance(r, 30) ? 2 : 1;
    for (int axis = 0; axis < 2; axis++) {
        p->filter[axis] = 3;
        p->padding[axis] = p->dilation[axis] = 1;
        p->stride[axis] = stride;
        p->extra_padding[axis] = 0;
    }
    p->bias = p->bias && draw_chance(r, 30);
    for (int i = 0; i < p->streams; i++) {
        p->in_channels[i] += p->in_channels[i] < 16 ? 8 : 0;
        p->out_channels[i] += p->out_channels[i] < 16 ? 8 : 0;
    }
}

/* One as networks begin with: 1 to 4 channels of an image, with or without lanes between pixels. */
static void draw_stem(rng *r, braid_problem *p) {
    for (int axis = 0; axis < 2; axis++) {
        p->filter[axis] = rng_between(r, 1, 3) * 2 + 1;
        p->padding[axis] = p->filter[axis] / 2;
        p->stride[axis] = rng_between(r, 1, 2);
        p->dilation[axis] = 1;
        p->extra_padding[axis] = 0;
        p->size[axis] += 8;
    }
    p->add = 0;
    for (int i = 0; i < p->streams; i++) p->in_channels[i] = rng_between(r, 1, 4);
    if (draw_chance(r, 50)) return;
    p->size[1] = in_eights(p->size[1]); /* lines of whole 16 bytes */
    p->bias = 0;
    for (int i = 0; i < p->streams; i++) p->in_pitch[i] = p->in_channels[i];
}

braid_status braid_problem_draw_round(braid_op_id id, braid_pass pass, uint64_t seed, braid_problem *problem) {
    const uint64_t conv = FIELD_BIT(rs) | FIELD_BIT(g);
    TRY(braid_problem_draw(id, pass, seed, problem));
    rng r = {.seed = seed, .stream = 1u << 20 | ((uint64_t)id * BRAID_PASS_COUNT + (uint64_t)pass)};
    braid_problem p = *problem;
    int64_t kind = rng_between(&r, 1, 100);
    p.dtype = kind <= 40 ? BRAID_DTYPE_F16 : kind <= 80 ? BRAID_DTYPE_BF16 : BRAID_DTYPE_F32;
    p.tf32 = p.dtype == BRAID_DTYPE_F32 && op_find(id)->fields & FIELD_BIT(tf32) && draw_chance(&r, 50);
    for (int i = 0; i < p.streams; i++) p.in_pitch[i] = p.out_pitch[i] = 0; /* as the channels ask for */
    problem_round(&p);
    if ((op_find(id)->fields & conv) == conv) {
        int64_t percent = rng_between(&r, 1, 100);
        if (percent <= 60) draw_usual(&r, &p);
        if (percent > 85) draw_stem(&r, &p);
    }
    const fail_kept kept = fail_keep();
    if (braid_problem_check(&p) == BRAID_OK)
        *problem = p;
    else
        fail_put_back(&kept);
    return BRAID_OK;
}
