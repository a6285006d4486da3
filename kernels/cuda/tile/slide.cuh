/*
 * What comes back through windows of 3 x 3 places, two apart, behind padding of one: dy of a window goes to the place
 * that it took. A thread has 16 bytes of channels and one column of windows. It goes down the rows, finds what each
 * window took from values that it has read once, and leaves that in shared memory for the thread to its left; then it
 * makes the two rows and two columns of places that have all their windows, while the next rows are on their way.
 * Registers and instructions are scarce, so channels are worked on as packed words, and what a body knows of them lies
 * in shared memory. The body brings
 *
 *     factors                    the type of what it knows of a pack of channels
 *     rounds                     true: the sum of two dy may be rounded to their format
 *     begin(all, first, packs)   readies the factors of `packs` packs from channel `first` on; all threads call it
 *     use(from)                  readies this thread to use those
 *     key(x, k)                  word k of a pack as windows compare it: the place with the largest key is taken
 *     gate(took, best, first, k) what the windows of word k took, best being their largest keys and `first` their first
 *                                place; 0 where nothing comes back
 *     make(g, key, k)            what it makes of the gradients g of word k
 *     blank(at)                  writes zeros: the sample is blanked
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SLIDE_CUH
#define BRAID_KERNELS_CUDA_TILE_SLIDE_CUH

#include "kernels/cuda/tile/window3.cuh"

#define SLIDE_LANES 32 /* most lanes of a block */
#define SLIDE_ROWS 3   /* of windows that are kept: two that are read, and one that is written meanwhile */

/* Two words of a pack. */
struct alignas(8) slide_pair {
    uint32_t at[2];
};

/* What the windows of a row took, by pair of words and thread, and their dy. */
struct slide_row {
    slide_pair took[PACK_WORDS / 2][BLOCK_THREADS], dy[PACK_WORDS / 2][BLOCK_THREADS];
};

typedef slide_row slide_shared[SLIDE_ROWS];

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

/* Two words of what a window took, with their dy. */
template <class number> struct slide_window {
    slide_pair took, dy;
    __device__ __forceinline__ slide_window(const slide_row &row, int half, int32_t thread)
        : took(row.took[half][thread]), dy(row.dy[half][thread]) {}
    /* dy of word q where the window took place t. */
    __device__ __forceinline__ uint32_t at(int t, int q) const {
        return word<number>::equals(took.at[q], slide_code<number>(t)) & dy.at[q];
    }
};

/* The sums of two words. */
template <class number, bool rounds>
static __device__ __forceinline__ void slide_add(float (&to)[word<number>::width], uint32_t a, uint32_t b) {
    float more[word<number>::width];
    if (rounds) {
        word<number>::open(to, word<number>::sum(a, b));
        return;
    }
    word<number>::open(to, a);
    word<number>::open(more, b);
#pragma unroll
    for (int j = 0; j < word<number>::width; j++) to[j] += more[j];
}

/* Where a thread works: windows of column `column` in rows first - 1 up to last; an owner makes places. */
struct slide_work {
    int64_t sample;
    int32_t first, last, column, lanes;
    bool owner;
};

template <class argument> static __device__ __forceinline__ slide_work slide_work_find(const argument &args, int i) {
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

/* Writes places (row, 2 column) and (row, 2 column + 1). */
template <class number, class body>
static __device__ __forceinline__ void slide_write(const body &of, const slide_work &work, int32_t row,
                                                   const words &even, const words &odd, int64_t c) {
    const int32_t *size = of.args.window.size;
    if (row < 0 || row >= size[0] || 2 * work.column >= size[1]) return;
    const int64_t at = ((work.sample * size[0] + row) * size[1] + 2 * work.column) * of.plane.pitch + c;
    number *to = (number *)of.plane.dx + at;
    write_bytes<sizeof even>(to, &even);
    if (2 * work.column + 1 < size[1]) write_bytes<sizeof odd>(to + of.plane.pitch, &odd);
}

/* What two columns of rows 2 row - 1 and 2 row of places get, which windows of rows row - 1 (above) and row (here) may
 * have taken. `key` has the three columns of those rows; `next` is the thread to the right. */
template <class number, class body>
static __device__ __forceinline__ void slide_make(words (&made)[4], const body &of, const slide_row &above,
                                                  const slide_row &here, const words (&key)[9], int32_t own,
                                                  int32_t next) {
    const int numbers = word<number>::width;
#pragma unroll
    for (int half = 0; half < PACK_WORDS / 2; half++) {
        const slide_window<number> top(above, half, own), top_right(above, half, next), low(here, half, own),
            low_right(here, half, next);
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const int k = 2 * half + q;
            float g[4][numbers], more[numbers];
            slide_add<number, body::rounds>(g[0], top.at(7, q), low.at(1, q));
            slide_add<number, body::rounds>(g[1], top.at(8, q), top_right.at(6, q));
            slide_add<number, body::rounds>(more, low.at(2, q), low_right.at(0, q));
            word<number>::open(g[2], low.at(4, q));
            slide_add<number, body::rounds>(g[3], low.at(5, q), low_right.at(3, q));
#pragma unroll
            for (int j = 0; j < numbers; j++) g[1][j] += more[j];
            made[0].at[k] = of.make(g[0], key[1].at[k], k);
            made[1].at[k] = of.make(g[1], key[2].at[k], k);
            made[2].at[k] = of.make(g[2], key[4].at[k], k);
            made[3].at[k] = of.make(g[3], key[5].at[k], k);
        }
    }
}

/* Makes and writes them. */
template <class number, class body>
static __device__ __forceinline__ void slide_places(const body &of, const slide_work &work, int32_t row,
                                                    const slide_row &above, const slide_row &here,
                                                    const words (&key)[9], int64_t c) {
    const int32_t own = (int32_t)threadIdx.x;
    const int64_t inside = of.plane.channels - c;
    words made[4];
    slide_make<number>(made, of, above, here, key, own, own + work.lanes);
    if (inside < PACK_WORDS * word<number>::width) {
#pragma unroll
        for (int j = 0; j < 4; j++) words_cut<number>(made[j], inside);
    }
    slide_write<number>(of, work, 2 * row - 1, made[0], made[1], c);
    slide_write<number>(of, work, 2 * row, made[2], made[3], c);
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

template <class body> static __device__ __forceinline__ words slide_keys(const body &of, const words &x) {
    words keys;
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) keys.at[k] = of.key(x.at[k], k);
    return keys;
}

/* One pack of channels, down the rows of a block. */
template <class number, class body>
static __device__ __forceinline__ void slide_down(const body &of, const slide_work &work, int64_t c,
                                                  slide_shared &shared) {
    const slide_source<number> from(of, work, c);
    words at[9] = {}, coming[6] = {}, dy = {};
    if (from.inside) from.read_places(at, 2 * work.first - 3);
    from.read(coming, dy, work.first - 1);
#pragma unroll
    for (int t = 0; t < 3; t++) at[t] = slide_keys(of, at[t]);
    for (int32_t row = work.first - 1; row < work.last; row++) {
        slide_row &mine = shared[(row + 1) % SLIDE_ROWS];
        words took = {};
#pragma unroll
        for (int t = 0; t < 6; t++) at[t + 3] = slide_keys(of, coming[t]);
#pragma unroll
        for (int half = 0; half < PACK_WORDS / 2; half++)
            mine.dy[half][threadIdx.x] = {dy.at[2 * half], dy.at[2 * half + 1]};
        if (row + 1 < work.last) from.read(coming, dy, row + 1);
        if (from.has(row)) took = slide_find<number>(of, at, row == 0, work.column == 0);
#pragma unroll
        for (int half = 0; half < PACK_WORDS / 2; half++)
            mine.took[half][threadIdx.x] = {took.at[2 * half], took.at[2 * half + 1]};
        __syncthreads();
        if (from.inside && work.owner && row >= work.first)
            slide_places<number>(of, work, row, shared[row % SLIDE_ROWS], mine, at, c);
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
template <template <class, int> class body, class number, class argument>
static __device__ __forceinline__ void slide_kernel(const argument &args, slide_shared &shared,
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
