/*
 * cast among f32, f16 and bf16, chunk by chunk of pixels. From one half to the other, numbers pass through a few
 * floats on the stack.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/threads.h"
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/parts.h"

#define FLOATS_AT_ONCE 1024

typedef struct casting {
    const braid_problem *p;
    const chunks *k;
    const buffers *b;
} casting;

static const halves *halves_of(const lanes *l, braid_dtype dtype) {
    return dtype == BRAID_DTYPE_BF16 ? &l->bf16 : &l->f16;
}

static void cast_halves(const lanes *l, braid_dtype to_dtype, uint16_t *to, braid_dtype dtype, const uint16_t *from,
                        int64_t count) {
    float floats[FLOATS_AT_ONCE];
    for (int64_t at = 0; at < count; at += FLOATS_AT_ONCE) {
        int64_t some = at_most(count - at, FLOATS_AT_ONCE);
        halves_of(l, dtype)->widen(floats, from + at, some);
        halves_of(l, to_dtype)->narrow(to + at, floats, some);
    }
}

static void cast_run(const lanes *l, braid_dtype to_dtype, void *to, braid_dtype dtype, const void *from,
                     int64_t count) {
    if (dtype != BRAID_DTYPE_F32 && to_dtype != BRAID_DTYPE_F32)
        cast_halves(l, to_dtype, to, dtype, from, count);
    else if (dtype != BRAID_DTYPE_F32)
        halves_of(l, dtype)->widen(to, from, count);
    else if (to_dtype != BRAID_DTYPE_F32)
        halves_of(l, to_dtype)->narrow(to, from, count);
    else
        memcpy(to, from, (size_t)count * sizeof(float));
}

/* Zeros in every format, behind the channels of each pixel. */
static void clear_lanes(const chunks *k, int i, int64_t pixels, char *to, size_t bytes) {
    size_t pitch = (size_t)k->pitch[i] * bytes, used = (size_t)k->channels[i] * bytes;
    for (int64_t j = 0; j < pixels && used < pitch; j++) memset(to + (size_t)j * pitch + used, 0, pitch - used);
}

static void run_part(void *context, int64_t index) {
    const casting *c = context;
    const braid_problem *p = c->p;
    size_t from_bytes = dtype_bytes(p->dtype), to_bytes = dtype_bytes(p->to);
    int i;
    int64_t chunk;
    chunks_find(c->k, index, &i, &chunk);
    int64_t begin = chunk * c->k->chunk_pixels, pixels = at_most(c->k->chunk_pixels, c->k->pixels - begin);
    size_t first = (size_t)begin * (size_t)c->k->pitch[i];
    char *to = (char *)c->b->plane[CAST_Y][i] + first * to_bytes;
    const char *from = (const char *)c->b->plane[CAST_X][i] + first * from_bytes;
    cast_run(c->k->lanes, p->to, to, p->dtype, from, pixels * c->k->pitch[i]);
    clear_lanes(c->k, i, pixels, to, to_bytes);
}

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    return p->to == BRAID_DTYPE_F64 ? "only to f32, f16 and bf16" : NULL;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    casting c = {p, state, b};
    (void)d;
    threads_for(c.k->streams * c.k->count, run_part, &c);
    return BRAID_OK;
}

TILE_KERNEL(cast__cpu_lanes_avx512, lanes_avx512, supports, chunks_cost, chunks_create_bare, launch, chunks_destroy)
TILE_KERNEL(cast__cpu_lanes_avx2, lanes_avx2, supports, chunks_cost, chunks_create_bare, launch, chunks_destroy)
TILE_KERNEL(cast__cpu_lanes_portable, lanes_portable, supports, chunks_cost, chunks_create_bare, launch, chunks_destroy)
