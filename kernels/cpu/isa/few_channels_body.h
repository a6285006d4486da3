/*
 * The register tiles of few_channels.h, in terms of gemm_body.h. Included after it; the weight gradient for tiles of
 * floats only.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/few_channels.h"
#include "kernels/cpu/isa/vec_any.h"

/* m and two are constants where these are inlined. Rows come out as floats, in whole vectors. */
VEC_INLINE void line_rows_tile(const few_channels_rows *g, const int m, const int two) {
    vec sum[TILE_ROWS], high[TILE_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        sum[i] = vec_load(g->init);
        if (two) high[i] = vec_load(g->init + VEC_LANES);
    }
    const unit *panel = g->panel;
    const unsigned char *source = g->source;
    const int64_t whole = g->depth / UNIT_NUMBERS, number = (int64_t)sizeof(unit) / UNIT_NUMBERS;
    const int64_t depth = g->depth, step = g->step, pitch = g->out_pitch;
    float *out = g->out;
    for (int64_t t = 0; t < g->taps; t++) {
        const unit *row[TILE_ROWS];
#pragma GCC unroll 16
        for (int i = 0; i < m; i++) row[i] = (const void *)(source + (g->offset[t * depth] + i * step) * number);
        for (int64_t d = 0; d < whole; d++, panel += TILE_COLUMNS) {
            TILE_STEP(row[i][d])
        }
        if (depth % UNIT_NUMBERS) {
            TILE_STEP(unit_last(row[i] + whole))
            panel += TILE_COLUMNS;
        }
    }
    if (g->past_caches) {
#pragma GCC unroll 16
        for (int i = 0; i < m; i++) {
            vec_stream(out + i * pitch, sum[i]);
            if (two) vec_stream(out + i * pitch + VEC_LANES, high[i]);
        }
        return;
    }
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        vec_store(out + i * pitch, sum[i]);
        if (two) vec_store(out + i * pitch + VEC_LANES, high[i]);
    }
}

#if UNIT_NUMBERS == 1
VEC_INLINE void line_outer_tile(const few_channels_outer *g, const int m, const int two) {
    vec sum[TILE_ROWS], high[TILE_ROWS];
    const float *row[TILE_ROWS], *panel = g->column;
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        sum[i] = vec_zero();
        high[i] = vec_zero();
        row[i] = g->source + g->offset[i];
    }
    const int64_t end = g->count * g->step, step = g->step, pitch = g->column_pitch;
    for (int64_t at = 0; at < end; at += step, panel += pitch) {
        TILE_STEP(row[i][at])
    }
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        float *out = g->out + i * g->out_pitch;
        vec_store(out, g->accumulate ? vec_add(vec_load(out), sum[i]) : sum[i]);
        if (two) vec_store(out + VEC_LANES, g->accumulate ? vec_add(vec_load(out + VEC_LANES), high[i]) : high[i]);
    }
}

VEC_TARGET static void run_line_outer(const few_channels_outer *g) {
    switch (g->m) { TILE_CASES(line_outer_tile) }
}
#endif

VEC_TARGET static void whole_line_rows(const few_channels_rows *g) {
    switch (g->m) { TILE_CASES(line_rows_tile) }
}

/* dtype is a constant where this is inlined. Stores what was made beside the output. */
VEC_INLINE void put_line_rows(const few_channels_rows *g, const float *from, const braid_dtype dtype) {
    const int stream = g->past_caches && is_whole(g->n);
    for (int i = 0; i < g->m; i++, from += TILE_COLUMNS) {
        for (int j = 0; j < g->n; j += VEC_LANES)
            vec_put(g->out, i * g->out_pitch + j, vec_load(from + j), g->n - j, dtype, stream);
    }
}

VEC_TARGET static void fence_lines(void) { vec_fence(); }

VEC_TARGET static void run_line_rows(const few_channels_rows *g) {
    if (g->dtype == BRAID_DTYPE_F32 && is_whole(g->n)) {
        whole_line_rows(g);
        return;
    }
    few_channels_rows whole = *g;
    float edge[TILE_ROWS][TILE_COLUMNS];
    whole.out = edge[0];
    whole.out_pitch = TILE_COLUMNS;
    whole.past_caches = 0;
    whole_line_rows(&whole);
    if (g->dtype == BRAID_DTYPE_F32)
        put_line_rows(g, edge[0], BRAID_DTYPE_F32);
    else if (g->dtype == BRAID_DTYPE_BF16)
        put_line_rows(g, edge[0], BRAID_DTYPE_BF16);
    else
        put_line_rows(g, edge[0], BRAID_DTYPE_F16);
}
