/*
 * What comes back through windows of 3 x 3 places, two apart, behind padding of one: dy of a window goes to the place
 * that it took. A thread has 16 bytes of channels and one column of windows. It goes down the rows, finds what each
 * window gives to which place from values that it has read once, and leaves what the places to the left get in shared
 * memory for the thread there; it makes the two columns of places that have all their windows, while the next rows are
 * on their way. Registers and instructions are scarce, so channels are worked on as packed words, and what a body knows
 * of them lies in shared memory. The body brings
 *
 *     factors                    the type of what it knows of a pack of channels
 *     rounds                     true: the sum of two dy may be rounded to their format
 *     begin(all, first, packs)   readies the factors of `packs` packs from channel `first` on; all threads call it
 *     use(from)                  readies this thread to use those
 *     key(x, k)                  word k of a pack as windows compare it: the place with the largest key is taken
 *     kept(k)                    no bits where all keys of word k count as alike
 *     opens(best, k)             all bits set where dy of windows with these largest keys comes back
 *     make(g, key, k)            what it makes of the gradients g of word k
 *     blank(at)                  writes zeros: the sample is blanked
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SLIDE_CUH
#define BRAID_KERNELS_CUDA_TILE_SLIDE_CUH

#include "kernels/cuda/tile/window3.cuh"

#define SLIDE_LANES 32 /* most lanes of a block */
#define SLIDE_ROWS 2   /* of windows that are kept: one that is read, and one that is written meanwhile */

/* Two words of a pack. */
struct alignas(8) slide_pair {
    uint32_t at[2];
};

/* What the windows of a row give to the places to their left, in their three rows, by pair of words and thread. */
struct slide_row {
    slide_pair left[3][PACK_WORDS / 2][BLOCK_THREADS];
};

typedef slide_row slide_shared[SLIDE_ROWS];

/* How it is written that all numbers of a word took place t, counted row by row: as a number of the format, so that
 * words can be compared with it. 0: none. */
template <class number> static __device__ __forceinline__ uint32_t slide_code(int t) {
    return word<number>::width == 2 ? 0x04000400u * (uint32_t)(t + 1) : 0x04000000u * (uint32_t)(t + 1);
}

/* The place that a window takes, of word k: the first of equal keys, or the last NaN, or the first place of all where
 * they are alike. Places above the image (top) or left of it repeat others and are never taken: what they are compared
 * with is a NaN. Those below and right come later than the places that they repeat. Rarely asked. */
template <class number, class body>
static __device__ __forceinline__ uint32_t slide_take(const body &of, const words (&key)[9], uint32_t best, bool top,
                                                      bool left, int k) {
    const uint32_t kept = of.kept(k), first = slide_code<number>((top ? 3 : 0) + (left ? 1 : 0));
    uint32_t took = 0;
#pragma unroll
    for (int t = 8; t >= 0; t--) {
        const uint32_t equal = (t < 3 && top) || (t % 3 == 0 && left) ? 0 : word<number>::equals(key[t].at[k], best);
        took = (equal & slide_code<number>(t)) | (~equal & took);
    }
#pragma unroll
    for (int t = 0; t < 9; t++) {
        uint32_t nan = ~word<number>::equals(key[t].at[k], key[t].at[k]);
        if ((t < 3 && top) || (t % 3 == 0 && left)) nan = 0;
        took = (nan & slide_code<number>(t)) | (~nan & took);
    }
    return (took & kept) | (first & ~kept);
}

/* What a window gives to its nine places, of word k: its dy to the one that it takes, as slide_take says. */
template <class number, class body>
static __device__ __forceinline__ void slide_give(uint32_t (&gives)[9], const body &of, const words (&key)[9],
                                                  uint32_t dy, bool top, bool left, int k) {
    const uint32_t nans = word<number>::width == 2 ? 0x7FFF7FFFu : 0x7FFFFFFFu;
    const uint32_t no_top = top ? nans : 0, no_left = left ? nans : 0;
    uint32_t best = key[0].at[k];
#pragma unroll
    for (int t = 1; t < 9; t++) best = word<number>::larger(best, key[t].at[k]);
    uint32_t rest = dy & of.opens(best, k);
    if ((word<number>::equals(best, best) & of.kept(k)) == 0xFFFFFFFFu) {
#pragma unroll
        for (int t = 0; t < 8; t++) {
            const uint32_t with = best | (t < 3 ? no_top : 0) | (t % 3 == 0 ? no_left : 0);
            const uint32_t equal = word<number>::equals(key[t].at[k], with);
            gives[t] = equal & rest;
            rest &= ~equal;
        }
        gives[8] = rest;
    } else {
        const uint32_t took = slide_take<number>(of, key, best, top, left, k);
#pragma unroll
        for (int t = 0; t < 9; t++) gives[t] = word<number>::equals(took, slide_code<number>(t)) & rest;
    }
}

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

/* What windows give to the second column of places of their own, and below, before what comes from the right. */
struct slide_given {
    words above, here; /* to rows 2 row - 1 and 2 row */
    words even, odd;   /* to row 2 row + 1, both columns */
};

/* What windows gave to the row of places below them. */
struct slide_below {
    words even, odd, right;
};

/* Makes the first column of rows 2 row - 1 and 2 row of places and leaves what the thread to the left needs. `key` has
 * the three columns of those rows and of the next, dy is that of window (row, column), `before` is of the windows above
 * it. */
template <class number, class body>
static __device__ __forceinline__ slide_given slide_even(words (&made)[2], slide_row &row, int32_t own, const body &of,
                                                         const words (&key)[9], const words &dy,
                                                         const slide_below &before, bool top, bool left) {
    slide_given given;
#pragma unroll
    for (int half = 0; half < PACK_WORDS / 2; half++) {
        slide_pair to_left[3];
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const int k = 2 * half + q;
            uint32_t gives[9];
            float g[word<number>::width];
            slide_give<number>(gives, of, key, dy.at[k], top, left, k);
            slide_add<number, body::rounds>(g, before.even.at[k], gives[1]);
            made[0].at[k] = of.make(g, key[1].at[k], k);
            word<number>::open(g, gives[4]);
            made[1].at[k] = of.make(g, key[4].at[k], k);
            given.above.at[k] = gives[2];
            given.here.at[k] = gives[5];
            given.even.at[k] = gives[7];
            given.odd.at[k] = gives[8];
#pragma unroll
            for (int r = 0; r < 3; r++) to_left[r].at[q] = gives[3 * r];
        }
#pragma unroll
        for (int r = 0; r < 3; r++) row.left[r][half][own] = to_left[r];
    }
    return given;
}

/* Makes the second column, with what the thread to the right has left, and keeps what the next row needs. */
template <class number, class body>
static __device__ __forceinline__ void slide_odd(words (&made)[2], slide_below &before, const slide_row &row,
                                                 int32_t right, const body &of, const words (&key)[9],
                                                 const slide_given &given) {
#pragma unroll
    for (int half = 0; half < PACK_WORDS / 2; half++) {
        slide_pair from[3];
#pragma unroll
        for (int r = 0; r < 3; r++) from[r] = row.left[r][half][right];
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const int k = 2 * half + q;
            float g[word<number>::width], more[word<number>::width];
            slide_add<number, body::rounds>(g, before.odd.at[k], before.right.at[k]);
            slide_add<number, body::rounds>(more, given.above.at[k], from[0].at[q]);
#pragma unroll
            for (int j = 0; j < word<number>::width; j++) g[j] += more[j];
            made[0].at[k] = of.make(g, key[2].at[k], k);
            slide_add<number, body::rounds>(g, given.here.at[k], from[1].at[q]);
            made[1].at[k] = of.make(g, key[5].at[k], k);
            before.right.at[k] = from[2].at[q];
        }
    }
    before.even = given.even;
    before.odd = given.odd;
}

/* Writes rows 2 row - 1 and 2 row of a column of places. */
template <class number, class body>
static __device__ __forceinline__ void slide_write(const body &of, const slide_work &work, int32_t row, int32_t column,
                                                   words (&made)[2], int64_t c) {
    const int32_t *size = of.args.window.size;
    const int64_t inside = of.plane.channels - c;
    if (column >= size[1]) return;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int32_t line = 2 * row - 1 + j;
        if (inside < PACK_WORDS * word<number>::width) words_cut<number>(made[j], inside);
        if (line < 0 || line >= size[0]) continue;
        const int64_t at = ((work.sample * size[0] + line) * size[1] + column) * of.plane.pitch + c;
        write_bytes<sizeof made[j]>((number *)of.plane.dx + at, &made[j]);
    }
}

/* The three columns of a window in one row of places. */
template <class number>
static __device__ __forceinline__ void slide_read(words *to, const number *x, const pixel_window &window, int32_t row,
                                                  int32_t column, int64_t pitch) {
    const number *line = x + (int64_t)clamp(row, window.size[0]) * window.size[1] * pitch;
#pragma unroll
    for (int s = 0; s < 3; s++) to[s] = words_read(line + clamp(2 * column - 1 + s, window.size[1]) * pitch);
}

/* One pack of channels of a thread: x of its sample, and dy of its column of windows. */
template <class number> struct slide_source {
    const pixel_window &window;
    const number *x, *dy;
    int64_t pitch;
    int32_t column;
    bool inside;
    template <class body>
    __device__ __forceinline__ slide_source(const body &of, const slide_work &work, int64_t c)
        : window(of.args.window), pitch(of.plane.pitch), column(work.column) {
        inside = c < pitch && column < window.out_size[1];
        x = (const number *)of.plane.x + work.sample * window.size[0] * window.size[1] * pitch + c;
        dy = (const number *)of.plane.dy + c;
        dy += (work.sample * window.out_size[0] * window.out_size[1] + column) * pitch;
    }
    __device__ __forceinline__ bool has(int32_t row) const { return inside && row >= 0 && row < window.out_size[0]; }
    /* The lower two of the rows of places of a row of windows. */
    __device__ __forceinline__ void read(words (&places)[6], words &gradient, int32_t row) const {
        if (!inside) return;
        slide_read(places, x, window, 2 * row, column, pitch);
        slide_read(places + 3, x, window, 2 * row + 1, column, pitch);
        if (has(row)) gradient = words_read(dy + (int64_t)row * window.out_size[1] * pitch);
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
    const int32_t own = (int32_t)threadIdx.x, right = work.owner ? own + work.lanes : own;
    words at[9] = {}, coming[6] = {}, dy = {};
    slide_below before = {};
    if (from.inside) slide_read(at, from.x, from.window, 2 * work.first - 3, work.column, from.pitch);
    from.read(coming, dy, work.first - 1);
#pragma unroll
    for (int t = 0; t < 3; t++) at[t] = slide_keys(of, at[t]);
    for (int32_t row = work.first - 1; row < work.last; row++) {
        slide_row &mine = shared[(row + 1) % SLIDE_ROWS];
        const bool makes = from.inside && work.owner && row >= work.first;
        words made[2], now = {};
        if (from.has(row)) now = dy;
#pragma unroll
        for (int t = 0; t < 6; t++) at[t + 3] = slide_keys(of, coming[t]);
        if (row + 1 < work.last) from.read(coming, dy, row + 1);
        const slide_given given = slide_even<number>(made, mine, own, of, at, now, before, row == 0, work.column == 0);
        if (makes) slide_write<number>(of, work, row, 2 * work.column, made, c);
        __syncthreads();
        slide_odd<number>(made, before, mine, right, of, at, given);
        if (makes) slide_write<number>(of, work, row, 2 * work.column + 1, made, c);
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
        of.begin(factors, first, work.lanes);
        __syncthreads();
        of.use(factors[lane]);
        slide_down<number>(of, work, c, shared);
    }
}

#endif
