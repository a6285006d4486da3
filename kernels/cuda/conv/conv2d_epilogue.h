/*
 * The epilogue of a convolution's problem, for launchers of conv2d and conv2d_scale_bias_act.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_CONV2D_EPILOGUE_H
#define BRAID_KERNELS_CUDA_CONV_CONV2D_EPILOGUE_H

#include "kernels/cuda/tile/epilogue.h"
#include "kernels/cuda/launch/launch.h"

/* Why kernels with such an epilogue cannot do the problem, in words; NULL: they can. */
const char *conv2d_epilogue_refuses(const braid_problem *p);

/* That of stream i. */
struct epilogue conv2d_epilogue(const braid_problem *p, const buffers *b, int i);

#endif
