/*
 * What the layers of cuDNN and cuBLASLt share. Both work stream by stream, and both offer several ways for one shape,
 * in the order of their own predictions. A kernel takes one of them by its rank, so that the race finds the fastest
 * and a choice that is written down gives the same bits again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_VENDOR_VENDOR_H
#define BRAID_KERNELS_CUDA_VENDOR_VENDOR_H

#include "backend/cuda/cuda.h"
#include "kernels/kernel.h"

#define VENDOR_RANKS 4 /* ways that are looked at */
#define VENDOR_MAX_OPERANDS 6

/* The first stream with the shape of stream i. */
int vendor_same_shape(const braid_problem *p, int i);

/* 1 where every pitch equals its channels: a library writes channels only. */
int vendor_is_dense(const int64_t *channels, const int64_t *pitch, int streams);

/* Why a kernel of f32 leaves a problem of TF32 to another of the same library, and the other way round. */
extern const char vendor_other_products[];

/* The refusal of a device that has failed in a call. */
static inline refusal vendor_device_failed(void) { return refusal_unable("the device has failed"); }

/* Predicted seconds on tensor cores, or without them in f32. */
double vendor_cost(const braid_problem *p);
double vendor_cost_at(const braid_problem *p, double flops_per_s);

#endif
