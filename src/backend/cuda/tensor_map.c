/*
 * Tensor maps, encoded by the driver.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cuda/device.h"

const char *cuda_refuses_tensor_maps(const device *head) {
    const cuda_device *d = (const cuda_device *)(const void *)head;
    if (!d->driver->tensor_map_tiled || !d->driver->tensor_map_im2col)
        return "the NVIDIA driver has no cuTensorMapEncodeTiled: install a newer one";
    return NULL;
}

static int type_number(braid_dtype dtype) {
    switch (dtype) {
        case BRAID_DTYPE_F16: return CU_TENSOR_F16;
        case BRAID_DTYPE_BF16: return CU_TENSOR_BF16;
        default: return CU_TENSOR_F32;
    }
}

/* What the L2 cache reads at once: 256 bytes only where the rows of a box touch, else half would be of no use. */
static int promotion_number(const cuda_tensor *of) {
    int row_bytes = of->box[0] * (of->dtype == BRAID_DTYPE_F32 ? 4 : 2);
    return of->pitch[0] > row_bytes && row_bytes < 256 ? CU_TENSOR_PROMOTE_128 : CU_TENSOR_PROMOTE_256;
}

static int swizzle_number(int bytes) {
    switch (bytes) {
        case 32: return CU_TENSOR_SWIZZLE_32;
        case 64: return CU_TENSOR_SWIZZLE_64;
        case 128: return CU_TENSOR_SWIZZLE_128;
        default: return CU_TENSOR_SWIZZLE_NONE;
    }
}

braid_status cuda_tensor_map_make(cuda_tensor_map *to, device *head, const cuda_tensor *of) {
    cuda_device *d = cuda_device_of(head);
    unsigned long long size[5] = {0}, pitch[4] = {0};
    unsigned box[5] = {0}, step[5] = {0};
    char text[256];
    const char *reason = cuda_refuses_tensor_maps(head);
    if (reason) return fail(BRAID_ERROR_DEVICE, "%s: %s", head->name, reason);
    for (int i = 0; i < of->rank; i++) {
        size[i] = (unsigned long long)of->size[i];
        box[i] = (unsigned)of->box[i];
        step[i] = of->step[i] ? (unsigned)of->step[i] : 1;
        if (!of->is_im2col) box[i] = (box[i] - 1) * step[i] + 1; /* the driver counts what lies between, too */
        if (i > 0) pitch[i - 1] = (unsigned long long)of->pitch[i - 1];
    }
    void *memory = (void *)(uintptr_t)of->memory;
    int type = type_number(of->dtype), swizzle = swizzle_number(of->swizzle);
    int promotion = promotion_number(of);
    TRY(cuda_enter(d));
    cu_result result =
        of->is_im2col ? d->driver->tensor_map_im2col(to, type, (unsigned)of->rank, memory, size, pitch, of->lower,
                                                     of->upper, box[0], box[1], step, CU_TENSOR_NO_INTERLEAVE, swizzle,
                                                     promotion, CU_TENSOR_ZERO_FILL)
                      : d->driver->tensor_map_tiled(to, type, (unsigned)of->rank, memory, size, pitch, box, step,
                                                    CU_TENSOR_NO_INTERLEAVE, swizzle, promotion, CU_TENSOR_ZERO_FILL);
    TRY(cuda_leave(d, BRAID_OK));
    if (result == CU_SUCCESS) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected a tensor that the copy engine can describe, got %s", head->name,
                driver_error_text(d->driver, result, text, sizeof text));
}
