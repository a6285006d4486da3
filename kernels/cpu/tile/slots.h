/*
 * Scratch memory for parts that run at the same time. A part takes a slot and gives it back: the lowest
 * free one, so that few threads keep using the same, warm memory. Which slot a part gets must not matter to
 * its results. Where there are more threads than slots, a part waits for one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_SLOTS_H
#define BRAID_KERNELS_CPU_TILE_SLOTS_H

#include <stdatomic.h>
#include <stdint.h>

#define SLOTS_MOST 64

typedef struct slots {
    _Atomic uint64_t taken; /* a bit for each slot */
    int count;              /* 1 to SLOTS_MOST */
} slots;

static inline int slots_take(slots *s) {
    for (;;) {
        uint64_t taken = atomic_load_explicit(&s->taken, memory_order_relaxed);
        int slot = ~taken ? __builtin_ctzll(~taken) : SLOTS_MOST;
        if (slot < SLOTS_MOST && slot < s->count &&
            atomic_compare_exchange_weak_explicit(&s->taken, &taken, taken | UINT64_C(1) << slot, memory_order_acquire,
                                                  memory_order_relaxed))
            return slot;
    }
}

static inline void slots_give(slots *s, int slot) {
    atomic_fetch_and_explicit(&s->taken, ~(UINT64_C(1) << slot), memory_order_release);
}

#endif
