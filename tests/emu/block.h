/*
 * What the host versions of kernels/cuda/tile ask of the emulator: shared memory by address, warps and named
 * barriers that meet, and the units of sm_90 that work on their own (copy engine, barriers in shared memory, matrix
 * units). Those do their work as late as the kernel allows: a load poisons its destination when it is asked for
 * and lands when no thread can go on without it, a store reads when its thread waits for it, a product reads its
 * operands when its warp waits for it. Whoever forgets a wait, or reuses memory too early, computes with poison.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_BLOCK_H
#define BRAID_TESTS_EMU_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "backend/cuda/tensor_map.h"

/* Every 16-bit number as a float. */
extern float emu_f16_values[65536], emu_bf16_values[65536];

/* Where a kernel called: for reports. */
struct emu_place {
    const char *file;
    int line;
};
#define EMU_HERE_PARAMETERS const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMU_HERE (emu_place{file, line})

/* Ends the block with this report. Does not return. */
[[noreturn]] void emu_fail(const char *what, emu_place at);

/* Dynamic shared memory: its first byte, and any of it by its 32-bit address. */
unsigned char *emu_shared_begin(void);
uint32_t emu_shared_address(const void *at);
unsigned char *emu_shared(uint32_t address, uint32_t bytes, emu_place at);

/* All 32 lanes of the warp meet. Is this lane the last to come? */
void emu_warp_meet(emu_place at);
bool emu_warp_is_last(void);

/* Lends 64 bytes to the other lanes: every lane gives its own, meets, reads those of others, and meets again. */
void *emu_warp_slot(unsigned lane);

/* Named barriers. */
void emu_named(int id, int threads, bool waits, emu_place at);

/* The thread has `count` registers from here on. Who wants more than the block has waits until others gave some. */
void emu_registers(int count, emu_place at);

/* Barriers in shared memory. */
void emu_phase_init(uint32_t barrier, uint32_t arrivals, emu_place at);
void emu_phase_arrive(uint32_t barrier, uint32_t bytes, emu_place at);
void emu_phase_wait(uint32_t barrier, uint32_t parity, emu_place at);

/* The copy engine. `offset` is that of an im2col map: width, then height. */
void emu_load(uint32_t to, const cuda_tensor_map *map, uint32_t barrier, int rank, const int *at, const int *offset,
              emu_place place);
void emu_store(const cuda_tensor_map *map, uint32_t from, int rank, const int *at, emu_place place);
void emu_store_commit(void);
void emu_store_wait(int left);

/* The matrix units. */
struct emu_product {
    float *sum; /* of this thread */
    int columns, is_bf16, transposed_a, transposed_b, add;
    uint64_t a, b;
    bool holds_a; /* in registers: the words of this thread */
    uint32_t words[4];
};
void emu_wgmma(const emu_product &product, emu_place at);
void emu_wgmma_commit(void);
void emu_wgmma_wait(int left, emu_place at);

#endif
