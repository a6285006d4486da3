/*
 * Orders by the counter generator, see the header. Fisher and Yates from the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/order.h"

#include <string.h>

#include "core/memory.h"
#include "core/rng.h"

#define PURPOSE_SHUFFLE ((uint64_t)0x53 << 56) /* in the upper bits of the generator's stream; the epoch in the lower */
#define PURPOSE_STRATIFIED ((uint64_t)0x54 << 56)
#define HELD_OUT_SEED 42

void order_shuffle(int64_t *order, int64_t count, uint64_t seed, uint64_t epoch) {
    rng r = {.seed = seed, .stream = PURPOSE_SHUFFLE | epoch};
    for (int64_t i = 0; i < count; i++) order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = rng_between(&r, 0, i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* Samples sorted by class: class c has those from begin[c] to begin[c + 1]. */
static void sort_by_class(int64_t *sorted, int64_t *begin, const order_classes *of) {
    for (int c = 0; c <= of->classes; c++) begin[c] = 0;
    for (int64_t i = 0; i < of->samples; i++) begin[of->labels[i] + 1]++;
    for (int c = 0; c < of->classes; c++) begin[c + 1] += begin[c];
    for (int64_t i = 0; i < of->samples; i++) sorted[begin[of->labels[i]]++] = i;
    for (int c = of->classes; c > 0; c--) begin[c] = begin[c - 1];
    begin[0] = 0;
}

static void draw(int64_t *order, int64_t draws, const int64_t *sorted, const int64_t *begin, int classes, rng r) {
    for (int64_t i = 0; i < draws; i++) {
        int64_t c;
        do c = rng_between(&r, 0, classes - 1);
        while (begin[c] == begin[c + 1]);
        order[i] = sorted[rng_between(&r, begin[c], begin[c + 1] - 1)];
    }
}

braid_status order_stratified(int64_t *order, int64_t draws, const order_classes *of, uint64_t seed, uint64_t epoch) {
    void *sorted = NULL, *begin = NULL;
    if (of->samples == 0) return BRAID_OK;
    braid_status status = memory_alloc((size_t)of->samples, sizeof(int64_t), "samples by class", &sorted);
    if (!status) status = memory_alloc((size_t)of->classes + 1, sizeof(int64_t), "samples by class", &begin);
    if (!status) {
        sort_by_class(sorted, begin, of);
        draw(order, draws, sorted, begin, of->classes, (rng){.seed = seed, .stream = PURPOSE_STRATIFIED | epoch});
    }
    memory_free(sorted);
    memory_free(begin);
    return status;
}

braid_status order_hold_out(uint8_t *mask, int64_t count, int64_t *held) {
    void *memory;
    TRY(memory_alloc((size_t)count, sizeof(int64_t), "an order", &memory));
    const int64_t *order = memory;
    order_shuffle(memory, count, HELD_OUT_SEED, 0);
    memset(mask, 0, (size_t)count);
    *held = count / 10;
    for (int64_t i = 0; i < *held; i++) mask[order[i]] = 1;
    memory_free(memory);
    return BRAID_OK;
}
