/*
 * The end of the rows of lines.h on AMX: sums wait beside the output, where the bias is added and each is rounded once.
 *
 * SPDX-License-Identifier: MIT
 */
#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,f16c")))
#define VEC_BF16
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/amx.h"
#include "kernels/cpu/tile/vec_any.h"

VEC_TARGET static void put_rows(const lines_rows *g, const float *sums) {
    for (int i = 0; i < g->m; i++, sums += AMX_COLUMNS) {
        for (int j = 0; j < g->n; j += VEC_LANES) {
            const int stream = g->past_caches && g->n - j >= VEC_LANES;
            const vec sum = vec_add(vec_load(sums + j), vec_load(g->init + j));
            vec_put(g->out, i * g->out_pitch + j, sum, g->n - j, BRAID_DTYPE_BF16, stream);
        }
    }
}

void amx_line_rows(const lines_rows *g, amx_window_product *product) {
    float sums[AMX_ROWS * AMX_COLUMNS] __attribute__((aligned(64)));
    const amx_windows windows = {.rows = g->m,
                                 .column_tiles = g->n > AMX_SIDE ? 2 : 1,
                                 .units = (int)(g->depth / 2),
                                 .taps = g->taps,
                                 .stride = g->step * 2,
                                 .source = g->source,
                                 .offset = g->offset,
                                 .b = g->panel,
                                 .c = sums};
    product(&windows);
    put_rows(g, sums);
}
