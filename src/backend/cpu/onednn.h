/*
 * oneDNN 2.x by dlopen: the functions that kernels call, under their own names less "dnnl_".
 * Only files named *onednn* include this header, because it brings oneDNN's own, which may be
 * missing when braid is built (BRAID_HAVE_DNNL_H is 0 then, and onednn_library() says so).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CPU_ONEDNN_H
#define BRAID_BACKEND_CPU_ONEDNN_H

#include "backend/cpu/cpu.h"

#if !defined(BRAID_HAVE_DNNL_H) && defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl.h>)
#define BRAID_HAVE_DNNL_H 1
#endif
#endif

#if BRAID_HAVE_DNNL_H
#include <oneapi/dnnl/dnnl.h>

#if DNNL_VERSION_MAJOR != 2
#error "braid knows oneDNN 2.x: build with -DBRAID_HAVE_DNNL_H=0"
#endif

#define ONEDNN_FUNCTIONS(X)                           \
    X(version)                                        \
    X(set_max_cpu_isa)                                \
    X(get_effective_cpu_isa)                          \
    X(engine_create)                                  \
    X(stream_create)                                  \
    X(stream_wait)                                    \
    X(stream_destroy)                                 \
    X(memory_desc_init_by_strides)                    \
    X(memory_desc_init_by_tag)                        \
    X(memory_desc_equal)                              \
    X(memory_desc_get_size)                           \
    X(memory_create)                                  \
    X(memory_destroy)                                 \
    X(memory_set_data_handle)                         \
    X(primitive_attr_create)                          \
    X(primitive_attr_destroy)                         \
    X(primitive_attr_set_scratchpad_mode)             \
    X(primitive_desc_create)                          \
    X(primitive_desc_destroy)                         \
    X(primitive_desc_query_md)                        \
    X(primitive_create)                               \
    X(primitive_destroy)                              \
    X(primitive_execute)                              \
    X(reorder_primitive_desc_create)                  \
    X(dilated_convolution_forward_desc_init)          \
    X(dilated_convolution_backward_data_desc_init)    \
    X(dilated_convolution_backward_weights_desc_init) \
    X(inner_product_forward_desc_init)                \
    X(inner_product_backward_data_desc_init)          \
    X(inner_product_backward_weights_desc_init)       \
    X(batch_normalization_forward_desc_init)          \
    X(binary_desc_init)                               \
    X(pooling_v2_forward_desc_init)                   \
    X(pooling_v2_backward_desc_init)

#define ONEDNN_POINTER(name) __typeof__(dnnl_##name) *name;
typedef struct onednn_functions {
    ONEDNN_FUNCTIONS(ONEDNN_POINTER)
} onednn_functions;
#undef ONEDNN_POINTER

/* Needs onednn_library()->reason == NULL. */
const onednn_functions *onednn(void);
dnnl_engine_t onednn_engine(void);

#endif
#endif
