/*
 * The argument of ssae.cu: the forward pass of the spectral-shape autoencoder at its smallest size.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_SSAE_SSAE_H
#define BRAID_KERNELS_CUDA_SSAE_SSAE_H

#include <stdint.h>

#define SSAE_MELS 64   /* M: numbers of a slice */
#define SSAE_FRAMES 5  /* F: slices of a sample */
#define SSAE_SLICE 64  /* S: numbers of an encoded slice */
#define SSAE_LATENT 32 /* L: rows of the basis */
#define SSAE_COMBINED (SSAE_FRAMES * SSAE_SLICE)

#define SSAE_THREADS 256
#define SSAE_FEW 4   /* samples of a block at a time where there are not many */
#define SSAE_MANY 16 /* and where there are */

/* Rows in shared memory are floats, 4 further on than they are long: neighbouring rows begin in other banks. Beside the
 * matrices and the lengths of the basis a block has, for every sample, its slices, its part of the sums on their way to
 * the latent numbers, and two rows of those. */
#define SSAE_GAP 4
#define SSAE_PARTIALS 2048 /* numbers, 8 of each thread */
#define SSAE_MATRICES                                                                     \
    (2 * SSAE_SLICE * (SSAE_MELS + SSAE_GAP) + SSAE_LATENT * (SSAE_COMBINED + SSAE_GAP) + \
     SSAE_LATENT * (SSAE_LATENT + SSAE_GAP) + SSAE_LATENT)
#define SSAE_SHARED(samples) \
    (4 * (SSAE_MATRICES + SSAE_PARTIALS + (samples) * (SSAE_COMBINED + SSAE_GAP + 2 * SSAE_LATENT)))

/* Matrices and biases are of the numbers' type, the parameters of the norms are f32; all begin at multiples of 16. */
struct ssae_args {
    const void *x;                         /* [batch][F * M] */
    void *y;                               /* the same */
    const float *slice_gamma, *slice_beta; /* [M] */
    const void *encoder, *encoder_bias;    /* [S][M], [S] */
    const void *basis;                     /* [L][F * S] */
    const float *latent_gamma, *latent_beta;
    const void *mixer, *mixer_bias;     /* [L][L], [L] */
    const void *decoder, *decoder_bias; /* [M][S], [M] */
    int64_t batch;
    float eps;       /* of the norms */
    float basis_eps; /* least length that a row of the basis is divided by */
};

#define SSAE_ARGS_BYTES 120

#ifdef __cplusplus
static_assert(sizeof(struct ssae_args) == SSAE_ARGS_BYTES, "kernel and launcher agree on ssae_args");
#else
_Static_assert(sizeof(struct ssae_args) == SSAE_ARGS_BYTES, "kernel and launcher agree on ssae_args");
#endif

#endif
