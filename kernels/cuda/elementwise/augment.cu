/*
 * augment in four launches. What happens to every sample of every stream is drawn (augment_draw.h, the bits of the
 * CPU); images that are resampled are made, and the grey that a contrast is set against is summed up; the rows of
 * blurred images follow; and then every output is made from the inside out, as kernels/ref/augment.c does it: source,
 * adjustments, columns of the blur, grey or noise, normalised, erased. A launch passes over what needs nothing of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/augment.h"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/elementwise/philox.cuh"
#include "kernels/cuda/tile/rows.cuh"
#include "kernels/cuda/tile/shape.h"

#define DRAW_CODE static __device__

DRAW_CODE uint32_t numbers_u32(rng *r) {
    const philox block = philox_block(r->seed, r->stream, r->index / 4);
    return philox_word(block, (uint32_t)r->index++);
}

DRAW_CODE int64_t numbers_between(rng *r, int64_t low, int64_t high) {
    uint64_t draw = (uint64_t)numbers_u32(r) << 32;
    draw |= numbers_u32(r);
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    const uint64_t step = span ? (uint64_t)(((unsigned __int128)draw * span) >> 64) : draw;
    return (int64_t)((uint64_t)low + step);
}

DRAW_CODE void numbers_mix(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    const philox mixed = philox_block(key[0] | (uint64_t)key[1] << 32, counter[2] | (uint64_t)counter[3] << 32,
                                      counter[0] | (uint64_t)counter[1] << 32);
    for (int j = 0; j < 4; j++) out[j] = mixed.word[j];
}

#include "ops/augment_draw.h"

ENTRY(
    augment_draw_all, (BLOCK_THREADS), augment_args,
    const int64_t at = (int64_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    if (at >= args.planes * args.batch) return; const augment_plane &plane = args.plane[at / args.batch]; draw_frame f;
    double settings[AUGMENT_SETTINGS]; for (int axis = 0; axis < 2; axis++) {
        f.size[axis] = args.size[axis];
        f.out_size[axis] = args.out_size[axis];
    } f.is_train = args.is_train;
    f.has_colours = plane.channels == 3;
    for (int j = 0; j < AUGMENT_SETTINGS; j++) settings[j] = (double)plane.settings[j];
    draw_sample(&f, args.key, args.ids[at % args.batch], settings, &args.draws[at]))

/* ---- One sample of one stream -------------------------------------------------------------- */

struct colours {
    float c[3]; /* R G B */
};

struct scene {
    const augment_args &args;
    const augment_plane &plane;
    const augment_draws &d;
    const uint8_t *x;
    int64_t sample, pixels; /* of the output */
    int64_t image;          /* among those of all planes */
    int part;
    float mean; /* grey of the image that the contrast is set against */

    __device__ __forceinline__ scene(const augment_args &all, int64_t which)
        : args(all), plane(all.plane[which / all.batch]), d(all.draws[which]), sample(which % all.batch),
          pixels(all.out_size[0] * all.out_size[1]), image(which), part((int)(blockIdx.x % (unsigned)all.parts)),
          mean(0) {
        x = plane.x + sample * all.size[0] * all.size[1] * plane.channels;
    }
    __device__ __forceinline__ bool has_mean() const { return d.colour && d.adjust; }
    __device__ __forceinline__ float *resampled() const {
        return args.values + plane.resampled + sample * pixels * plane.channels;
    }
    __device__ __forceinline__ float *blurred() const { return args.values + plane.blurred + sample * pixels * 3; }
};

static __device__ __forceinline__ int64_t scene_of_block(const augment_args &args) {
    return blockIdx.x / (unsigned)args.parts;
}

/* The pixels of a block: this one, and then every ... */
static __device__ __forceinline__ int64_t first_pixel(const scene &s) {
    return (int64_t)s.part * BLOCK_THREADS + threadIdx.x;
}
static __device__ __forceinline__ int64_t pixel_step(const scene &s) { return (int64_t)s.args.parts * BLOCK_THREADS; }

/* ---- The source ---------------------------------------------------------------------------- */

/* A place of the mirrored image, counted from the corner of the rectangle that is taken. */
static __device__ __forceinline__ float byte_at(const scene &s, int64_t row, int64_t column, int64_t c) {
    const int64_t y = s.d.source.top + row, from = s.d.source.left + column;
    const int64_t at = s.d.flip ? s.args.size[1] - 1 - from : from;
    return (float)s.x[(y * s.args.size[1] + at) * s.plane.channels + c] / 255;
}

static __device__ float resample(const scene &s, int64_t row, int64_t column, int64_t c) {
    const int64_t height = s.d.source.height, width = s.d.source.width;
    int64_t top, rows, left, columns;
    float sum = 0, weights = 0;
    draw_taps(height, s.args.out_size[0], row, &top, &rows);
    draw_taps(width, s.args.out_size[1], column, &left, &columns);
    for (int64_t v = top; v < top + rows; v++) {
        const float down = (float)draw_tap_weight(height, s.args.out_size[0], row, v);
        float line = 0, line_weights = 0;
        for (int64_t h = left; h < left + columns; h++) {
            const float across = (float)draw_tap_weight(width, s.args.out_size[1], column, h);
            line += across * byte_at(s, v, h, c);
            line_weights += across;
        }
        sum += down * (line / line_weights);
        weights += down;
    }
    return sum / weights;
}

static __device__ __forceinline__ float source(const scene &s, int64_t pixel, int64_t c) {
    if (s.d.resample) return s.resampled()[pixel * s.plane.channels + c];
    return byte_at(s, pixel / s.args.out_size[1], pixel % s.args.out_size[1], c);
}

/* ---- Adjustments --------------------------------------------------------------------------- */

static __device__ __forceinline__ float clamp(float value) { return fminf(fmaxf(value, 0), 1); }

static __device__ __forceinline__ float grey_of(const colours &a) {
    return 0.2989f * a.c[0] + 0.587f * a.c[1] + 0.114f * a.c[2];
}

/* a * share + b * (1 - share), clamped. */
static __device__ __forceinline__ float blend(float a, float b, double share) {
    return clamp((float)share * a + (float)(1 - share) * b);
}

/* The three channels of a hue in sixths of a turn, a largest and a smallest value. */
static __device__ __forceinline__ colours from_hue(float sixths, float high, float low) {
    const int sector = (int)floorf(sixths);
    const float part = sixths - (float)sector, falling = high - (high - low) * part, rising = low + (high - low) * part;
    switch (sector % 6) {
        case 0: return {{high, rising, low}};
        case 1: return {{falling, high, low}};
        case 2: return {{low, high, rising}};
        case 3: return {{low, falling, high}};
        case 4: return {{rising, low, high}};
        default: return {{high, low, falling}};
    }
}

static __device__ __forceinline__ colours turn_hue(const colours &a, double turn) {
    const float r = a.c[0], g = a.c[1], b = a.c[2];
    const float high = fmaxf(r, fmaxf(g, b)), low = fminf(r, fminf(g, b)), span = high - low;
    float sixths = 0;
    if (span != 0) sixths = high == r ? (g - b) / span : high == g ? 2 + (b - r) / span : 4 + (r - g) / span;
    sixths += 6 * (float)turn;
    sixths -= 6 * floorf(sixths / 6);
    return from_hue(sixths, high, low);
}

/* The first `steps` adjustments of a colour pixel. */
static __device__ colours adjusted(const scene &s, int64_t pixel, int steps) {
    colours a;
    for (int c = 0; c < 3; c++) a.c[c] = source(s, pixel, c);
    for (int j = 0; s.d.adjust && j < steps; j++) {
        const augment_step step = s.d.order[j];
        if (step == AUGMENT_STEP_HUE) {
            a = turn_hue(a, s.d.hue);
            continue;
        }
        const double share = step == AUGMENT_STEP_BRIGHTNESS ? s.d.brightness
                             : step == AUGMENT_STEP_CONTRAST ? s.d.contrast
                                                             : s.d.saturation;
        const float other = step == AUGMENT_STEP_BRIGHTNESS ? 0 : step == AUGMENT_STEP_CONTRAST ? s.mean : grey_of(a);
        for (int c = 0; c < 3; c++) a.c[c] = blend(a.c[c], other, share);
    }
    return a;
}

/* Every thread of the block comes here. */
static __device__ __forceinline__ void find_mean(scene &s, double *shared) {
    double mine = 0;
    if (!s.has_mean()) return;
    for (int part = (int)threadIdx.x; part < s.args.parts; part += BLOCK_THREADS)
        mine += s.args.sums[s.image * s.args.parts + part];
    s.mean = (float)(row_sum(shared, mine, BLOCK_THREADS) / (double)s.pixels);
}

ENTRY(
    augment_source, (BLOCK_THREADS), augment_args, __shared__ double shared[BLOCK_THREADS];
    const scene s(args, scene_of_block(args)); double mine = 0; int before = 0; if (s.d.resample) {
        for (int64_t pixel = first_pixel(s); pixel < s.pixels; pixel += pixel_step(s)) {
            for (int64_t c = 0; c < s.plane.channels; c++) {
                s.resampled()[pixel * s.plane.channels + c] =
                    resample(s, pixel / args.out_size[1], pixel % args.out_size[1], c);
            }
        }
    } if (!s.has_mean()) return;
    while (s.d.order[before] != AUGMENT_STEP_CONTRAST) before++;
    for (int64_t pixel = first_pixel(s); pixel < s.pixels; pixel += pixel_step(s)) mine +=
    (double)grey_of(adjusted(s, pixel, before));
    mine = row_sum(shared, mine, BLOCK_THREADS); if (threadIdx.x == 0) args.sums[s.image * args.parts + s.part] = mine)

/* ---- Blur ---------------------------------------------------------------------------------- */

ENTRY(
    augment_blur_rows, (BLOCK_THREADS), augment_args, __shared__ double shared[BLOCK_THREADS];
    scene s(args, scene_of_block(args)); if (s.d.blur_taps == 0) return; find_mean(s, shared);
    const int64_t width = args.out_size[1];
    for (int64_t pixel = first_pixel(s); pixel < s.pixels; pixel += pixel_step(s)) {
        const int64_t row = pixel / width, column = pixel % width - s.d.blur_taps / 2;
        colours sum = {{0, 0, 0}};
        for (int h = 0; h < s.d.blur_taps; h++) {
            const colours a = adjusted(s, row * width + draw_reflect(column + h, width), AUGMENT_STEPS);
            for (int c = 0; c < 3; c++) sum.c[c] += (float)s.d.blur_weights[h] * a.c[c];
        }
        for (int c = 0; c < 3; c++) s.blurred()[pixel * 3 + c] = sum.c[c];
    })

static __device__ colours blur_columns(const scene &s, int64_t pixel) {
    const int64_t width = s.args.out_size[1], row = pixel / width - s.d.blur_taps / 2;
    colours sum = {{0, 0, 0}};
    for (int v = 0; v < s.d.blur_taps; v++) {
        const float *line = s.blurred() + (draw_reflect(row + v, s.args.out_size[0]) * width + pixel % width) * 3;
        for (int c = 0; c < 3; c++) sum.c[c] += (float)s.d.blur_weights[v] * line[c];
    }
    return sum;
}

/* ---- The output ---------------------------------------------------------------------------- */

/* The noise of one element, in deviations: the numbers of rng_normal. */
static __device__ float noise_of(const scene &s, int64_t element) {
    rng numbers = s.d.noise_numbers;
    numbers.index = 2 * (uint64_t)element;
    const double radius = (numbers_u32(&numbers) + 0.5) * 0x1p-32, turn = numbers_u32(&numbers) * 0x1p-32;
    return (float)(sqrt(-2 * log(radius)) * cos(6.2831853071795865 * turn));
}

/* ((x - 1/2) contrast + 1/2) brightness + noise, clamped. */
static __device__ float plain_value(const scene &s, int64_t pixel, int64_t c) {
    const float a = source(s, pixel, c);
    if (!s.d.adjust) return a;
    const float steeper = (a - 0.5f) * (float)s.d.contrast + 0.5f;
    const float noise = s.d.noise > 0 ? (float)s.d.noise * noise_of(s, pixel * s.plane.channels + c) : 0;
    return clamp(steeper * (float)s.d.brightness + noise);
}

static __device__ colours colour_value(const scene &s, int64_t pixel) {
    colours a = s.d.blur_taps ? blur_columns(s, pixel) : adjusted(s, pixel, AUGMENT_STEPS);
    if (s.d.grey) a.c[0] = a.c[1] = a.c[2] = grey_of(a);
    return a;
}

static __device__ __forceinline__ bool is_erased(const scene &s, int64_t pixel) {
    const int64_t row = pixel / s.args.out_size[1] - s.d.erased.top,
                  column = pixel % s.args.out_size[1] - s.d.erased.left;
    return row >= 0 && row < s.d.erased.height && column >= 0 && column < s.d.erased.width;
}

template <class number> static __device__ __forceinline__ void finish(const augment_args &args, double *shared) {
    scene s(args, scene_of_block(args));
    find_mean(s, shared);
    for (int64_t pixel = first_pixel(s); pixel < s.pixels; pixel += pixel_step(s)) {
        number *y = (number *)s.plane.y + (s.sample * s.pixels + pixel) * s.plane.pitch;
        const bool erased = is_erased(s, pixel);
        colours a = {{0, 0, 0}};
        if (!erased && s.d.colour) a = colour_value(s, pixel);
        for (int64_t c = 0; c < s.plane.pitch; c++) {
            float value = 0;
            if (!erased && c < s.plane.channels)
                value = ((s.d.colour ? a.c[c % 3] : plain_value(s, pixel, c)) - s.plane.mean[c]) / s.plane.std[c];
            store(y + c, value);
        }
    }
}

ENTRY_FORMATS(augment, (BLOCK_THREADS), augment_args, __shared__ double shared[BLOCK_THREADS];
              finish<number>(args, shared))
