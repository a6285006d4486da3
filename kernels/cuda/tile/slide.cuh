/*
 * What comes back through windows of 3 x 3 places, two apart, behind padding of one: dy of a window goes to the place
 * that it took. A thread has 16 bytes of channels and one column of windows. It goes down the rows, finds what each
 * window took from values that it has read once, and leaves that in shared memory for the thread to its left; then it
 * makes the two rows and two columns of places that have all their windows. Registers are scarce, so what a body knows
 * of its channels lies in shared memory. The body brings, besides key() of tile/window3.cuh,
 *
 *     factors              the type of what it knows of a pack of channels
 *     begin(to, c)         readies the factors of channels c to c + width - 1
 *     use(from)            readies this thread to use those
 *     before_find()        takes from the factors what open() needs
 *     open(best, k)        all bits set where word k of dy comes back, best being the largest keys
 *     before_make()        takes from the factors what make() needs
 *     make(g, x, c, at)    writes what it makes of the gradient g of a pack
 *     blank(at)            writes zeros: the sample is blanked
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SLIDE_CUH
#define BRAID_KERNELS_CUDA_TILE_SLIDE_CUH

#include "kernels/cuda/tile/window3.cuh"

#define SLIDE_LANES 32 /* most lanes of a block */
#define SLIDE_ROWS 3   /* of windows that are kept: two that are read, and one that is written meanwhile */

/* What a window took: bit t of a number of word k says that it took place t, counted row by row. */
struct slide_window {
    words took, dy;
};

typedef slide_window slide_shared[SLIDE_ROWS][BLOCK_THREADS];

/* Bit t of every number of a word. */
template <class number> static __device__ __forceinline__ uint32_t slide_bit(int t) {
    return (word<number>::width == 2 ? 0x10001u : 1u) << t;
}

/* The place that a window takes: the first of equal keys, or the last NaN. Places above the image (top) or left of it
 * repeat others and are never taken; so do those below and right, which come later than the places that they repeat. */
template <class number, class body>
static __device__ __forceinline__ words slide_find(body &of, const words (&x)[9], bool top, bool left) {
    const words best = window3_largest<number>(of, x);
    const uint32_t has_top = top ? 0 : 0xFFFFFFFFu, has_left = left ? 0 : 0xFFFFFFFFu;
    words took;
    of.before_find();
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) {
        uint32_t bits = 0;
#pragma unroll
        for (int t = 8; t >= 0; t--) {
            uint32_t equal = word<number>::equals(of.key(x[t].at[k], k), best.at[k]);
            if (t < 3) equal &= has_top;
            if (t % 3 == 0) equal &= has_left;
            bits = (equal & slide_bit<number>(t)) | (~equal & bits);
        }
        if (word<number>::equals(best.at[k], best.at[k]) != 0xFFFFFFFFu) {
#pragma unroll
            for (int t = 0; t < 9; t++) {
                uint32_t nan = ~word<number>::equals(x[t].at[k], x[t].at[k]);
                if (t < 3) nan &= has_top;
                if (t % 3 == 0) nan &= has_left;
                bits = (nan & slide_bit<number>(t)) | (~nan & bits);
            }
        }
        took.at[k] = bits & of.open(best.at[k], k);
    }
    return took;
}

/* Adds the dy of a window to places t of it. */
template <class number, int width>
static __device__ __forceinline__ void slide_add(float (&g)[width], const slide_window &from, int t) {
    const int numbers = word<number>::width;
    float dy[width];
    words_open<number>(dy, from.dy);
#pragma unroll
    for (int j = 0; j < width; j++) {
        if ((from.took.at[j / numbers] >> (t + 16 * (j % numbers))) & 1u) g[j] += dy[j];
    }
}

/* Where a thread works: windows of column `column` in rows first - 1 up to last; an owner makes places. */
struct slide_work {
    int64_t sample;
    int32_t first, last, column, lanes;
    bool owner;
};

static __device__ __forceinline__ slide_work slide_work_find(const pixel_args &args, int i) {
    const pixel_map &map = args.map;
    const int32_t block = (int32_t)blockIdx.x - map.first_block[i], part = block % map.blocks[i];
    const int32_t columns = args.window.out_size[1], tile = (int32_t)map.chunk[i], tiles = (columns + tile - 1) / tile;
    slide_work work;
    work.sample = block / map.blocks[i];
    work.lanes = map.lanes[i];
    const int32_t across = (int32_t)threadIdx.x / work.lanes;
    work.column = part % tiles * tile + across;
    work.owner = across < tile && work.column < columns;
    if (across > tile) work.column = columns; /* beyond the neighbour of the last owner: nothing to do */
    work.first = part / tiles * args.window.strip;
    work.last = work.first + args.window.strip;
    if (work.last >= args.window.out_size[0]) work.last = args.window.out_size[0] + 1; /* with the last odd row */
    return work;
}

/* Makes places (row, 2 column) and (row, 2 column + 1) from their gradients. */
template <class number, class body, int width>
static __device__ __forceinline__ void slide_make(body &of, const slide_work &work, int32_t row, float (&even)[width],
                                                  float (&odd)[width], const words *x, int64_t c) {
    const int32_t *size = of.args.window.size;
    if (row < 0 || row >= size[0] || 2 * work.column >= size[1]) return;
    const int64_t pitch = of.plane.pitch;
    const int64_t at = ((work.sample * size[0] + row) * size[1] + 2 * work.column) * pitch + c;
    of.make(even, x[1], c, at);
    if (2 * work.column + 1 < size[1]) of.make(odd, x[2], c, at + pitch);
}

/* Rows 2 row - 1 and 2 row of places, which windows of rows row - 1 (above) and row (here) may have taken. x has the
 * three columns of those rows. */
template <class number, int width, class body>
static __device__ __forceinline__ void slide_places(body &of, const slide_work &work, int32_t row,
                                                    const slide_window *above, const slide_window *here,
                                                    const words (&x)[9], int64_t c) {
    const int32_t next = work.lanes; /* the thread to the right */
    of.before_make();
    float even[width] = {0}, odd[width] = {0};
    slide_add<number>(even, above[0], 7);
    slide_add<number>(even, here[0], 1);
    slide_add<number>(odd, above[0], 8);
    slide_add<number>(odd, above[next], 6);
    slide_add<number>(odd, here[0], 2);
    slide_add<number>(odd, here[next], 0);
    slide_make<number>(of, work, 2 * row - 1, even, odd, x, c);
    float lower_even[width] = {0}, lower_odd[width] = {0};
    slide_add<number>(lower_even, here[0], 4);
    slide_add<number>(lower_odd, here[0], 5);
    slide_add<number>(lower_odd, here[next], 3);
    slide_make<number>(of, work, 2 * row, lower_even, lower_odd, x + 3, c);
}

/* The three columns of a window in one row of places. */
template <class number>
static __device__ __forceinline__ void slide_read(words *to, const number *x, const pixel_window &window, int32_t row,
                                                  int32_t column, int64_t pitch) {
    const number *line = x + (int64_t)clamp(row, window.size[0]) * window.size[1] * pitch;
#pragma unroll
    for (int s = 0; s < 3; s++) to[s] = words_read(line + clamp(2 * column - 1 + s, window.size[1]) * pitch);
}

/* One pack of channels, down the rows of a block. */
template <class number, int width, class body>
static __device__ __forceinline__ void slide_down(body &of, const slide_work &work, int64_t c, slide_shared &shared) {
    const pixel_window &window = of.args.window;
    const int64_t pitch = of.plane.pitch;
    const bool inside = c < pitch && work.column < window.out_size[1];
    const number *x = (const number *)of.plane.x + work.sample * window.size[0] * window.size[1] * pitch + c;
    const number *dy =
        (const number *)of.plane.dy + c + (work.sample * window.out_size[0] * window.out_size[1] + work.column) * pitch;
    words at[9] = {};
    if (inside) slide_read(at, x, window, 2 * work.first - 3, work.column, pitch);
    for (int32_t row = work.first - 1; row < work.last; row++) {
        slide_window mine = {};
        if (inside) {
            slide_read(at + 3, x, window, 2 * row, work.column, pitch);
            slide_read(at + 6, x, window, 2 * row + 1, work.column, pitch);
        }
        if (inside && row >= 0 && row < window.out_size[0]) {
            mine.dy = words_read(dy + (int64_t)row * window.out_size[1] * pitch);
            mine.took = slide_find<number>(of, at, row == 0, work.column == 0);
        }
        shared[(row + 1) % SLIDE_ROWS][threadIdx.x] = mine;
        __syncthreads();
        if (inside && work.owner && row >= work.first) {
            slide_places<number, width>(of, work, row, &shared[row % SLIDE_ROWS][threadIdx.x],
                                        &shared[(row + 1) % SLIDE_ROWS][threadIdx.x], at, c);
        }
#pragma unroll
        for (int s = 0; s < 3; s++) at[s] = at[s + 6];
    }
    __syncthreads(); /* nobody reads the windows any more */
}

/* Zeros for all places of this thread. */
template <class body>
static __device__ __forceinline__ void slide_blank(const body &of, const slide_work &work, int64_t c) {
    const int32_t *size = of.args.window.size;
    for (int32_t row = 2 * work.first - 1; row < 2 * work.last - 1; row++) {
        for (int32_t column = 2 * work.column; column < 2 * work.column + 2; column++) {
            if (row < 0 || row >= size[0] || column >= size[1] || !work.owner || c >= of.plane.pitch) continue;
            of.blank(((work.sample * size[0] + row) * size[1] + column) * of.plane.pitch + c);
        }
    }
}

/* A whole kernel. */
template <template <class, int> class body, class number>
static __device__ __forceinline__ void slide_kernel(const pixel_args &args, slide_shared &shared,
                                                    typename body<number, widest<number>::width>::factors *factors) {
    const int width = widest<number>::width;
    const int i = schedule_plane(args.map.first_block, args.planes);
    body<number, width> of(args, i);
    const slide_work work = slide_work_find(args, i);
    const bool blanked = mask_blanks(of.plane.mask, work.sample);
    const int32_t lane = (int32_t)threadIdx.x % work.lanes;
    for (int64_t first = 0; first < of.plane.pitch; first += work.lanes * width) {
        const int64_t c = first + lane * width;
        if (blanked) {
            slide_blank(of, work, c);
            continue;
        }
        if ((int32_t)threadIdx.x < work.lanes && c < of.plane.pitch) of.begin(factors[lane], c);
        __syncthreads();
        of.use(factors[lane]);
        slide_down<number, width>(of, work, c, shared);
    }
}

#endif
