/*
 * Scratch memory for parts that run at the same time. A part takes a slot and gives it back: the lowest
 * free one, so that few threads keep using the same, warm memory. Which slot a part gets must not matter to
 * its results. Where there are more threads than slots, a part waits for one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_CONV_SCRATCH_H
#define BRAID_KERNELS_CPU_CONV_SCRATCH_H

#include <stdatomic.h>
#include <stdint.h>

#define SCRATCH_MOST 64

typedef struct scratch_slots {
    _Atomic uint64_t taken; /* a bit for each slot */
    int count;              /* 1 to SCRATCH_MOST */
} scratch_slots;

static inline int scratch_take(scratch_slots *s) {
    for (;;) {
        uint64_t taken = atomic_load_explicit(&s->taken, memory_order_relaxed);
        int slot = ~taken ? __builtin_ctzll(~taken) : SCRATCH_MOST;
        if (slot < SCRATCH_MOST && slot < s->count &&
            atomic_compare_exchange_weak_explicit(&s->taken, &taken, taken | UINT64_C(1) << slot, memory_order_acquire,
                                                  memory_order_relaxed))
            return slot;
    }
}

static inline void scratch_give(scratch_slots *s, int slot) {
    atomic_fetch_and_explicit(&s->taken, ~(UINT64_C(1) << slot), memory_order_release);
}

#endif
