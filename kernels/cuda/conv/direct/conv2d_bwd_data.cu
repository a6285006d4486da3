/*
 * conv2d data gradient: an implicit matrix product per stream and group. Rows are input pixels,
 * columns are input channels, and the reduction runs over (place, r, s, k): the places that read
 * the pixel (one, except under a padding mode other than zeros), the taps, and the output channels
 * of the group. Gathering needs no atomics. Sums are float.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/conv2d.h"
#include "kernels/cuda/tile/gemm.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/padding.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* An input pixel: its sample's first output element, and where it lies. */
template <class number> struct input_pixel {
    const number *sample; /* NULL: beyond the last pixel, or blanked */
    int32_t h, w;
};

/* One term of the reduction. */
struct reduction_term {
    int32_t slot[2], tap[2], k;
};

/* Everything a block shares; the terms of the slice are found once for the whole block. */
struct data_slices {
    gemm_slice values;
    reduction_term term[TILE_K];
};

template <class number>
static __device__ __forceinline__ input_pixel<number> find_pixel(const conv2d_args &args, const conv2d_plane &plane,
                                                                 int64_t pixel) {
    input_pixel<number> found = {nullptr, 0, 0};
    const int64_t row = divide(pixel, args.size[1]), sample = divide(row, args.size[0]);
    if (sample >= args.batch || mask_blanks(plane.mask, sample)) return found;
    found.sample = (const number *)plane.y + sample * args.out_size[0] * args.out_size[1] * plane.out_pitch;
    found.h = (int32_t)(row - sample * args.size[0]);
    found.w = (int32_t)(pixel - row * args.size[1]);
    return found;
}

static __device__ __forceinline__ reduction_term find_term(const conv2d_args &args, int32_t term, int32_t filters) {
    reduction_term found;
    int32_t rest = term / filters;
    found.k = term - rest * filters;
    found.tap[1] = rest % args.filter[1];
    rest /= args.filter[1];
    found.tap[0] = rest % args.filter[0];
    rest /= args.filter[0];
    found.slot[1] = rest % args.slots[1];
    found.slot[0] = rest / args.slots[1];
    return found;
}

/* The output row (axis 0) or column (axis 1) that reads a pixel with a tap from a place; -1 where there is none. */
static __device__ __forceinline__ int32_t reader(const conv2d_args &args, const reduction_term &term, int axis,
                                                 int32_t pixel) {
    const int32_t place =
        padding_place(args.mode, pixel, args.size[axis], args.padding[axis], args.after[axis], term.slot[axis]);
    if (place == PLACE_NONE) return -1;
    const int32_t start = place + args.padding[axis] - term.tap[axis] * args.dilation[axis];
    const int32_t out = start / args.stride[axis];
    return start >= 0 && out * args.stride[axis] == start && out < args.out_size[axis] ? out : -1;
}

template <class number>
static __device__ __forceinline__ void conv2d_bwd_data(const conv2d_args &args, data_slices *shared) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_plane &plane = args.plane[i];
    const int32_t channels = plane.in_channels / args.groups, filters = plane.out_channels / args.groups;
    const int32_t unused =
        (int32_t)(plane.in_pitch - plane.in_channels); /* lanes behind the last group, written as zero */
    const int32_t taps = args.filter[0] * args.filter[1], length = args.slots[0] * args.slots[1] * taps * filters;
    const int32_t column_tiles = (channels + unused + TILE_N - 1) / TILE_N;
    const int32_t tile = (int32_t)blockIdx.x - args.first_block[i];
    const int32_t first_column = tile % column_tiles * TILE_N, group = tile / column_tiles % args.groups;
    const int64_t pixels = args.batch * args.size[0] * args.size[1];
    const int64_t first_pixel = (int64_t)(tile / column_tiles / args.groups) * TILE_M;
    const number *weights = (const number *)plane.w + (int64_t)group * filters * taps * channels;

    const int lane = (int)threadIdx.x % TILE_K, first_row = (int)threadIdx.x / TILE_K;
    const int column = (int)threadIdx.x % TILE_N, first_term = (int)threadIdx.x / TILE_N;
    input_pixel<number> pixel[4];
    for (int j = 0; j < 4; j++) pixel[j] = find_pixel<number>(args, plane, first_pixel + first_row + 16 * j);

    gemm_sums sums;
    gemm_clear(&sums);
    for (int32_t begin = 0; begin < length; begin += TILE_K) {
        if (threadIdx.x < TILE_K) shared->term[threadIdx.x] = find_term(args, begin + (int32_t)threadIdx.x, filters);
        __syncthreads();
        const reduction_term &term = shared->term[lane];
        for (int j = 0; j < 4; j++) {
            float value = 0;
            if (begin + lane < length && pixel[j].sample) {
                const int32_t p = reader(args, term, 0, pixel[j].h), q = reader(args, term, 1, pixel[j].w);
                if (p >= 0 && q >= 0) {
                    value = load(pixel[j].sample + ((int64_t)p * args.out_size[1] + q) * plane.out_pitch +
                                 group * filters + term.k);
                }
            }
            shared->values.a[lane][first_row + 16 * j] = value;
        }
        for (int j = 0; j < 4; j++) {
            const int row = first_term + 4 * j;
            const reduction_term &at = shared->term[row];
            const int64_t from =
                ((int64_t)at.k * taps + at.tap[0] * args.filter[1] + at.tap[1]) * channels + first_column + column;
            const bool inside = begin + row < length && first_column + column < channels;
            shared->values.b[row][column] = inside ? load(weights + from) : 0;
        }
        __syncthreads();
        gemm_add(&sums, &shared->values); /* the values are overwritten behind the next slice's first barrier */
    }

    const number *added = (const number *)plane.epilogue.added; /* the sums of blanked samples are zeros */
    const int32_t columns = group + 1 == args.groups ? channels + unused : channels;
    for (int row = 0; row < 4; row++) {
        const int64_t m = first_pixel + gemm_row() + row;
        if (m >= pixels) break;
        for (int j = 0; j < 4; j++) {
            const int32_t n = first_column + gemm_column() + j;
            if (n >= columns) break;
            const int64_t at = m * plane.in_pitch + group * channels + n;
            const float more = added && n < channels ? load(added + at) : 0;
            store((number *)plane.x + at, n < channels ? sums.at[row][j] + more : 0);
        }
    }
}

ENTRY_FORMATS(conv2d_bwd_data, (BLOCK_THREADS), conv2d_args, __shared__ data_slices shared;
              conv2d_bwd_data<number>(args, &shared))
