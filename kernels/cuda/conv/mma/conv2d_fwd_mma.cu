/*
 * conv2d forward on the tensor cores of sm_80 and newer: an implicit matrix product per stream and group. Rows are
 * output pixels, columns are output channels, and the reduction runs over (r, s, c) as the weights lie in memory; x is
 * gathered straight from its place, 16 bytes of channels at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/mma/mma_pixels.cuh"

/* The right operand: the weights of column tid / 4 (and 64 more), piece tid % 4. */
template <class number, int columns> struct fwd_loader {
    mma_gather<number> left;
    const number *weights; /* of the first column */
    int32_t length, filters, term;

    __device__ __forceinline__ void load(number *to_left, number *to_right) {
        left.load(to_left);
#pragma unroll
        for (int j = 0; j < columns / 64; j++) {
            const int32_t column = (int32_t)threadIdx.x / 4 + 64 * j;
            const bool inside = column < filters && term < length;
            copy_async(to_right + along_at<number>(column, (int)threadIdx.x % 4),
                       weights + (inside ? (int64_t)column * length + term : 0), inside);
        }
        term += mma_numbers<number>::depth;
    }
};

template <class number, int columns>
static __device__ __forceinline__ void conv2d_fwd_mma(const conv2d_args &args, mma_rows *rows) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_plane &plane = args.plane[i];
    const int32_t channels = plane.in_channels / args.groups, filters = plane.out_channels / args.groups;
    const int32_t unused =
        (int32_t)(plane.out_pitch - plane.out_channels); /* lanes behind the last group, written as zero */
    const int32_t length = args.filter[0] * args.filter[1] * channels;
    const int32_t column_tiles = (filters + unused + columns - 1) / columns;
    const int32_t tile = (int32_t)blockIdx.x - args.first_block[i];
    const int32_t first_column = tile % column_tiles * columns, group = tile / column_tiles % args.groups;
    const int64_t pixels = args.batch * args.out_size[0] * args.out_size[1];
    const int64_t first_pixel = (int64_t)(tile / column_tiles / args.groups) * MMA_ROWS;
    number *shared = (number *)shared_memory();

    fwd_loader<number, columns> from;
    from.left.image = {
        (const number *)plane.x + group * channels, {args.size[0], args.size[1]}, plane.in_pitch, channels};
    for (int axis = 0; axis < 2; axis++) from.left.taps[axis] = {0, 1, args.filter[axis], 0, args.dilation[axis]};
    for (int j = 0; j < 2; j++) {
        const int64_t pixel = first_pixel + (int)threadIdx.x / 4 + 64 * j;
        const int64_t row = divide(pixel, args.out_size[1]), sample = divide(row, args.out_size[0]);
        const bool blanked = pixel < pixels && mask_blanks(plane.mask, sample);
        from.left.sample[j] = pixel < pixels && !blanked ? sample * args.size[0] * args.size[1] * plane.in_pitch : -1;
        from.left.h[j] = (int32_t)(row - sample * args.out_size[0]) * args.stride[0] - args.padding[0];
        from.left.w[j] = (int32_t)(pixel - row * args.out_size[1]) * args.stride[1] - args.padding[1];
        rows->at[threadIdx.x / 4 + 64 * j] = pixel < pixels ? pixel : -1;
        rows->blanked[threadIdx.x / 4 + 64 * j] = blanked;
    }
    from.left.begin();
    from.weights = (const number *)plane.w + ((int64_t)group * filters + first_column) * length;
    from.filters = filters - first_column;
    from.length = length;
    from.term = (int32_t)threadIdx.x % 4 * mma_numbers<number>::piece;

    mma_sums<columns> sums = {};
    const int32_t depth = mma_numbers<number>::depth;
    mma_run<number, true, true>(&sums, shared, (length + depth - 1) / depth, &from);
    const int32_t end = group + 1 == args.groups ? filters + unused : filters;
    mma_write((number *)plane.y, plane.out_pitch, rows, group * filters + first_column, end - first_column,
              filters - first_column, plane.epilogue, shared, sums);
}

ENTRY_FORMATS(conv2d_fwd_mma, (MMA_THREADS, 2), conv2d_args, __shared__ mma_rows rows;
              conv2d_fwd_mma<number, MMA_COLUMNS>(args, &rows))
ENTRY_OF(conv2d_fwd_mma, tf32, tf32, (MMA_THREADS, 2), conv2d_args, __shared__ mma_rows rows;
         conv2d_fwd_mma<number, MMA_COLUMNS>(args, &rows))
