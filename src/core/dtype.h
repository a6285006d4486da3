/*
 * Number formats. Halves are stored as uint16_t; conversion rounds to nearest, ties to even.
 * bf16 flushes denormals to a zero of the same sign in both directions, as the hardware's
 * conversion does, so that the portable and the hardware path agree bit for bit. f16 keeps them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_DTYPE_H
#define BRAID_CORE_DTYPE_H

#include "braid.h"

size_t dtype_bytes(braid_dtype dtype);           /* 0 for a value out of range */
int dtype_is_compute(braid_dtype dtype);         /* f32, f16, bf16, f64 */
double dtype_unit_roundoff(braid_dtype dtype);   /* half a spacing at 1: 2^-24 for f32; 0 for integers */
braid_dtype dtype_statistics(braid_dtype dtype); /* f64 for f64, else f32: statistics, optimiser state */

uint16_t f16_from_f32(float value);
float f32_from_f16(uint16_t half);
uint16_t bf16_from_f32(float value);
float f32_from_bf16(uint16_t half);

/* One element of any dtype as double, and back with one rounding. */
double dtype_load(const void *data, braid_dtype dtype, int64_t index);
void dtype_store(void *data, braid_dtype dtype, int64_t index, double value);

/* Rounded to the 11 significant bits of TF32: to nearest, ties away from zero, as the hardware does. */
float tf32_from_f32(float value);

/* A value as a dtype of compute stores it. */
double dtype_round(braid_dtype dtype, double value);

/* count elements of any dtype as f32 or f64, and back with one rounding each. */
void dtype_to_f32(float *out, const void *data, braid_dtype dtype, int64_t count);
void dtype_from_f32(void *out, braid_dtype dtype, const float *data, int64_t count);
void dtype_to_f64(double *out, const void *data, braid_dtype dtype, int64_t count);
void dtype_from_f64(void *out, braid_dtype dtype, const double *data, int64_t count);

#endif
