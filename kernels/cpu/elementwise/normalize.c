/*
 * normalize: one multiply-add per value, y = x * scale + shift with scale = 1 / (255 std) and shift = -mean / std
 * made in double and rounded once. Where channels and pitch repeat in the vectors of the output is worked out
 * before the pass, so that the pass is the same for every number of channels: pick bytes, widen, multiply, add.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/elementwise/image_patterns.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"

#define PART_PIXELS 4096 /* a multiple of the pixels of any period */

/* Part = stream * parts + part of its pixels. */
typedef struct work {
    const braid_problem *p;
    const images *images;
    const buffers *b;
    images_pattern pattern[BRAID_MAX_STREAMS];
    int64_t pixels, parts;
} work;

static void make_patterns(work *a) {
    images_vector *vectors = a->b->workspace;
    for (int i = 0; i < a->p->streams; i++) {
        images_channels c = {a->p->in_channels[i], a->p->in_pitch[i], a->b->plane[NORMALIZE_MEAN][i],
                             a->b->plane[NORMALIZE_STD][i], 0};
        a->pattern[i] = images_make_pattern(vectors, &c, a->images->width);
        vectors += a->pattern[i].period;
    }
}

static void run_part(void *context, int64_t part) {
    const work *a = context;
    int i = (int)(part / a->parts);
    int64_t channels = a->p->in_channels[i], pitch = a->p->in_pitch[i], first = part % a->parts * PART_PIXELS;
    int64_t count = at_most(PART_PIXELS, a->pixels - first);
    images_span span = {.x = (const uint8_t *)a->b->plane[NORMALIZE_X][i] + first * channels,
                        .room = (a->pixels - first) * channels,
                        .values = count * pitch};
    unsigned char *y = a->b->plane[NORMALIZE_Y][i];
    a->images->normalize(y + (size_t)(first * pitch) * dtype_bytes(a->p->dtype), a->p->dtype, &a->pattern[i], &span);
}

static braid_status create(const braid_problem *p, const images *m, void **state, size_t *workspace_bytes) {
    int64_t vectors = 0;
    for (int i = 0; i < p->streams; i++) vectors += images_period(p->in_pitch[i], m->width);
    *state = (void *)m;
    return size_array((size_t)vectors, sizeof(images_vector), "patterns of normalize", workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    work a = {.p = p, .images = state, .b = b, .pixels = p->batch * p->size[0] * p->size[1]};
    (void)d;
    a.parts = ceil_div(a.pixels, PART_PIXELS);
    make_patterns(&a);
    threads_for(p->streams * a.parts, run_part, &a);
    return BRAID_OK;
}

static void destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

static double cost(const braid_problem *p, const machine *on, const images *m) {
    return cost_seconds(p, on, m->flat->loops->flops, 1, 2e-6);
}

TILE_KERNELS(AVX512, normalize, cpu_direct, images, supports_all, cost, create, launch, destroy)
