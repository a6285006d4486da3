/*
 * dropout on rows: the random words of a few thousand numbers at a time, then the numbers themselves. Bits belong to
 * a number's place without gaps, so they are made for whole stretches however the rows lie.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/elementwise/dropout.h"

#include "core/threads.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/flat_parts.h"

typedef struct dropout {
    const flat_parts *k;
    const buffers *b;
    int from, to;
    int32_t limit;
    float factor;
} dropout;

static void run_part(void *context, int64_t part) {
    const dropout *a = context;
    const flat_parts *k = a->k;
    const int64_t *key = a->b->plane[DROPOUT_KEY][0];
    uint32_t words[FLAT_PIECE + 4 + FLAT_WORDS_SLACK];
    float room[FLAT_PIECE];
    flat_piece piece = {0};
    int64_t made_from = 0, made_to = 0;
    while (flat_parts_next(k, part, &piece)) {
        const void *x = a->b->plane[a->from][piece.plane];
        void *out = a->b->plane[a->to][piece.plane];
        if (piece.first + piece.count > made_to) {
            made_from = piece.first / 4 * 4;
            int64_t blocks = at_most(ceil_div(piece.end - made_from, 4), FLAT_PIECE / 4 + 1);
            const rng bits = {(uint64_t)key[0], dropout_stream(key, piece.plane), (uint64_t)made_from};
            k->flat->random_words(words, &bits, blocks);
            made_to = made_from + 4 * blocks;
        }
        const float *from = flat_load(k, x, piece.at, piece.count, room);
        float *to = flat_place(k, out, piece.at, room);
        k->flat->keep(to, from, words + (piece.first - made_from), a->limit, a->factor, piece.count);
        flat_store(k, out, piece.at, piece.count, to);
    }
    flat_parts_clear(k, part, a->b->plane[a->to][piece.plane]);
}

void dropout_run(const braid_problem *p, const void *state, const buffers *b, int from, int to) {
    dropout a = {state, b, from, to, dropout_limit(p), (float)(1 / (1 - p->rate))};
    threads_for(a.k->parts, run_part, &a);
}
