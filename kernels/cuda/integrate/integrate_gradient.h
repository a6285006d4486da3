/*
 * The arguments of integrate's data gradients on sm_90: those of integrate_bwd_data, and of integrate_bn_bwd_apply,
 * which makes what is added to them on the way. A tile is `rows` pixels by `columns` channels of one source; the tiles
 * of columns of all sources stand side by side. The integrated pathway, where there is one, is source 0.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_GRADIENT_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_GRADIENT_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"
#include "kernels/cuda/tile/panel.h"

#define INTEGRATE_GRADIENT_THREADS 384 /* two groups that multiply, and one of which three threads work: */
#define INTEGRATE_GRADIENT_LOADER 256  /* asks for dy and weights, ... */
#define INTEGRATE_GRADIENT_ADDER 288   /* ... for what is added, ... */
#define INTEGRATE_GRADIENT_STORER 320  /* ... and stores */
#define INTEGRATE_GRADIENT_BARRIER_BYTES 1024

#define INTEGRATE_BN_BWD_APPLY_SOURCES 6 /* so that the argument has 4096 bytes at most */
#define INTEGRATE_BN_BWD_APPLY_FACTORS \
    5 /* floats that a normalisation has for each channel, as the kernel orders them */

struct integrate_gradient_source {
    const uint32_t *mask; /* NULL: none */
    int32_t first_column; /* its first tile of columns */
    int32_t adds;         /* 1: something is added to its gradient */
};

/* What both have: the work and how it is cut. */
struct integrate_gradient_cut {
    struct integrate_gradient_source source[BRAID_MAX_PLANES];
    void *z; /* dz where the pathway is strided, and what is added to it (NULL: nothing; dz itself: in place) */
    const void *added_z;
    int32_t sources, pixels, columns; /* columns: tiles of them */
    int32_t panels;                   /* of 64 outputs */
    int32_t splits;                   /* blocks that share the columns of a tile of pixels, ... */
    int32_t block_columns;            /* ... and the columns of each */
    int32_t tiles;                    /* of pixels, times splits */
    int32_t stays;      /* 1: the weights of a block stay in shared memory, it has the same columns of all its tiles */
    int32_t whole;      /* 1: a stage is all outputs of a tile's pixels, for both groups; 0: 64 of them, for one */
    int32_t stages;     /* of dy (and weights) in shared memory ... */
    int32_t results;    /* ... and of what is added, in whose place the gradients are made */
    int32_t is_strided; /* 1: dz has pixels that no output read */
    int32_t z_channels;
    int32_t out_size[2], size[2], stride[2];
};

struct integrate_gradient_args {
    cuda_tensor_map x[BRAID_MAX_PLANES];       /* dz and dr: 64 channels of a tile's pixels */
    cuda_tensor_map added[BRAID_MAX_PLANES];   /* what is added to them, alike; of a strided pathway an im2col map */
    cuda_tensor_map weights[BRAID_MAX_PLANES]; /* 64 channels of 64 outputs */
    cuda_tensor_map y;                         /* dy: 64 outputs of a tile's pixels */
    struct integrate_gradient_cut cut;
};

/* The normalisation of a stream. */
struct integrate_bn_bwd_apply_norm {
    const float *gamma, *rstd, *center, *dgamma, *dbeta;
    const float *scale, *shift; /* in front of a ReLU; NULL: there is none */
};

struct integrate_bn_bwd_apply_args {
    cuda_tensor_map x[INTEGRATE_BN_BWD_APPLY_SOURCES];       /* dz and dx */
    cuda_tensor_map added[INTEGRATE_BN_BWD_APPLY_SOURCES];   /* az and dy */
    cuda_tensor_map weights[INTEGRATE_BN_BWD_APPLY_SOURCES]; /* as above */
    cuda_tensor_map raw[INTEGRATE_BN_BWD_APPLY_SOURCES];     /* x of the streams */
    cuda_tensor_map y;                                       /* dmix */
    struct integrate_gradient_cut cut;
    struct integrate_bn_bwd_apply_norm norm[INTEGRATE_BN_BWD_APPLY_SOURCES]; /* of the streams */
    int32_t channels[INTEGRATE_BN_BWD_APPLY_SOURCES];
    int32_t batch;
};

#define INTEGRATE_GRADIENT_ARGS_BYTES 3840
#define INTEGRATE_BN_BWD_APPLY_ARGS_BYTES 3840

#ifdef __cplusplus
static_assert(sizeof(struct integrate_gradient_args) == INTEGRATE_GRADIENT_ARGS_BYTES, "kernel and launcher agree");
static_assert(sizeof(struct integrate_bn_bwd_apply_args) == INTEGRATE_BN_BWD_APPLY_ARGS_BYTES,
              "kernel and launcher agree");
#else
_Static_assert(sizeof(struct integrate_gradient_args) == INTEGRATE_GRADIENT_ARGS_BYTES, "kernel and launcher agree");
_Static_assert(sizeof(struct integrate_bn_bwd_apply_args) == INTEGRATE_BN_BWD_APPLY_ARGS_BYTES,
               "kernel and launcher agree");
#endif

#endif
