/*
 * conv2d forward: an implicit matrix product per stream and group. Rows are output pixels, columns
 * are output channels, and the reduction runs over (r, s, c) as the weights lie in memory; x is
 * gathered straight from its place, so nothing is unfolded or padded. Sums are float.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/conv2d.h"
#include "kernels/cuda/tile/epilogue.cuh"
#include "kernels/cuda/tile/gemm.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/padding.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* An output pixel: its sample's first input element, and the input place of its first tap. */
template <class number> struct output_pixel {
    const number *sample; /* NULL: beyond the last pixel, or blanked */
    int32_t h, w;
};

template <class number>
static __device__ __forceinline__ output_pixel<number> find_pixel(const conv2d_args &args, const conv2d_plane &plane,
                                                                  int64_t pixel) {
    output_pixel<number> found = {nullptr, 0, 0};
    const int64_t row = divide(pixel, args.out_size[1]), sample = divide(row, args.out_size[0]);
    if (sample >= args.batch || mask_blanks(plane.mask, sample)) return found;
    found.sample = (const number *)plane.x + sample * args.size[0] * args.size[1] * plane.in_pitch;
    found.h = (int32_t)(row - sample * args.out_size[0]) * args.stride[0] - args.padding[0];
    found.w = (int32_t)(pixel - row * args.out_size[1]) * args.stride[1] - args.padding[1];
    return found;
}

template <class number> static __device__ __forceinline__ void conv2d_fwd(const conv2d_args &args, gemm_slice *slice) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_plane &plane = args.plane[i];
    const int32_t channels = plane.in_channels / args.groups, filters = plane.out_channels / args.groups;
    const int32_t unused =
        (int32_t)(plane.out_pitch - plane.out_channels); /* lanes behind the last group, written as zero */
    const int32_t length = args.filter[0] * args.filter[1] * channels;
    const int32_t column_tiles = (filters + unused + TILE_N - 1) / TILE_N;
    const int32_t tile = (int32_t)blockIdx.x - args.first_block[i];
    const int32_t first_column = tile % column_tiles * TILE_N, group = tile / column_tiles % args.groups;
    const int64_t pixels = args.batch * args.out_size[0] * args.out_size[1];
    const int64_t first_pixel = (int64_t)(tile / column_tiles / args.groups) * TILE_M;
    const number *weights = (const number *)plane.w + (int64_t)group * filters * length;

    const int lane = (int)threadIdx.x % TILE_K, first_row = (int)threadIdx.x / TILE_K;
    output_pixel<number> pixel[4];
    for (int j = 0; j < 4; j++) pixel[j] = find_pixel<number>(args, plane, first_pixel + first_row + 16 * j);

    gemm_sums sums;
    gemm_clear(&sums);
    for (int32_t begin = 0; begin < length; begin += TILE_K) {
        const int32_t k = begin + lane, tap = k / channels, c = k - tap * channels;
        const int32_t r = tap / args.filter[1], s = tap - r * args.filter[1];
        for (int j = 0; j < 4; j++) {
            float value = 0;
            if (k < length && pixel[j].sample) {
                const int32_t h = padding_pixel(args.mode, pixel[j].h + r * args.dilation[0], args.size[0]);
                const int32_t w = padding_pixel(args.mode, pixel[j].w + s * args.dilation[1], args.size[1]);
                if (h >= 0 && w >= 0) {
                    value =
                        load(pixel[j].sample + ((int64_t)h * args.size[1] + w) * plane.in_pitch + group * channels + c);
                }
            }
            slice->a[lane][first_row + 16 * j] = value;
            const int32_t filter = first_column + first_row + 16 * j;
            slice->b[lane][first_row + 16 * j] =
                k < length && filter < filters ? load(weights + (int64_t)filter * length + k) : 0;
        }
        __syncthreads();
        gemm_add(&sums, slice);
        __syncthreads();
    }

    const float floor = epilogue_floor(plane.epilogue);
    const number *added = (const number *)plane.epilogue.added;
    const int32_t columns = group + 1 == args.groups ? filters + unused : filters;
    for (int row = 0; row < 4; row++) {
        const int64_t m = first_pixel + gemm_row() + row;
        if (m >= pixels) break;
        const bool blanked = mask_blanks(plane.mask, divide(m, (int64_t)args.out_size[0] * args.out_size[1]));
        for (int j = 0; j < 4; j++) {
            const int32_t n = first_column + gemm_column() + j, filter = group * filters + n;
            if (n >= columns) break;
            const int64_t at = m * plane.out_pitch + filter;
            float value = 0;
            if (n < filters && !blanked)
                value =
                    epilogue_value(sums.at[row][j], epilogue_find<number>(plane.epilogue, filter, plane.out_channels),
                                   floor, added ? load(added + at) : 0);
            store((number *)plane.y + at, value);
        }
    }
}

ENTRY_FORMATS(conv2d_fwd, (BLOCK_THREADS), conv2d_args, __shared__ gemm_slice slice; conv2d_fwd<number>(args, &slice))
