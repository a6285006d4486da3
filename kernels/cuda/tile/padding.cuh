/*
 * What a convolution reads beyond the edge of an axis, and the other way round: which places
 * beyond the edge read a given pixel. A place is a coordinate from -before to size + after - 1.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PADDING_CUH
#define BRAID_KERNELS_CUDA_TILE_PADDING_CUH

#include "braid.h"

#define PADDING_NONE (-1)    /* no pixel is read there: the value is zero */
#define PLACE_NONE INT32_MIN /* there is no such place */

/* The pixel that is read at a place; PADDING_NONE where it is zero. */
static __device__ __forceinline__ int32_t padding_pixel(int mode, int32_t place, int32_t size) {
    if (place >= 0 && place < size) return place;
    switch (mode) {
        case BRAID_PADDING_REFLECT: return place < 0 ? -place : 2 * (size - 1) - place;
        case BRAID_PADDING_REPLICATE: return place < 0 ? 0 : size - 1;
        case BRAID_PADDING_CIRCULAR: return place < 0 ? place + size : place - size;
        default: return PADDING_NONE;
    }
}

/* The place number `slot` that reads a pixel, PLACE_NONE where it has no such place. Slot 0 is the pixel's own
 * place; the launcher counts the slots (padding_slots in kernels/cuda/conv/conv2d.c). */
static __device__ __forceinline__ int32_t padding_place(int mode, int32_t pixel, int32_t size, int32_t before,
                                                        int32_t after, int32_t slot) {
    int32_t place = PLACE_NONE;
    if (slot == 0) return pixel;
    if (mode == BRAID_PADDING_REFLECT) {
        place = slot == 1 ? -pixel : 2 * (size - 1) - pixel;
    } else if (mode == BRAID_PADDING_CIRCULAR) {
        place = slot == 1 ? pixel - size : pixel + size;
    } else if (mode == BRAID_PADDING_REPLICATE) {
        if (slot <= before) {
            if (pixel == 0) place = -slot;
        } else if (pixel == size - 1) {
            place = size - 1 + slot - before;
        }
    }
    const bool beyond = place < 0 || place >= size;
    return beyond && place >= -before && place < size + after ? place : PLACE_NONE;
}

#endif
