/*
 * A tensor map of the emulator: what cuda_tensor says, as the bytes of a cuda_tensor_map.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_TENSOR_H
#define BRAID_TESTS_EMU_TENSOR_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_TENSOR_MARK 0x7E4502u

typedef struct emu_tensor {
    unsigned char *memory;
    int64_t pitch[4]; /* bytes, of dimensions 1 on */
    uint32_t size[5];
    uint32_t mark;   /* EMU_TENSOR_MARK: the map was filled */
    uint16_t box[5]; /* im2col: channels and pixels of a load */
    uint8_t step[5];
    uint8_t rank, element_bytes, swizzle, is_im2col;
    int16_t lower[2], upper[2]; /* im2col: of width and height */
} emu_tensor;

/* False where the map was never filled. */
int emu_tensor_read(emu_tensor *to, const cuda_tensor_map *map);

/* What a box takes in shared memory: rows of box[0] elements. */
int64_t emu_tensor_rows(const emu_tensor *t);
int64_t emu_tensor_bytes(const emu_tensor *t);

/* Where the element at a shared address lies under the swizzle. */
uint32_t emu_tensor_swizzled(const emu_tensor *t, uint32_t address);

/* Where row `i` of the box that begins at `at` begins, inside the tensor or not along the row; NULL: the whole row is
 * beyond an edge. `offset`: of an im2col load. */
unsigned char *emu_tensor_row(const emu_tensor *t, int64_t i, const int *at, const int *offset);

#ifdef __cplusplus
}
#endif

#endif
