/*
 * What the calls of oneDNN for avgpool share: it has windows of one size alone, so the output must divide the input.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_VENDOR_AVGPOOL_ONEDNN_H
#define BRAID_KERNELS_CPU_VENDOR_AVGPOOL_ONEDNN_H

#include "kernels/cpu/vendor/onednn_layer.h"

/* Why oneDNN cannot do a problem; NULL: it can. */
const char *avgpool_onednn_supports(const braid_problem *p, const device *d);

#if BRAID_HAVE_DNNL_H

/* The pixels of both sides, and the call of the forward pass for `kind` of propagation. */
dnnl_status_t avgpool_onednn_forward(const braid_problem *p, int i, dnnl_prop_kind_t kind, onednn_call *call,
                                     dnnl_memory_desc_t *x, dnnl_memory_desc_t *y);

#endif
#endif
