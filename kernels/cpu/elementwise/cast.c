/*
 * cast among f32, f16 and bf16, chunk by chunk of pixels. Outputs that do not fit the last cache are stored past it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/threads.h"
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"

typedef struct casting {
    const braid_problem *p;
    const chunks *k;
    const buffers *b;
    int stream; /* the outputs do not fit the last cache */
} casting;

static void run_part(void *context, int64_t index) {
    const casting *c = context;
    const braid_problem *p = c->p;
    int i;
    int64_t chunk;
    chunks_find(c->k, index, &i, &chunk);
    int64_t begin = chunk * c->k->chunk_pixels[i], pixels = at_most(c->k->chunk_pixels[i], c->k->pixels - begin);
    int64_t first = begin * c->k->pitch[i];
    void *to = plane_to(c->b->plane[CAST_Y][i], first, dtype_bytes(p->to));
    int stream = c->stream && c->k->channels[i] == c->k->pitch[i] && (uintptr_t)to % CHANNEL_STREAM_BYTES == 0;
    const void *from = plane_from(c->b->plane[CAST_X][i], first, dtype_bytes(p->dtype));
    c->k->loops->cast(&(channel_cast){p->dtype, p->to, stream, pixels * c->k->pitch[i], from, to});
    zero_gaps(to, pixels, c->k->channels[i], c->k->pitch[i], dtype_bytes(p->to));
}

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    return p->to == BRAID_DTYPE_F64 ? "only to f32, f16 and bf16" : NULL;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    casting c = {p, state, b, chunks_exceed_cache(state, dtype_bytes(p->to), d)};
    threads_for(c.k->parts, run_part, &c);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, cast, cpu_direct, channels, supports, chunks_cost, chunks_create_bare, launch, chunks_destroy)
