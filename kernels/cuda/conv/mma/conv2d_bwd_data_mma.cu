/*
 * conv2d data gradient on the tensor cores of sm_80 and newer: an implicit matrix product per stream, group and class
 * of pixels. A class has the input pixels with one remainder of the row and column by the strides: the same taps reach
 * all of them. Rows are the pixels of a class, columns are input channels, and the reduction runs over those taps and
 * the output channels; dy is gathered straight from its place, 16 bytes of channels at a time. Zero padding only.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/conv/mma/mma_pixels.cuh"

/* The pixels of one class: rows first[0], first[0] + stride, ...; the blocks before it. */
struct pixel_class {
    int32_t first[2], size[2], tiles;
};

static __device__ __forceinline__ pixel_class find_class(const conv2d_args &args, int32_t number) {
    pixel_class found;
    found.first[0] = number / args.stride[1];
    found.first[1] = number - found.first[0] * args.stride[1];
    for (int axis = 0; axis < 2; axis++) {
        const int32_t rest = args.size[axis] - found.first[axis];
        found.size[axis] = rest <= 0 ? 0 : (rest + args.stride[axis] - 1) / args.stride[axis];
    }
    const int64_t pixels = args.batch * found.size[0] * found.size[1];
    found.tiles = (int32_t)((pixels + MMA_ROWS - 1) / MMA_ROWS);
    return found;
}

/* The taps that reach the pixels first, first + stride, ... of an axis: pixel number i is read by output
 * i + place + j * advance with tap number j. */
static __device__ __forceinline__ mma_taps find_taps(const conv2d_args &args, int axis, int32_t first) {
    const int32_t stride = args.stride[axis], dilation = args.dilation[axis];
    mma_taps found = {0, 1, 0, 0, 0};
    for (int32_t tap = 0; tap < args.filter[axis]; tap++) {
        const int32_t from = first + args.padding[axis] - tap * dilation;
        if (from % stride != 0) continue;
        if (found.count == 0) {
            found.tap = tap;
            found.place = from / stride;
        } else if (found.count == 1) {
            found.step = tap - found.tap;
            found.advance = from / stride - found.place;
        }
        found.count++;
    }
    return found;
}

/* The right operand: the weights of terms tid / pieces, ..., a piece of input channels of each. */
template <class number, int columns> struct data_loader {
    static const int depth = mma_numbers<number>::depth, pieces = columns / mma_numbers<number>::piece;
    static const int rows = MMA_THREADS / pieces, count = depth / rows;
    mma_gather<number> left;
    const number *weights; /* of the group and its first column */
    int32_t filter_columns, taps, channels, columns_left;
    mma_term term[count];

    __device__ __forceinline__ void begin() {
#pragma unroll
        for (int j = 0; j < count; j++) {
            term[j] = {0, 0, 0};
            term_advance(&term[j], (int32_t)threadIdx.x / pieces + j * rows, left.image.channels, left.taps[1].count);
        }
    }
    __device__ __forceinline__ void load(number *to_left, number *to_right) {
        left.load(to_left);
        const int32_t column = (int32_t)threadIdx.x % pieces * mma_numbers<number>::piece;
#pragma unroll
        for (int j = 0; j < count; j++) {
            const bool inside = term[j].r < left.taps[0].count && column < columns_left;
            const int32_t r = left.taps[0].tap + term[j].r * left.taps[0].step;
            const int32_t s = left.taps[1].tap + term[j].s * left.taps[1].step;
            const int64_t at = ((int64_t)term[j].channel * taps + r * filter_columns + s) * channels + column;
            copy_async(to_right +
                           across_at<number, columns>((int)threadIdx.x / pieces + j * rows, (int)threadIdx.x % pieces),
                       weights + (inside ? at : 0), inside);
            term_advance(&term[j], depth, left.image.channels, left.taps[1].count);
        }
    }
};

template <class number, int columns>
static __device__ __forceinline__ void conv2d_bwd_data_mma(const conv2d_args &args, mma_rows *rows) {
    const int i = schedule_plane(args.first_block, args.planes);
    const conv2d_plane &plane = args.plane[i];
    const int32_t channels = plane.in_channels / args.groups, filters = plane.out_channels / args.groups;
    const int32_t unused =
        (int32_t)(plane.in_pitch - plane.in_channels); /* lanes behind the last group, written as zero */
    const int32_t column_tiles = (channels + unused + columns - 1) / columns;
    const int32_t block = (int32_t)blockIdx.x - args.first_block[i];
    const int32_t first_column = block % column_tiles * columns, group = block / column_tiles % args.groups;
    int32_t tile = block / column_tiles / args.groups, number_of_class = 0;
    pixel_class pixels = find_class(args, 0);
    while (tile >= pixels.tiles) {
        tile -= pixels.tiles;
        pixels = find_class(args, ++number_of_class);
    }
    number *shared = (number *)shared_memory();

    data_loader<number, columns> from;
    from.left.image = {
        (const number *)plane.y + group * filters, {args.out_size[0], args.out_size[1]}, plane.out_pitch, filters};
    for (int axis = 0; axis < 2; axis++) from.left.taps[axis] = find_taps(args, axis, pixels.first[axis]);
    for (int j = 0; j < 2; j++) {
        const int64_t pixel = (int64_t)tile * MMA_ROWS + (int)threadIdx.x / 4 + 64 * j;
        const int64_t row = divide(pixel, pixels.size[1]), sample = divide(row, pixels.size[0]);
        const bool inside = sample < args.batch, blanked = inside && mask_blanks(plane.mask, sample);
        const int32_t h = (int32_t)(row - sample * pixels.size[0]), w = (int32_t)(pixel - row * pixels.size[1]);
        from.left.sample[j] = inside && !blanked ? sample * args.out_size[0] * args.out_size[1] * plane.out_pitch : -1;
        from.left.h[j] = h;
        from.left.w[j] = w;
        rows->at[threadIdx.x / 4 + 64 * j] =
            inside ? (sample * args.size[0] + h * args.stride[0] + pixels.first[0]) * args.size[1] +
                         w * args.stride[1] + pixels.first[1]
                   : -1;
        rows->blanked[threadIdx.x / 4 + 64 * j] = blanked;
    }
    const int32_t taps = from.left.taps[0].count * from.left.taps[1].count;
    from.weights =
        (const number *)plane.w + (int64_t)group * filters * args.filter[0] * args.filter[1] * channels + first_column;
    from.filter_columns = args.filter[1];
    from.taps = args.filter[0] * args.filter[1];
    from.channels = channels;
    from.columns_left = channels - first_column;

    mma_sums<columns> sums = {};
    if (taps > 0) {
        from.left.begin();
        from.begin();
        const int32_t depth = mma_numbers<number>::depth;
        mma_run<number, true, false>(&sums, shared, (taps * filters + depth - 1) / depth, &from);
    } else {
        __syncthreads();
    }
    const int32_t end = group + 1 == args.groups ? channels + unused : channels;
    mma_write((number *)plane.x, plane.in_pitch, rows, group * channels + first_column, end - first_column,
              channels - first_column, plane.epilogue, shared, sums);
}

ENTRY_FORMATS(conv2d_bwd_data_mma, (MMA_THREADS, 2), conv2d_args, __shared__ mma_rows rows;
              conv2d_bwd_data_mma<number, MMA_COLUMNS>(args, &rows))
ENTRY_OF(conv2d_bwd_data_mma, tf32, tf32, (MMA_THREADS, 2), conv2d_args, __shared__ mma_rows rows;
         conv2d_bwd_data_mma<number, MMA_COLUMNS>(args, &rows))
