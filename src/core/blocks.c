/*
 * Blocks in pieces. See the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/blocks.h"

#include <string.h>

#include "core/threads.h"

#define PIECE ((size_t)1 << 20)

typedef struct pieces {
    unsigned char *to;
    const unsigned char *a, *b;
    size_t bytes;
    unsigned char value;
    int differ;
} pieces;

static size_t piece_bytes(const pieces *p, size_t first) { return p->bytes - first < PIECE ? p->bytes - first : PIECE; }

static int64_t piece_count(size_t bytes) { return (int64_t)(bytes / PIECE + (bytes % PIECE != 0)); }

static void set_piece(void *context, int64_t i) {
    const pieces *p = context;
    size_t first = (size_t)i * PIECE;
    memset(p->to + first, p->value, piece_bytes(p, first));
}

void block_set(void *block, unsigned char value, size_t bytes) {
    pieces p = {.to = block, .bytes = bytes, .value = value};
    threads_for(piece_count(bytes), set_piece, &p);
}

static void compare_piece(void *context, int64_t i) {
    pieces *p = context;
    size_t first = (size_t)i * PIECE;
    if (memcmp(p->a + first, p->b + first, piece_bytes(p, first)) != 0)
        __atomic_store_n(&p->differ, 1, __ATOMIC_RELAXED);
}

int block_same(const void *a, const void *b, size_t bytes) {
    pieces p = {.a = a, .b = b, .bytes = bytes};
    threads_for(piece_count(bytes), compare_piece, &p);
    return !p.differ;
}
