/*
 * Tests of the loops over channels of the CPU kernels (kernels/cpu/isa/channels.h) for every instruction set that this
 * machine has and every format of a plane, against plain loops: every number of channels and pixels, and nothing
 * touched beside the result. Small integers, which halves hold exactly, so that equality is exact.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/dtype.h"
#include "core/rng.h"
#include "kernels/cpu/isa/channels.h"

enum { MOST_CHANNELS = 70, MOST_PIXELS = 5, MOST_VALUES = (MOST_PIXELS + 1) * (MOST_CHANNELS + 3) };

static const struct {
    unsigned feature;
    const channel_loops *loops;
} sets[] = {{FEATURE_AVX512_BF16, &channels_avx512_bf16},
            {FEATURE_AVX512, &channels_avx512},
            {FEATURE_AVX2, &channels_avx2},
            {0, &channels_portable}};
enum { SETS = sizeof sets / sizeof sets[0] };

static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F16};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

static int has(int set) {
    if ((cpu_features() & sets[set].feature) == sets[set].feature) return 1;
    print_message("%s is left out: not available here\n", sets[set].loops->name);
    return 0;
}

/* A plane in one format, and what it holds. */
typedef struct plane {
    float value[MOST_VALUES];
    _Alignas(64) uint8_t data[MOST_VALUES * sizeof(float)];
    braid_dtype dtype;
} plane;

static const void *at(const plane *p, int64_t index) { return p->data + (size_t)index * dtype_bytes(p->dtype); }

static float value_of(const plane *p, int64_t index) { return (float)dtype_load(p->data, p->dtype, index); }

/* Integers in the channels, NaN in the lanes behind them. */
static void fill_plane(plane *p, braid_dtype dtype, int64_t channels, int64_t pitch, uint64_t seed) {
    rng r = {seed, 1, 0};
    p->dtype = dtype;
    for (int64_t i = 0; i < MOST_VALUES; i++) p->value[i] = i % pitch < channels ? (float)rng_between(&r, -4, 4) : NAN;
    dtype_from_f32(p->data, dtype, p->value, MOST_VALUES);
}

static void fill_poison(plane *p, braid_dtype dtype) {
    p->dtype = dtype;
    for (int64_t i = 0; i < MOST_VALUES; i++) p->value[i] = NAN;
    dtype_from_f32(p->data, dtype, p->value, MOST_VALUES);
}

static void fill_integers(float *to, int count, uint64_t seed) {
    rng r = {seed, 1, 0};
    for (int i = 0; i < count; i++) to[i] = (float)rng_between(&r, -4, 4);
}

static double normal(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }

static float map_expected(const channel_map *m, float x, float z, int64_t c) {
    const float *const *k = m->coefficient;
    switch (m->kind) {
        case CHANNEL_RELU: return x > 0 ? x : 0;
        case CHANNEL_RELU_GRADIENT: return x > 0 ? z : 0;
        case CHANNEL_ADD: return x + z;
        case CHANNEL_SCALE_SHIFT: return x * k[0][c] + k[1][c];
        case CHANNEL_BN_GRADIENT: return z * k[0][c] + ((x - k[3][c]) * k[1][c] + k[2][c]);
        case CHANNEL_GELU: return (float)((double)x * normal((double)x));
        default: return 0;
    }
}

/* One map of one shape: the result, and everything beside it. */
static void check_map(const channel_loops *loops, braid_dtype dtype, channel_kind kind, int64_t channels,
                      int64_t count) {
    static plane x, z, out;
    static float coefficients[CHANNEL_COEFFICIENTS][MOST_CHANNELS];
    int64_t pitch = channels + channels % 3;
    fill_plane(&x, dtype, channels, pitch, 1);
    fill_plane(&z, dtype, channels, pitch, 2);
    fill_poison(&out, dtype);
    channel_map m = {.kind = kind,
                     .dtype = dtype,
                     .channels = channels,
                     .pitch = pitch,
                     .count = count,
                     .x = x.data,
                     .z = z.data,
                     .out = out.data};
    m.stream = pitch == channels && (size_t)pitch * dtype_bytes(dtype) % 64 == 0;
    for (int i = 0; i < CHANNEL_COEFFICIENTS; i++) {
        fill_integers(coefficients[i], MOST_CHANNELS, (uint64_t)(90 + i));
        m.coefficient[i] = coefficients[i];
    }
    loops->map(&m);
    for (int64_t i = 0; i < MOST_VALUES; i++) {
        float got = value_of(&out, i);
        if (i >= count * pitch || i % pitch >= channels) {
            assert_true(isnan(got));
            continue;
        }
        float expected = map_expected(&m, x.value[i], z.value[i], i % pitch);
        double allowed = kind == CHANNEL_GELU ? 2 * dtype_unit_roundoff(dtype) * fabs((double)expected) + 1e-6 : 0;
        assert_true(fabs((double)(got - expected)) <= allowed);
    }
}

static void maps_equal_plain_loop(void **state) {
    static const channel_kind kinds[] = {CHANNEL_RELU, CHANNEL_GELU,        CHANNEL_RELU_GRADIENT,
                                         CHANNEL_ADD,  CHANNEL_SCALE_SHIFT, CHANNEL_BN_GRADIENT};
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (!has(set)) continue;
        for (int d = 0; d < DTYPES; d++) {
            for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
                for (int channels = 1; channels <= MOST_CHANNELS; channels++) {
                    for (int count = 0; count <= MOST_PIXELS; count++) {
                        check_map(sets[set].loops, dtypes[d], kinds[k], channels, count);
                    }
                }
            }
        }
    }
}

static void check_sums(const channel_loops *loops, braid_dtype dtype, int64_t channels, int64_t count, int squares) {
    static plane x, dy;
    float center[MOST_CHANNELS];
    double first[MOST_CHANNELS + 1], second[MOST_CHANNELS + 1];
    int64_t pitch = channels + channels % 3;
    fill_plane(&x, dtype, channels, pitch, 3);
    fill_plane(&dy, dtype, channels, pitch, 4);
    fill_integers(center, MOST_CHANNELS, 5);
    for (int64_t c = 0; c < channels; c++) {
        first[c] = (double)c;
        second[c] = (double)-c;
    }
    first[channels] = second[channels] = 12345;
    loops->sums(&(channel_sums){.dtype = dtype,
                                .channels = channels,
                                .pitch = pitch,
                                .count = count,
                                .x = x.data,
                                .dy = squares ? NULL : dy.data,
                                .center = center,
                                .first = first,
                                .second = second});
    for (int64_t c = 0; c < channels; c++) {
        double sum = (double)c, product = (double)-c;
        for (int64_t i = 0; i < count; i++) {
            double away = (double)(x.value[i * pitch + c] - center[c]);
            double e = squares ? away : (double)dy.value[i * pitch + c];
            sum += e;
            product += e * away;
        }
        assert_true(first[c] == sum && second[c] == product);
    }
    assert_true(first[channels] == 12345 && second[channels] == 12345);
}

static void sums_equal_plain_loop(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (!has(set)) continue;
        for (int d = 0; d < DTYPES; d++) {
            for (int channels = 1; channels <= MOST_CHANNELS; channels++) {
                for (int count = 0; count <= MOST_PIXELS; count++) {
                    check_sums(sets[set].loops, dtypes[d], channels, count, 0);
                    check_sums(sets[set].loops, dtypes[d], channels, count, 1);
                }
            }
        }
    }
}

/* A denormal of bf16 counts as zero, also where it would be multiplied into something large. */
static void denormals_of_bf16_are_zero(void **state) {
    enum { COUNT = 37 };
    static uint16_t x[COUNT], one[COUNT], out[COUNT];
    static float large[COUNT], zero[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (uint16_t)(i % 2 ? 0x807f : 0x0001);
        one[i] = 0x3f80;
        large[i] = 0x1p127f;
    }
    for (int set = 0; set < SETS; set++) {
        double first[COUNT] = {0}, second[COUNT] = {0};
        if (!has(set)) continue;
        sets[set].loops->map(&(channel_map){.kind = CHANNEL_SCALE_SHIFT,
                                            .dtype = BRAID_DTYPE_BF16,
                                            .channels = COUNT,
                                            .pitch = COUNT,
                                            .count = 1,
                                            .x = x,
                                            .out = out,
                                            .coefficient = {large, zero}});
        sets[set].loops->sums(&(channel_sums){.dtype = BRAID_DTYPE_BF16,
                                              .channels = COUNT,
                                              .pitch = COUNT,
                                              .count = 1,
                                              .x = x,
                                              .dy = one,
                                              .center = zero,
                                              .first = first,
                                              .second = second});
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(out[i] & 0x7fff, 0);
            assert_true(first[i] == 1 && second[i] == 0);
        }
    }
}

/* ---- Windows ------------------------------------------------------------------------------- */

/* The place of the largest value of a channel: the first of equal ones. */
static int64_t place_expected(const plane *x, const channel_window *w, int64_t c) {
    int64_t best = 0;
    for (int64_t place = 1; place < w->rows * w->columns; place++) {
        float value = x->value[place / w->columns * w->row_step + place % w->columns * w->column_step + c];
        if (value > x->value[best / w->columns * w->row_step + best % w->columns * w->column_step + c]) best = place;
    }
    return best;
}

/* A window of two rows by two columns: its largest value, its mean, and the gradient to all but the first place. */
static void check_window(const channel_loops *loops, braid_dtype dtype, int64_t channels) {
    static plane x, y, dy;
    static float tile[4 * MOST_CHANNELS];
    fill_plane(&x, dtype, channels, channels, 6);
    fill_plane(&dy, dtype, channels, channels, 7);
    const channel_window w = {.dtype = dtype,
                              .channels = channels,
                              .rows = 2,
                              .columns = 2,
                              .row_step = 2 * channels,
                              .column_step = channels,
                              .x = x.data};
    const channel_tile to = {tile, 0, 2 * channels, channels, 0, 2, 1, 2};
    for (int mean = 0; mean < 2; mean++) {
        fill_poison(&y, dtype);
        (mean ? loops->mean : loops->max)(y.data, &w);
        for (int64_t c = 0; c < channels; c++) {
            float sum = x.value[c] + x.value[channels + c] + x.value[2 * channels + c] + x.value[3 * channels + c];
            float expected = mean ? sum / 4 : x.value[place_expected(&x, &w, c) * channels + c];
            assert_float_equal(value_of(&y, c), expected, 0);
        }
        assert_true(isnan(value_of(&y, channels)));
    }
    for (int i = 0; i < 4 * MOST_CHANNELS; i++) tile[i] = 1;
    loops->max_gradient(&to, dy.data, &w);
    for (int64_t i = 0; i < 4 * MOST_CHANNELS; i++) {
        int64_t place = i / channels, c = i % channels;
        int added = place < 4 && place % 2 == 1 && place_expected(&x, &w, c) == place;
        assert_float_equal(tile[i], 1 + (added ? dy.value[c] : 0), 0);
    }
}

static void windows_equal_plain_loop(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (!has(set)) continue;
        for (int d = 0; d < DTYPES; d++) {
            for (int channels = 1; channels <= MOST_CHANNELS; channels++) {
                check_window(sets[set].loops, dtypes[d], channels);
            }
        }
    }
}

static void rows_are_shared_and_stored(void **state) {
    static plane from, to;
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (!has(set)) continue;
        for (int d = 0; d < DTYPES; d++) {
            for (int count = 1; count <= MOST_CHANNELS; count++) {
                float sum[MOST_CHANNELS + 1];
                fill_plane(&from, dtypes[d], count, count + 1, 8);
                fill_poison(&to, dtypes[d]);
                for (int c = 0; c <= count; c++) sum[c] = 1;
                sets[set].loops->add_share(sum, at(&from, 0), dtypes[d], 0.5f, count);
                for (int c = 0; c <= count; c++) {
                    assert_float_equal(sum[c], 1 + (c < count ? from.value[c] / 2 : 0), 0);
                }
                sets[set].loops->store(to.data, dtypes[d], sum, count);
                for (int c = 0; c < count; c++) assert_float_equal(value_of(&to, c), sum[c], 0);
                assert_true(isnan(value_of(&to, count)));
            }
        }
    }
}

static float middle_of(float x, float y, float z) { return fmaxf(fminf(x, y), fminf(fmaxf(x, y), z)); }

static void medians_lie_between(void **state) {
    static plane from;
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (!has(set)) continue;
        for (int d = 0; d < DTYPES; d++) {
            for (int count = 1; count <= MOST_CHANNELS; count++) {
                float middle[MOST_CHANNELS + 1];
                fill_plane(&from, dtypes[d], count, count + 1, 8);
                for (int c = 0; c <= count; c++) middle[c] = 99;
                const int64_t pitch = count + 1;
                const void *const pixels[3] = {at(&from, 0), at(&from, pitch), at(&from, 2 * pitch)};
                sets[set].loops->median(middle, pixels, dtypes[d], count);
                for (int64_t c = 0; c < count; c++) {
                    const float *x = from.value;
                    assert_float_equal(middle[c], middle_of(x[c], x[pitch + c], x[2 * pitch + c]), 0);
                }
                assert_float_equal(middle[count], 99, 0);
            }
        }
    }
}

/* ---- Activations --------------------------------------------------------------------------- */

/* The double value of an activation, or of its slope. */
static double act_expected(int activation, int slope, double x) {
    double inner = sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x), t = tanh(inner);
    double cdf = activation == BRAID_ACTIVATION_GELU ? 0.5 * erfc(-x * sqrt(0.5)) : 1 / (1 + exp(-2 * inner));
    double density = activation == BRAID_ACTIVATION_GELU
                         ? exp(-0.5 * x * x) / sqrt(2 * acos(-1))
                         : 0.5 * (1 - t * t) * sqrt(2 / acos(-1)) * (1 + 3 * 0.044715 * x * x);
    return slope ? cdf + x * density : x * cdf;
}

/* The worst error over many x of one magnitude and both signs, in units of 2^-24 of what the value was made from. */
static double act_error(const channel_loops *loops, int activation, int slope, float start) {
    enum { COUNT = 1000 };
    static float x[COUNT], out[COUNT], one[COUNT];
    const channel_kind kind = (slope ? CHANNEL_RELU_GRADIENT : CHANNEL_RELU) + (channel_kind)activation;
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (i % 2 ? -start : start) * (1 + (float)i / COUNT);
        one[i] = 1;
    }
    loops->map(&(channel_map){.kind = kind,
                              .dtype = BRAID_DTYPE_F32,
                              .channels = 1,
                              .pitch = 1,
                              .count = COUNT,
                              .x = x,
                              .z = one,
                              .out = out});
    for (int i = 0; i < COUNT; i++) {
        double error = fabs((double)out[i] - act_expected(activation, slope, (double)x[i]));
        double share = error / (slope ? 1 : fabs((double)x[i]) + 0x1p-120) * 0x1p24;
        if (!(share <= worst)) worst = share;
    }
    return worst;
}

/* Every binary order of magnitude that a float has; the checks of act allow 4 units and the rounding of y. */
static void activations_equal_libm(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (!has(set)) continue;
        for (int activation = BRAID_ACTIVATION_GELU; activation <= BRAID_ACTIVATION_GELU_TANH; activation++) {
            for (int slope = 0; slope < 2; slope++) {
                double worst = 0;
                for (int exponent = -149; exponent < 127; exponent++) {
                    double error = act_error(sets[set].loops, activation, slope, ldexpf(1, exponent));
                    if (!(error <= worst)) worst = error;
                }
                print_message("%s, activation %d, slope %d: worst error %.2f of 4 units\n", sets[set].loops->name,
                              activation, slope, worst);
                assert_true(worst < 3);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_equal_plain_loop),      cmocka_unit_test(sums_equal_plain_loop),
        cmocka_unit_test(denormals_of_bf16_are_zero), cmocka_unit_test(windows_equal_plain_loop),
        cmocka_unit_test(rows_are_shared_and_stored), cmocka_unit_test(medians_lie_between),
        cmocka_unit_test(activations_equal_libm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
