/*
 * ssae, one output: a sample is taken through all of it, in double. The magnitude follows the roundings of what lies
 * between as the roots of sums of squares, for they are many and independent: every stored value and every sum has one
 * of its own, and each step carries those before it by its slopes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/act.h"

#define STEEPEST 1.13 /* slope of GELU */

/* Numbers of a row, and the squares of their magnitudes. */
typedef struct latent {
    double value[SSAE_MOST_LATENT], square[SSAE_MOST_LATENT];
    double length[SSAE_MOST_LATENT]; /* of the rows of the basis */
} latent;

static double square(double x) { return x * x; }

/* The sum of products so far. */
typedef struct sum {
    double value;
    double terms;   /* squares of its terms */
    double carried; /* squares of the magnitudes of what is multiplied, times the other factor */
} sum;

static void sum_add(sum *s, double x, double x_square, double w) {
    s->value += x * w;
    s->terms += square(x * w);
    s->carried += x_square * square(w);
}

static double sum_square(const sum *s) { return square(s->value) + s->terms + s->carried; }

/* GELU of a sum; the square of its magnitude in *out. */
static double activate(const sum *s, double *out) {
    double y = act_value(BRAID_ACTIVATION_GELU, s->value);
    *out = square(STEEPEST) * sum_square(s) + square(y);
    return y;
}

/* Number s of an encoded slice, and the square of its magnitude. `row` is layernorm's row with its mean and 1 /
 * deviation. */
static double encode(const braid_problem *p, const buffers *b, const real *row, const double norm[2], int64_t s,
                     double *out) {
    const real *gamma = b->plane[SSAE_SLICE_GAMMA][0], *beta = b->plane[SSAE_SLICE_BETA][0];
    const real *w = (const real *)b->plane[SSAE_ENCODER][0] + s * p->in_channels[0];
    sum all = {.value = ((const real *)b->plane[SSAE_ENCODER_BIAS][0])[s]};
    for (int64_t m = 0; m < p->in_channels[0]; m++) {
        double product = (row[m] - norm[0]) * norm[1] * gamma[m];
        sum_add(&all, product + beta[m], square(product) + square(beta[m]), w[m]);
    }
    return activate(&all, out);
}

/* z = the encoded sample times the unit rows of the basis. */
static void project(const braid_problem *p, const buffers *b, const real *x, latent *z) {
    const int64_t mels = p->in_channels[0], slice = p->out_channels[0], combined = p->segments * slice;
    const real *basis = b->plane[SSAE_BASIS][0];
    for (int64_t l = 0; l < p->integrated_out; l++) {
        double squares = 0;
        for (int64_t c = 0; c < combined; c++) squares += square(basis[l * combined + c]);
        z->value[l] = z->square[l] = 0;
        z->length[l] = fmax(sqrt(squares), SSAE_BASIS_EPS);
    }
    for (int64_t f = 0; f < p->segments; f++) {
        const real *row = x + f * mels;
        double mean = 0, squares = 0;
        for (int64_t m = 0; m < mels; m++) mean += row[m] / (double)mels;
        for (int64_t m = 0; m < mels; m++) squares += square(row[m] - mean);
        const double norm[2] = {mean, 1 / sqrt(squares / (double)mels + p->eps)};
        for (int64_t s = 0; s < slice; s++) {
            double coded_square, coded = encode(p, b, row, norm, s, &coded_square);
            for (int64_t l = 0; l < p->integrated_out; l++) {
                double unit = basis[l * combined + f * slice + s] / z->length[l];
                z->value[l] += coded * unit;
                z->square[l] += (coded_square + 2 * square(coded)) * square(unit); /* its own and that of unit */
            }
        }
    }
    for (int64_t l = 0; l < p->integrated_out; l++) z->square[l] += square(z->value[l]);
}

/* layernorm in place: the rounding of one number moves the mean and the deviation of all. */
static void normalise(const braid_problem *p, const buffers *b, latent *z) {
    const real *gamma = b->plane[SSAE_LATENT_GAMMA][0], *beta = b->plane[SSAE_LATENT_BETA][0];
    const double count = (double)p->integrated_out;
    double mean = 0, squares = 0, moved_mean = 0, moved_deviation = 0;
    for (int64_t l = 0; l < p->integrated_out; l++) mean += z->value[l] / count;
    for (int64_t l = 0; l < p->integrated_out; l++) squares += square(z->value[l] - mean);
    const double rstd = 1 / sqrt(squares / count + p->eps);
    for (int64_t l = 0; l < p->integrated_out; l++) {
        moved_mean += z->square[l] / square(count);
        moved_deviation += square((z->value[l] - mean) * rstd / count) * z->square[l];
    }
    for (int64_t l = 0; l < p->integrated_out; l++) {
        double xhat = (z->value[l] - mean) * rstd;
        z->square[l] = square(gamma[l] * rstd) * (z->square[l] + moved_mean + square(xhat) * moved_deviation) +
                       square(xhat * gamma[l]) + square(beta[l]);
        z->value[l] = xhat * gamma[l] + beta[l];
    }
}

/* Number l of gelu(z mixer' + mixer_bias). */
static double mix(const braid_problem *p, const buffers *b, const latent *z, int64_t l, double *out) {
    const real *w = (const real *)b->plane[SSAE_MIXER][0] + l * p->integrated_out;
    sum all = {.value = ((const real *)b->plane[SSAE_MIXER_BIAS][0])[l]};
    for (int64_t k = 0; k < p->integrated_out; k++) sum_add(&all, z->value[k], z->square[k], w[k]);
    return activate(&all, out);
}

ref_value REF(ssae)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const int64_t mels = p->in_channels[0], slice = p->out_channels[0], combined = p->segments * slice;
    const int64_t sample = index / (p->segments * mels), f = index / mels % p->segments, m = index % mels;
    const real *basis = b->plane[SSAE_BASIS][0], *w = (const real *)b->plane[SSAE_DECODER][0] + m * slice;
    latent z, mixed;
    (void)slot;
    (void)i;
    project(p, b, (const real *)b->plane[SSAE_X][0] + sample * p->segments * mels, &z);
    normalise(p, b, &z);
    for (int64_t l = 0; l < p->integrated_out; l++) mixed.value[l] = mix(p, b, &z, l, &mixed.square[l]);
    sum all = {.value = ((const real *)b->plane[SSAE_DECODER_BIAS][0])[m]};
    for (int64_t s = 0; s < slice; s++) {
        sum back = {0};
        for (int64_t l = 0; l < p->integrated_out; l++) {
            double unit = basis[l * combined + f * slice + s] / z.length[l];
            sum_add(&back, mixed.value[l], mixed.square[l] + square(mixed.value[l]), unit);
        }
        sum_add(&all, back.value, sum_square(&back), w[s]);
    }
    return (ref_value){all.value, sqrt(sum_square(&all))};
}
