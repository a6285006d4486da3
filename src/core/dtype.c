/*
 * Number formats in portable C, by integer arithmetic on the bits: clang 14 has no _Float16, and the
 * result must equal the hardware's instruction bit for bit. A double reaches a half with one rounding
 * by way of a float rounded to odd, which keeps the sticky bit that the second rounding needs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    double unit_roundoff;
} formats[BRAID_DTYPE_COUNT] = {
    [BRAID_DTYPE_F32] = {"f32", 4, 0x1p-24},  [BRAID_DTYPE_F16] = {"f16", 2, 0x1p-11},
    [BRAID_DTYPE_BF16] = {"bf16", 2, 0x1p-8}, [BRAID_DTYPE_F64] = {"f64", 8, 0x1p-53},
    [BRAID_DTYPE_U8] = {"u8", 1, 0},          [BRAID_DTYPE_I32] = {"i32", 4, 0},
    [BRAID_DTYPE_I64] = {"i64", 8, 0},
};

static int is_dtype(braid_dtype dtype) { return (int)dtype >= 0 && (int)dtype < BRAID_DTYPE_COUNT; }

const char *braid_dtype_name(braid_dtype dtype) { return is_dtype(dtype) ? formats[dtype].name : NULL; }

size_t dtype_bytes(braid_dtype dtype) { return is_dtype(dtype) ? formats[dtype].bytes : 0; }

int dtype_is_compute(braid_dtype dtype) { return is_dtype(dtype) && dtype <= BRAID_DTYPE_F64; }

double dtype_unit_roundoff(braid_dtype dtype) { return is_dtype(dtype) ? formats[dtype].unit_roundoff : 0; }

braid_dtype dtype_statistics(braid_dtype dtype) { return dtype == BRAID_DTYPE_F64 ? BRAID_DTYPE_F64 : BRAID_DTYPE_F32; }

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* value / 2^shift, to nearest, ties to even. shift is 1 to 31. */
static uint32_t shift_right_to_even(uint32_t value, uint32_t shift) {
    uint32_t half = UINT32_C(1) << (shift - 1);
    uint32_t odd = (value >> shift) & 1;
    return (value + half - 1 + odd) >> shift;
}

float tf32_from_f32(float value) {
    uint32_t bits = bits_of(value);
    if ((bits & 0x7f800000) == 0x7f800000) return value;
    return float_of((bits + 0x1000) & ~UINT32_C(0x1fff));
}

uint16_t f16_from_f32(float value) {
    uint32_t bits = bits_of(value);
    uint32_t sign = (bits >> 16) & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t half;
    if (magnitude > 0x7f800000) {
        half = 0x7e00 | ((magnitude >> 13) & 0x3ff); /* NaN: quiet, the payload's high bits kept */
    } else if (magnitude >= 0x477ff000) {
        half = 0x7c00; /* 65520 and above round to infinity */
    } else if (magnitude >= 0x38800000) {
        half = shift_right_to_even(magnitude - (UINT32_C(112) << 23), 13);
    } else if (magnitude >= 0x33000000) {
        uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000; /* denormal result: units of 2^-24 */
        half = shift_right_to_even(mantissa, 126 - (magnitude >> 23));
    } else {
        half = 0; /* below 2^-25 */
    }
    return (uint16_t)(sign | half);
}

float f32_from_f16(uint16_t half) {
    uint32_t sign = ((uint32_t)half & 0x8000) << 16;
    uint32_t magnitude = half & 0x7fff;
    if (magnitude > 0x7c00) return float_of(sign | 0x7fc00000 | (magnitude & 0x3ff) << 13);
    if (magnitude == 0x7c00) return float_of(sign | 0x7f800000);
    if (magnitude >= 0x400) return float_of(sign | ((magnitude << 13) + (UINT32_C(112) << 23)));
    return float_of(sign | bits_of((float)magnitude * 0x1p-24f));
}

uint16_t bf16_from_f32(float value) {
    uint32_t bits = bits_of(value);
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)((bits >> 16) | 0x40);
    if (magnitude < 0x00800000) return (uint16_t)((bits >> 16) & 0x8000);
    return (uint16_t)(((bits >> 16) & 0x8000) | shift_right_to_even(magnitude, 16));
}

float f32_from_bf16(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return float_of(bits | 0x00400000);
    return float_of(magnitude < 0x00800000 ? bits & 0x80000000 : bits);
}

/* value as float, rounded towards zero and then to an odd last bit if it was not exact. */
static float float_rounded_to_odd(double value) {
    float nearest = (float)value;
    if (isnan(value) || (double)nearest == value) return nearest;
    uint32_t bits = bits_of(nearest);
    if (fabs((double)nearest) > fabs(value)) bits--;
    return float_of(bits | 1);
}

/* To nearest even, held within [low, high]; NaN gives 0. low and high are exact as double, high + 1 is for i64. */
static double rounded_within(double value, double low, double high) {
    if (isnan(value)) return 0;
    return fmin(fmax(nearbyint(value), low), high);
}

static int64_t i64_from_f64(double value) {
    if (value >= 0x1p63) return INT64_MAX;
    return (int64_t)rounded_within(value, -0x1p63, 0x1p63 - 1024);
}

double dtype_load(const void *data, braid_dtype dtype, int64_t index) {
    switch (dtype) {
        case BRAID_DTYPE_F32: return (double)((const float *)data)[index];
        case BRAID_DTYPE_F16: return (double)f32_from_f16(((const uint16_t *)data)[index]);
        case BRAID_DTYPE_BF16: return (double)f32_from_bf16(((const uint16_t *)data)[index]);
        case BRAID_DTYPE_F64: return ((const double *)data)[index];
        case BRAID_DTYPE_U8: return (double)((const uint8_t *)data)[index];
        case BRAID_DTYPE_I32: return (double)((const int32_t *)data)[index];
        case BRAID_DTYPE_I64: return (double)((const int64_t *)data)[index];
        case BRAID_DTYPE_COUNT: break;
    }
    return 0;
}

void dtype_store(void *data, braid_dtype dtype, int64_t index, double value) {
    switch (dtype) {
        case BRAID_DTYPE_F32: ((float *)data)[index] = (float)value; break;
        case BRAID_DTYPE_F16: ((uint16_t *)data)[index] = f16_from_f32(float_rounded_to_odd(value)); break;
        case BRAID_DTYPE_BF16: ((uint16_t *)data)[index] = bf16_from_f32(float_rounded_to_odd(value)); break;
        case BRAID_DTYPE_F64: ((double *)data)[index] = value; break;
        case BRAID_DTYPE_U8: ((uint8_t *)data)[index] = (uint8_t)rounded_within(value, 0, UINT8_MAX); break;
        case BRAID_DTYPE_I32: ((int32_t *)data)[index] = (int32_t)rounded_within(value, INT32_MIN, INT32_MAX); break;
        case BRAID_DTYPE_I64: ((int64_t *)data)[index] = i64_from_f64(value); break;
        case BRAID_DTYPE_COUNT: break;
    }
}

/* The formats of compute have loops of their own; data formats go element by element. */
double dtype_round(braid_dtype dtype, double value) {
    double stored[1];
    dtype_store(stored, dtype, 0, value);
    return dtype_load(stored, dtype, 0);
}

void dtype_to_f32(float *out, const void *data, braid_dtype dtype, int64_t count) {
    if (dtype == BRAID_DTYPE_F32) {
        for (int64_t i = 0; i < count; i++) out[i] = ((const float *)data)[i];
    } else if (dtype == BRAID_DTYPE_F16) {
        for (int64_t i = 0; i < count; i++) out[i] = f32_from_f16(((const uint16_t *)data)[i]);
    } else if (dtype == BRAID_DTYPE_BF16) {
        for (int64_t i = 0; i < count; i++) out[i] = f32_from_bf16(((const uint16_t *)data)[i]);
    } else if (dtype == BRAID_DTYPE_I64) {
        for (int64_t i = 0; i < count; i++) out[i] = (float)((const int64_t *)data)[i];
    } else {
        for (int64_t i = 0; i < count; i++) out[i] = (float)dtype_load(data, dtype, i);
    }
}

void dtype_from_f32(void *out, braid_dtype dtype, const float *data, int64_t count) {
    if (dtype == BRAID_DTYPE_F32) {
        for (int64_t i = 0; i < count; i++) ((float *)out)[i] = data[i];
    } else if (dtype == BRAID_DTYPE_F16) {
        for (int64_t i = 0; i < count; i++) ((uint16_t *)out)[i] = f16_from_f32(data[i]);
    } else if (dtype == BRAID_DTYPE_BF16) {
        for (int64_t i = 0; i < count; i++) ((uint16_t *)out)[i] = bf16_from_f32(data[i]);
    } else {
        for (int64_t i = 0; i < count; i++) dtype_store(out, dtype, i, (double)data[i]);
    }
}

void dtype_to_f64(double *out, const void *data, braid_dtype dtype, int64_t count) {
    for (int64_t i = 0; i < count; i++) out[i] = dtype_load(data, dtype, i);
}

void dtype_from_f64(void *out, braid_dtype dtype, const double *data, int64_t count) {
    for (int64_t i = 0; i < count; i++) dtype_store(out, dtype, i, data[i]);
}
