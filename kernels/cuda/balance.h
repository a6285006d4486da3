/*
 * What is added to a norm before its logarithm is taken: BALANCE_EPS of ops/op.h, which device code does not see.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BALANCE_H
#define BRAID_KERNELS_CUDA_BALANCE_H

#define BALANCE_SMALL 1e-8

#endif
