/*
 * What comes back through windows of 3 x 3 places, two apart, behind padding of one: dy of a window goes to the place
 * that it took. A thread has 16 bytes of channels and one column of windows. It goes down the rows, finds what each
 * window took from values that it has read once, and tells the thread to its left; then it adds to the sums of two
 * columns of places, and has two rows of them ready, while the next rows are on their way. The sums of the row below
 * wait for the next windows. Registers and instructions are scarce, so channels are compared as packed words, and what
 * a body knows of them lies in shared memory. The body brings
 *
 *     factors                    the type of what it knows of a pack of channels
 *     begin(all, first, packs)   readies the factors of `packs` packs from channel `first` on; all threads call it
 *     use(from)                  readies this thread to use those
 *     key(x, k)                  word k of a pack as windows compare it: the place with the largest key is taken
 *     gate(took, best, first, k) what the windows of word k took, best being their largest keys and `first` their first
 *                                place; 0 where nothing comes back
 *     start(to, key, k)          what it makes of word k where no gradient comes back, as floats
 *     factor(j)                  what a gradient of number j of the pack is multiplied by before it is added
 *     blank(at)                  writes zeros: the sample is blanked
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SLIDE_CUH
#define BRAID_KERNELS_CUDA_TILE_SLIDE_CUH

#include "kernels/cuda/tile/window3.cuh"

#define SLIDE_LANES 32 /* most lanes of a block */
#define SLIDE_ROWS 2   /* of windows that are kept: one that is read, and one that is written meanwhile */

/* What a window took, and its dy. */
struct slide_window {
    words took, dy;
};

/* What the windows of a row took, by thread, and their dy. */
struct slide_row {
    words took[BLOCK_THREADS], dy[BLOCK_THREADS];
};

/* The sums of two columns of a row of places, from windows above it. */
template <class number> struct slide_sums {
    static const int packs = 2 * word<number>::width; /* of 16 bytes */
    union {
        float at[2][PACK_WORDS * word<number>::width];
        words pack[packs];
    };
};

/* What threads of a block tell each other, and the sums of each that wait for the next windows. */
template <class number> struct slide_shared {
    slide_row rows[SLIDE_ROWS];
    words sums[slide_sums<number>::packs][BLOCK_THREADS];
};

/* How it is written that all numbers of a word took place t, counted row by row: as a number of the format, so that
 * words can be compared with it. 0: none. */
template <class number> static __device__ __forceinline__ uint32_t slide_code(int t) {
    return word<number>::width == 2 ? 0x04000400u * (uint32_t)(t + 1) : 0x04000000u * (uint32_t)(t + 1);
}

/* The place that a window takes: the first of equal keys, or the last NaN. Places above the image (top) or left of it
 * repeat others, and stand for those. Places below and right come later than the ones that they repeat. */
template <class number, class body>
static __device__ __forceinline__ words slide_find(const body &of, const words (&key)[9], bool top, bool left) {
    const uint32_t below = top ? slide_code<number>(2) : 0, beside = left ? slide_code<number>(0) : 0;
    uint32_t code[9], most;
    words best, took;
#pragma unroll
    for (int t = 0; t < 9; t++) code[t] = slide_code<number>(t) + (t < 3 ? below : 0) + (t % 3 == 0 ? beside : 0);
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) {
        best.at[k] = key[0].at[k];
#pragma unroll
        for (int t = 1; t < 9; t++) best.at[k] = word<number>::larger(best.at[k], key[t].at[k]);
        most = k == 0 ? best.at[k] : word<number>::larger(most, best.at[k]);
    }
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) {
        took.at[k] = 0;
#pragma unroll
        for (int t = 8; t >= 0; t--) {
            const uint32_t equal = word<number>::equals(key[t].at[k], best.at[k]);
            took.at[k] = (equal & code[t]) | (~equal & took.at[k]);
        }
    }
    if (word<number>::equals(most, most) != 0xFFFFFFFFu) { /* some of the largest is a NaN */
#pragma unroll
        for (int t = 0; t < 9; t++) {
#pragma unroll
            for (int k = 0; k < PACK_WORDS; k++) {
                const uint32_t number_here = word<number>::equals(key[t].at[k], key[t].at[k]);
                took.at[k] = (~number_here & code[t]) | (number_here & took.at[k]);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) took.at[k] = of.gate(took.at[k], best.at[k], code[0], k);
    return took;
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
    work.owner = across < tile && work.column < columns && 2 * work.column < args.window.size[1];
    if (across > tile) work.column = columns; /* beyond the neighbour of the last owner: nothing to do */
    work.first = part / tiles * args.window.strip;
    work.last = work.first + args.window.strip;
    if (work.last >= args.window.out_size[0]) work.last = args.window.out_size[0] + 1; /* with the last odd row */
    return work;
}

/* What two columns of rows 2 row - 1 and 2 row of places get, which windows of rows row - 1 and row may have taken:
 * `sums` is what those of row - 1 gave, and then what those of this row give to row 2 row + 1. `key` has the three
 * columns of this row's windows, whose right neighbour is `right`. */
template <class number, class body>
static __device__ __forceinline__ void slide_make(words (&made)[4], slide_sums<number> &sums, const body &of,
                                                  const slide_window &own, const slide_window &right,
                                                  const words (&key)[9]) {
    typedef word<number> form;
    const int numbers = form::width;
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) {
        const uint32_t took = own.took.at[k], took_right = right.took.at[k];
        float *even = sums.at[0] + k * numbers, *odd = sums.at[1] + k * numbers;
        float dy[numbers], dy_right[numbers], by[numbers];
        form::open(dy, own.dy.at[k]);
        form::open(dy_right, right.dy.at[k]);
#pragma unroll
        for (int j = 0; j < numbers; j++) by[j] = of.factor(k * numbers + j);
#pragma unroll
        for (int r = 0; r < 3; r++) {
            if (r > 0) {
                of.start(even, key[3 * r + 1].at[k], k);
                of.start(odd, key[3 * r + 2].at[k], k);
            }
            form::add(even, took, slide_code<number>(3 * r + 1), dy, by);
            form::add(odd, took, slide_code<number>(3 * r + 2), dy, by);
            form::add(odd, took_right, slide_code<number>(3 * r), dy_right, by);
            if (r == 2) continue;
            made[2 * r].at[k] = form::close(even);
            made[2 * r + 1].at[k] = form::close(odd);
        }
    }
}

/* One pack of channels of a thread: x of its sample, and dy of its column of windows. */
template <class number> struct slide_source {
    const pixel_window &window;
    const number *x, *dy; /* x: of the column in the middle of the windows */
    int64_t line, dy_line;
    int32_t left, right; /* how far the columns beside it are; none there: 0, which repeats it */
    bool inside;
    template <class body>
    __device__ __forceinline__ slide_source(const body &of, const slide_work &work, int64_t c)
        : window(of.args.window), line(window.size[1] * of.plane.pitch), dy_line(window.out_size[1] * of.plane.pitch) {
        const int64_t pitch = of.plane.pitch;
        const int32_t middle = 2 * work.column, last = window.size[1] - 1;
        inside = c < pitch && work.column < window.out_size[1];
        x = (const number *)of.plane.x + work.sample * window.size[0] * line + clamp(middle, window.size[1]) * pitch +
            c;
        dy = (const number *)of.plane.dy + work.sample * window.out_size[0] * dy_line + work.column * pitch + c;
        left = middle > 0 && middle <= last ? (int32_t)pitch : 0;
        right = middle < last ? (int32_t)pitch : 0;
    }
    __device__ __forceinline__ bool has(int32_t row) const { return inside && row >= 0 && row < window.out_size[0]; }
    /* The three columns of a window in one row of places. */
    __device__ __forceinline__ void read_places(words *to, int32_t row) const {
        const number *middle = x + clamp(row, window.size[0]) * line;
        to[0] = words_read(middle - left);
        to[1] = words_read(middle);
        to[2] = words_read(middle + right);
    }
    /* The lower two of the rows of places of a row of windows, and its dy. */
    __device__ __forceinline__ void read(words (&places)[6], words &gradient, int32_t row) const {
        if (!inside) return;
        read_places(places, 2 * row);
        read_places(places + 3, 2 * row + 1);
        if (has(row)) gradient = words_read(dy + row * dy_line);
    }
};

/* Writes two columns of a row of places, if there is such a row; `to` is where those of row 0 lie. */
template <class number>
static __device__ __forceinline__ void slide_write(const slide_source<number> &from, number *to, int32_t row,
                                                   const words &even, const words &odd) {
    if (row < 0 || row >= from.window.size[0]) return;
    to += row * from.line;
    write_bytes<sizeof even>(to, &even);
    if (from.right) write_bytes<sizeof odd>(to + from.right, &odd);
}

template <class body> static __device__ __forceinline__ words slide_keys(const body &of, const words &x) {
    words keys;
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) keys.at[k] = of.key(x.at[k], k);
    return keys;
}

/* One pack of channels, down the rows of a block. */
template <class number, class body>
static __device__ __forceinline__ void slide_down(const body &of, const slide_work &work, int64_t c,
                                                  slide_shared<number> &shared) {
    const slide_source<number> from(of, work, c);
    const int32_t own = (int32_t)threadIdx.x, inside = (int32_t)(of.plane.channels - c);
    number *to = (number *)of.plane.dx + (from.x - (const number *)of.plane.x);
    words at[9] = {}, coming[6] = {}, dy = {};
    if (from.inside) from.read_places(at, 2 * work.first - 3);
    from.read(coming, dy, work.first - 1);
#pragma unroll
    for (int t = 0; t < 3; t++) at[t] = slide_keys(of, at[t]);
    for (int32_t row = work.first - 1; row < work.last; row++) {
        slide_row &windows = shared.rows[(row + 1) % SLIDE_ROWS];
        words took = {};
#pragma unroll
        for (int t = 0; t < 6; t++) at[t + 3] = slide_keys(of, coming[t]);
        windows.dy[own] = dy;
        if (row + 1 < work.last) from.read(coming, dy, row + 1);
        if (from.has(row)) took = slide_find<number>(of, at, row == 0, work.column == 0);
        windows.took[own] = took;
        __syncthreads();
        if (from.inside && work.owner) {
            const slide_window mine = {took, windows.dy[own]};
            const slide_window right = {windows.took[own + work.lanes], windows.dy[own + work.lanes]};
            slide_sums<number> sums;
            words made[4];
#pragma unroll
            for (int j = 0; j < sums.packs; j++) sums.pack[j] = shared.sums[j][own];
            slide_make<number>(made, sums, of, mine, right, at);
#pragma unroll
            for (int j = 0; j < sums.packs; j++) shared.sums[j][own] = sums.pack[j];
            if (inside < PACK_WORDS * word<number>::width) {
#pragma unroll
                for (int j = 0; j < 4; j++) words_cut<number>(made[j], inside);
            }
            if (row >= work.first) { /* the row before has begun the sums */
                slide_write(from, to, 2 * row - 1, made[0], made[1]);
                slide_write(from, to, 2 * row, made[2], made[3]);
            }
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
static __device__ __forceinline__ void slide_kernel(const pixel_args &args, slide_shared<number> &shared,
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
        of.begin(factors, first, work.lanes);
        __syncthreads();
        of.use(factors[lane]);
        slide_down<number>(of, work, c, shared);
    }
}

#endif
