/*
 * What lanes of a warp tell each other, for the host compiler. All 32 lanes take part: the mask must be full.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_WARP_H
#define BRAID_TESTS_EMU_WARP_H

#include <string.h>

#include "tests/emu/block.h"

/* The value of another lane. */
template <class value>
static inline value emu_shuffle(unsigned mask, value mine, unsigned lane, const char *file, int line) {
    static_assert(sizeof(value) <= 64, "one value for each lane");
    value theirs;
    if (mask != 0xFFFFFFFFu) emu_fail("a shuffle of part of a warp", EMU_HERE);
    memcpy(emu_warp_slot(threadIdx.x % 32), &mine, sizeof mine);
    emu_warp_meet(EMU_HERE);
    memcpy(&theirs, emu_warp_slot(lane % 32), sizeof theirs);
    emu_warp_meet(EMU_HERE);
    return theirs;
}

template <class value> static inline value __shfl_sync(unsigned mask, value mine, int lane, EMU_HERE_PARAMETERS) {
    return emu_shuffle(mask, mine, (unsigned)lane, file, line);
}

template <class value> static inline value __shfl_xor_sync(unsigned mask, value mine, int bits, EMU_HERE_PARAMETERS) {
    return emu_shuffle(mask, mine, threadIdx.x % 32 ^ (unsigned)bits, file, line);
}

template <class value>
static inline value __shfl_down_sync(unsigned mask, value mine, unsigned by, EMU_HERE_PARAMETERS) {
    const unsigned lane = threadIdx.x % 32;
    return emu_shuffle(mask, mine, lane + by < 32 ? lane + by : lane, file, line);
}

/* A bit for every lane: does it hold? */
static inline unsigned __ballot_sync(unsigned mask, bool holds, EMU_HERE_PARAMETERS) {
    unsigned bits = 0;
    for (unsigned lane = 0; lane < 32; lane++) bits |= (unsigned)emu_shuffle(mask, holds, lane, file, line) << lane;
    return bits;
}

#endif
