/*
 * The forward pass of the spectral-shape autoencoder (src/ops/ssae.c) in one kernel: layernorm, encoder with GELU,
 * tied basis, layernorm, mixer with GELU, the basis back, decoder. A block keeps all matrices in shared memory and
 * takes some samples at a time through everything; what lies between never leaves it. Sums are float, and nothing is
 * rounded before y. The rows of the basis stay as they are: what is made with one is divided by its length. With many
 * samples a thread makes more outputs of a product from what it reads, with few of them there are more blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/ssae/ssae.h"
#include "kernels/cuda/tile/act.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/ptx/shared.cuh"

#define SSAE_WARPS (SSAE_THREADS / 32)
#define SSAE_EVERY 0xFFFFFFFFu

template <int samples> struct ssae_memory {
    float encoder[SSAE_SLICE][SSAE_MELS + SSAE_GAP], decoder[SSAE_MELS][SSAE_SLICE + SSAE_GAP];
    float basis[SSAE_LATENT][SSAE_COMBINED + SSAE_GAP], mixer[SSAE_LATENT][SSAE_LATENT + SSAE_GAP];
    float by[SSAE_LATENT];                          /* 1 / the lengths of the basis */
    float slice[samples][SSAE_COMBINED + SSAE_GAP]; /* the slices of a sample side by side: normed, encoded, back */
    float partial[SSAE_PARTIALS];
    float latent[samples][SSAE_LATENT], mixed[samples][SSAE_LATENT];
};

/* Packs of a matrix that each thread moves. */
template <class number, int packs>
static __device__ __forceinline__ void ssae_fetch(pack<number, 4> (&to)[packs], const void *from) {
#pragma unroll
    for (int j = 0; j < packs; j++)
        to[j] = pack_read<4>((const number *)from + ((int)threadIdx.x + j * SSAE_THREADS) * 4);
}

template <class number, int packs, int columns>
static __device__ __forceinline__ void ssae_keep(float (*to)[columns + SSAE_GAP],
                                                 const pack<number, 4> (&from)[packs]) {
#pragma unroll
    for (int j = 0; j < packs; j++) {
        const int at = ((int)threadIdx.x + j * SSAE_THREADS) * 4;
        float open[4];
        pack_open(open, from[j]);
        read_bytes<16>(&to[at / columns][at % columns], open);
    }
}

template <int samples, class number>
static __device__ __forceinline__ void ssae_begin(ssae_memory<samples> *at, const ssae_args &args) {
    pack<number, 4> basis[SSAE_LATENT * SSAE_COMBINED / 4 / SSAE_THREADS];
    pack<number, 4> encoder[SSAE_SLICE * SSAE_MELS / 4 / SSAE_THREADS],
        decoder[SSAE_MELS * SSAE_SLICE / 4 / SSAE_THREADS];
    pack<number, 4> mixer[SSAE_LATENT * SSAE_LATENT / 4 / SSAE_THREADS];
    ssae_fetch(encoder, args.encoder);
    ssae_fetch(basis, args.basis);
    ssae_fetch(decoder, args.decoder);
    ssae_fetch(mixer, args.mixer);
    ssae_keep<number, SSAE_SLICE * SSAE_MELS / 4 / SSAE_THREADS, SSAE_MELS>(at->encoder, encoder);
    ssae_keep<number, SSAE_LATENT * SSAE_COMBINED / 4 / SSAE_THREADS, SSAE_COMBINED>(at->basis, basis);
    ssae_keep<number, SSAE_MELS * SSAE_SLICE / 4 / SSAE_THREADS, SSAE_SLICE>(at->decoder, decoder);
    ssae_keep<number, SSAE_LATENT * SSAE_LATENT / 4 / SSAE_THREADS, SSAE_LATENT>(at->mixer, mixer);
}

/* The sum over `lanes` neighbours, a power of two, for all of them. */
template <int lanes> static __device__ __forceinline__ float ssae_sum(float mine) {
#pragma unroll
    for (int half = lanes / 2; half > 0; half /= 2) mine += __shfl_xor_sync(SSAE_EVERY, mine, half);
    return mine;
}

/* The lengths of the basis, a warp four rows. */
template <int samples> static __device__ __forceinline__ void ssae_lengths(ssae_memory<samples> *at, float eps) {
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int j = 0; j < SSAE_LATENT / SSAE_WARPS; j++) {
        const int row = warp + j * SSAE_WARPS;
        float squares = 0;
#pragma unroll
        for (int c = 0; c < SSAE_COMBINED; c += 32) squares += at->basis[row][c + lane] * at->basis[row][c + lane];
        const float length = sqrtf(ssae_sum<32>(squares));
        if (lane == 0) at->by[row] = 1 / (length < eps ? eps : length);
    }
}

/* Values of a row that `lanes` neighbours have `count` each of, normalised; those of gamma and beta beside them. */
template <int lanes, int count>
static __device__ __forceinline__ void ssae_normalise(float (&value)[count], const float (&gamma)[count],
                                                      const float (&beta)[count], float eps) {
    float sum = 0, squares = 0;
#pragma unroll
    for (int j = 0; j < count; j++) sum += value[j];
    const float mean = ssae_sum<lanes>(sum) / (lanes * count);
#pragma unroll
    for (int j = 0; j < count; j++) squares += (value[j] - mean) * (value[j] - mean);
    const float scale = 1 / sqrtf(ssae_sum<lanes>(squares) / (lanes * count) + eps);
#pragma unroll
    for (int j = 0; j < count; j++) value[j] = (value[j] - mean) * scale * gamma[j] + beta[j];
}

/* The slices of some samples on their way: 16 threads have one, 4 numbers each. */
template <int samples, class number> struct ssae_slices {
    static const int turns = (samples * SSAE_FRAMES + SSAE_THREADS / 16 - 1) / (SSAE_THREADS / 16);
    pack<number, 4> at[turns];
    static __device__ __forceinline__ int row(int turn) { return (int)threadIdx.x / 16 + turn * (SSAE_THREADS / 16); }
    static __device__ __forceinline__ int column() { return (int)threadIdx.x % 16 * 4; }

    /* Those from sample `first` on. */
    __device__ __forceinline__ void fetch(const ssae_args &args, int64_t first) {
#pragma unroll
        for (int j = 0; j < turns; j++) {
            const bool inside = row(j) < samples * SSAE_FRAMES && first + row(j) / SSAE_FRAMES < args.batch;
            const number *from = (const number *)args.x + (first * SSAE_FRAMES + row(j)) * SSAE_MELS + column();
            if (inside) at[j] = pack_read<4>(from);
        }
    }

    __device__ __forceinline__ void normalise(ssae_memory<samples> *to, const ssae_args &args, int64_t first) const {
        float gamma[4], beta[4];
        read_bytes<16>(gamma, args.slice_gamma + column());
        read_bytes<16>(beta, args.slice_beta + column());
#pragma unroll
        for (int j = 0; j < turns; j++) {
            const bool inside = row(j) < samples * SSAE_FRAMES && first + row(j) / SSAE_FRAMES < args.batch;
            float value[4] = {0, 0, 0, 0};
            if (inside) pack_open(value, at[j]);
            ssae_normalise<16>(value, gamma, beta, args.eps);
            if (row(j) >= samples * SSAE_FRAMES) continue;
            read_bytes<16>(&to->slice[row(j) / SSAE_FRAMES][row(j) % SSAE_FRAMES * SSAE_MELS + column()], value);
        }
    }
};

/* Half of x (1 + erf(x / sqrt 2)): off by a share of x, not of the result. What follows adds such values up. */
static __device__ __forceinline__ float ssae_gelu(float x) { return 0.5f * x * (1 + erff(x * ACT_SQRT_HALF)); }

/* A thread's part of a product of slices, all of one sample, and a matrix [64][64]: `count` columns, `apart` from each
 * other. */
template <int samples> struct ssae_product {
    static const int count = samples / 4, apart = 64 / count;
    float sum[SSAE_FRAMES][count];
    static __device__ __forceinline__ int sample() { return (int)threadIdx.x / apart; }
    static __device__ __forceinline__ int column(int j) { return (int)threadIdx.x % apart + j * apart; }

    __device__ __forceinline__ void make(const ssae_memory<samples> *at, const float (*matrix)[64 + SSAE_GAP]) {
        const float *rows = at->slice[sample()];
#pragma unroll
        for (int f = 0; f < SSAE_FRAMES; f++) {
#pragma unroll
            for (int j = 0; j < count; j++) sum[f][j] = 0;
        }
#pragma unroll 2
        for (int k = 0; k < 64; k += 4) {
            float right[count][4];
#pragma unroll
            for (int j = 0; j < count; j++) read_bytes<16>(right[j], &matrix[column(j)][k]);
#pragma unroll
            for (int f = 0; f < SSAE_FRAMES; f++) {
                float left[4];
                read_bytes<16>(left, rows + f * 64 + k);
#pragma unroll
                for (int j = 0; j < count; j++) {
#pragma unroll
                    for (int i = 0; i < 4; i++) sum[f][j] += left[i] * right[j][i];
                }
            }
        }
    }
};

template <int samples, class number>
static __device__ __forceinline__ void ssae_encode(ssae_memory<samples> *at, const ssae_args &args) {
    ssae_product<samples> product;
    product.make(at, at->encoder);
    __syncthreads(); /* the slices were read */
#pragma unroll
    for (int j = 0; j < product.count; j++) {
        const int column = product.column(j);
        const float bias = load((const number *)args.encoder_bias + column);
#pragma unroll
        for (int f = 0; f < SSAE_FRAMES; f++)
            at->slice[product.sample()][f * SSAE_SLICE + column] = ssae_gelu(product.sum[f][j] + bias);
    }
}

/* Sums of the encoded slices times the basis: a thread has 2 samples and 4 rows of the basis, some threads together all
 * of them, for their part of the columns. */
template <int samples> static __device__ __forceinline__ void ssae_project(ssae_memory<samples> *at) {
    const int together = samples * SSAE_LATENT / 8, parts = SSAE_THREADS / together, length = SSAE_COMBINED / parts;
    const int part = (int)threadIdx.x / together, row = (int)threadIdx.x % 8;
    const int sample = (int)threadIdx.x % together / 8;
    static_assert(together * parts == SSAE_THREADS && length % 4 == 0, "parts of whole packs");
    float sum[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll 2
    for (int k = part * length; k < (part + 1) * length; k += 4) {
        float left[2][4];
#pragma unroll
        for (int s = 0; s < 2; s++) read_bytes<16>(left[s], &at->slice[sample + s * samples / 2][k]);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float right[4];
            read_bytes<16>(right, &at->basis[row + 8 * j][k]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sum[0][j] += left[0][i] * right[i];
                sum[1][j] += left[1][i] * right[i];
            }
        }
    }
#pragma unroll
    for (int s = 0; s < 2; s++) {
#pragma unroll
        for (int j = 0; j < 4; j++)
            at->partial[(part * samples + sample + s * samples / 2) * SSAE_LATENT + row + 8 * j] = sum[s][j];
    }
}

/* The latent numbers of a sample, normalised and mixed, by a warp; divided by the lengths of the basis once more, for
 * the way back. */
template <int samples, class number>
static __device__ __forceinline__ void ssae_mix(ssae_memory<samples> *at, const ssae_args &args) {
    const int lane = (int)threadIdx.x % 32, parts = SSAE_PARTIALS / (samples * SSAE_LATENT);
    const float by = at->by[lane], bias = load((const number *)args.mixer_bias + lane);
    const float gamma[1] = {args.latent_gamma[lane]}, beta[1] = {args.latent_beta[lane]};
    for (int sample = (int)threadIdx.x / 32; sample < samples; sample += SSAE_WARPS) {
        float value[1] = {0};
#pragma unroll
        for (int j = 0; j < parts; j++) value[0] += at->partial[(j * samples + sample) * SSAE_LATENT + lane];
        value[0] *= by;
        ssae_normalise<32>(value, gamma, beta, args.eps);
        at->latent[sample][lane] = value[0];
        __syncwarp();
        float sum = bias;
#pragma unroll
        for (int k = 0; k < SSAE_LATENT; k += 4) {
            float left[4], right[4];
            read_bytes<16>(left, &at->latent[sample][k]);
            read_bytes<16>(right, &at->mixer[lane][k]);
#pragma unroll
            for (int i = 0; i < 4; i++) sum += left[i] * right[i];
        }
        at->mixed[sample][lane] = ssae_gelu(sum) * by;
    }
}

/* slice = mixed times the basis: 4 columns of some samples at a time. */
template <int samples> static __device__ __forceinline__ void ssae_back(ssae_memory<samples> *at) {
    const int count = samples / 4, packs = SSAE_COMBINED / 4;
    for (int item = (int)threadIdx.x; item < packs * 4; item += SSAE_THREADS) {
        const int column = item % packs * 4, first = item / packs * count;
        float sum[count][4];
#pragma unroll
        for (int s = 0; s < count; s++) sum[s][0] = sum[s][1] = sum[s][2] = sum[s][3] = 0;
#pragma unroll 2
        for (int k = 0; k < SSAE_LATENT; k += 4) {
            float left[count][4];
#pragma unroll
            for (int s = 0; s < count; s++) read_bytes<16>(left[s], &at->mixed[first + s][k]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float right[4];
                read_bytes<16>(right, &at->basis[k + i][column]);
#pragma unroll
                for (int s = 0; s < count; s++) {
#pragma unroll
                    for (int j = 0; j < 4; j++) sum[s][j] += left[s][i] * right[j];
                }
            }
        }
#pragma unroll
        for (int s = 0; s < count; s++) read_bytes<16>(&at->slice[first + s][column], sum[s]);
    }
}

template <int samples, class number>
static __device__ __forceinline__ void ssae_decode(const ssae_memory<samples> *at, const ssae_args &args,
                                                   int64_t first) {
    ssae_product<samples> product;
    product.make(at, at->decoder);
    const int64_t sample = first + product.sample();
    if (sample >= args.batch) return;
#pragma unroll
    for (int j = 0; j < product.count; j++) {
        const int column = product.column(j);
        const float bias = load((const number *)args.decoder_bias + column);
#pragma unroll
        for (int f = 0; f < SSAE_FRAMES; f++)
            store((number *)args.y + (sample * SSAE_FRAMES + f) * SSAE_MELS + column, product.sum[f][j] + bias);
    }
}

template <int samples, class number> static __device__ __forceinline__ void ssae_run(const ssae_args &args) {
    ssae_memory<samples> *at = (ssae_memory<samples> *)shared_memory();
    static_assert(sizeof *at == SSAE_SHARED(samples), "kernel and launcher agree on the shared memory");
    ssae_slices<samples, number> slices;
    int64_t first = (int64_t)blockIdx.x * samples;
    slices.fetch(args, first);
    ssae_begin<samples, number>(at, args);
    __syncthreads();
    ssae_lengths(at, args.basis_eps);
    while (first < args.batch) {
        slices.normalise(at, args, first);
        __syncthreads();
        ssae_encode<samples, number>(at, args);
        __syncthreads();
        ssae_project(at);
        __syncthreads();
        ssae_mix<samples, number>(at, args);
        __syncthreads();
        ssae_back(at);
        const int64_t next = first + (int64_t)gridDim.x * samples;
        slices.fetch(args, next);
        __syncthreads();
        ssae_decode<samples, number>(at, args, first);
        __syncthreads();
        first = next;
    }
}

ENTRY_FORMATS(ssae_few, (SSAE_THREADS), ssae_args, ssae_run<SSAE_FEW, number>(args))
ENTRY_FORMATS(ssae_many, (SSAE_THREADS, 2), ssae_args, ssae_run<SSAE_MANY, number>(args))
