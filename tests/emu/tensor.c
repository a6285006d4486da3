/*
 * Tensor maps of the emulator: making them, as the driver does, and finding the elements of a box.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/tensor.h"

#include <string.h>

#include "backend/cuda/cuda.h"

_Static_assert(sizeof(emu_tensor) <= CUDA_TENSOR_MAP_BYTES, "an emulated tensor map fits in the hardware's");

int emu_tensor_read(emu_tensor *to, const cuda_tensor_map *map) {
    memcpy(to, map->bytes, sizeof *to);
    return to->mark == EMU_TENSOR_MARK;
}

int64_t emu_tensor_rows(const emu_tensor *t) {
    int64_t rows = 1;
    for (int i = 1; i < (t->is_im2col ? 2 : t->rank); i++) rows *= t->box[i];
    return rows;
}

int64_t emu_tensor_bytes(const emu_tensor *t) { return emu_tensor_rows(t) * t->box[0] * t->element_bytes; }

uint32_t emu_tensor_swizzled(const emu_tensor *t, uint32_t address) {
    uint32_t rows = t->swizzle / 16u; /* 8, 4, 2 rows of 128 bytes; 0: none */
    return rows ? address ^ ((address >> 7 & (rows - 1)) << 4) : address;
}

/* The row at a place whose first coordinate is not looked at. */
static unsigned char *row_at(const emu_tensor *t, const int64_t *at) {
    unsigned char *memory = t->memory + at[0] * t->element_bytes;
    for (int i = 1; i < t->rank; i++) {
        if (at[i] < 0 || at[i] >= (int64_t)t->size[i]) return NULL;
        memory += at[i] * t->pitch[i - 1];
    }
    return memory;
}

/* Pixels go along the width, then the height, then the samples, inside the bounds of the map. */
static unsigned char *im2col_row(const emu_tensor *t, int64_t pixel, const int *at, const int *offset) {
    int64_t place[5] = {at[0], 0, 0, 0, 0}, lengths[2], from[2];
    for (int axis = 0; axis < 2; axis++) {
        int64_t bound = (int64_t)t->size[axis + 1] - 1 + t->upper[axis];
        lengths[axis] = (bound - t->lower[axis]) / t->step[axis + 1] + 1;
        from[axis] = (at[axis + 1] - t->lower[axis]) / t->step[axis + 1];
    }
    int64_t w = from[0] + pixel, h = from[1] + w / lengths[0];
    place[1] = t->lower[0] + w % lengths[0] * t->step[1] + offset[0];
    place[2] = t->lower[1] + h % lengths[1] * t->step[2] + offset[1];
    place[3] = at[3] + h / lengths[1];
    return row_at(t, place);
}

/* The hardware has no step along a row. */
unsigned char *emu_tensor_row(const emu_tensor *t, int64_t i, const int *at, const int *offset) {
    int64_t place[5] = {at[0], 0, 0, 0, 0};
    if (t->is_im2col) return im2col_row(t, i, at, offset);
    for (int axis = 1; axis < t->rank; axis++) {
        place[axis] = at[axis] + i % t->box[axis] * t->step[axis];
        i /= t->box[axis];
    }
    return row_at(t, place);
}

/* ---- What the driver refuses ----------------------------------------------------------------- */

static const char *refuses_shape(const cuda_tensor *of) {
    if (of->rank < 2 || of->rank > 5) return "rank";
    if ((uintptr_t)of->memory % 16) return "address";
    for (int i = 0; i < of->rank; i++) {
        int64_t step = of->step[i] ? of->step[i] : 1;
        if (of->size[i] < 1 || of->size[i] > UINT32_MAX) return "size";
        if (step < 1 || step > 8) return "step";
        if (i > 0 && (of->pitch[i - 1] < 1 || of->pitch[i - 1] % 16 || of->pitch[i - 1] >= (int64_t)1 << 40))
            return "pitch";
    }
    return NULL;
}

static const char *refuses_box(const cuda_tensor *of, int64_t element_bytes) {
    int64_t row = of->box[0] * element_bytes;
    for (int i = 0; i < (of->is_im2col ? 2 : of->rank); i++) {
        int64_t step = of->step[i] && !of->is_im2col ? of->step[i] : 1;
        if (of->box[i] < 1 || (of->box[i] - 1) * step >= (of->is_im2col && i == 1 ? 1024 : 256)) return "box";
    }
    if (row % 16) return "box";
    if (of->swizzle != 0 && of->swizzle != 32 && of->swizzle != 64 && of->swizzle != 128) return "swizzle";
    if (of->swizzle && row != of->swizzle) return "box of a swizzle";
    if (!of->is_im2col) return NULL;
    if (of->rank != 4) return "rank";
    for (int axis = 0; axis < 2; axis++) {
        if (of->lower[axis] < -128 || of->lower[axis] > 127 || of->upper[axis] < -128 || of->upper[axis] > 127)
            return "corner";
        if (of->size[axis + 1] - 1 + of->upper[axis] < of->lower[axis]) return "corner";
    }
    return NULL;
}

const char *cuda_refuses_tensor_maps(const device *d) {
    (void)d;
    return NULL;
}

braid_status cuda_tensor_map_make(cuda_tensor_map *to, device *d, const cuda_tensor *of) {
    int bytes = of->dtype == BRAID_DTYPE_F32 ? 4 : 2;
    const char *wrong = refuses_shape(of);
    (void)d;
    if (!wrong) wrong = refuses_box(of, bytes);
    if (wrong) return fail(BRAID_ERROR_ARGUMENT, "emulator: the %s of a tensor map is not possible", wrong);
    emu_tensor made = {.memory = (unsigned char *)(uintptr_t)of->memory,
                       .mark = EMU_TENSOR_MARK,
                       .rank = (uint8_t)of->rank,
                       .element_bytes = (uint8_t)bytes,
                       .swizzle = (uint8_t)of->swizzle,
                       .is_im2col = (uint8_t)(of->is_im2col != 0)};
    for (int i = 0; i < of->rank; i++) {
        made.size[i] = (uint32_t)of->size[i];
        made.box[i] = (uint16_t)of->box[i];
        made.step[i] = (uint8_t)(of->step[i] ? of->step[i] : 1);
        if (i > 0) made.pitch[i - 1] = of->pitch[i - 1];
    }
    for (int axis = 0; axis < 2; axis++) {
        made.lower[axis] = (int16_t)of->lower[axis];
        made.upper[axis] = (int16_t)of->upper[axis];
    }
    memset(to, 0, sizeof *to);
    memcpy(to->bytes, &made, sizeof made);
    return BRAID_OK;
}
