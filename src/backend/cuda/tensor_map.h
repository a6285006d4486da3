/*
 * A tensor map: how the GPU's copy engine sees a tensor, as 128 opaque bytes that cuda_tensor_map_make (cuda.h)
 * fills. Kernel arguments hold it by value, so CUDA C reads this file too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_TENSOR_MAP_H
#define BRAID_BACKEND_CUDA_TENSOR_MAP_H

#ifdef __cplusplus
#define CUDA_TENSOR_MAP_ALIGN alignas(64)
#else
#define CUDA_TENSOR_MAP_ALIGN _Alignas(64)
#endif

#define CUDA_TENSOR_MAP_BYTES 128

typedef struct cuda_tensor_map {
    CUDA_TENSOR_MAP_ALIGN unsigned char bytes[CUDA_TENSOR_MAP_BYTES];
} cuda_tensor_map;

#endif
