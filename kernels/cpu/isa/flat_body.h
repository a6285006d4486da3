/*
 * The loops of flat.h, in terms of vec_*.h. Included once per instruction set. What does not fill a vector goes
 * through the same arithmetic with lanes that add nothing, so the exponential of a number does not depend on where
 * it lies.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "kernels/cpu/isa/flat.h"
#include "kernels/cpu/isa/vec_math.h"

#define PHILOX_ROUNDS 10

/* The last `count` numbers, and `filler` in the other lanes. */
VEC_INLINE vec load_last(const float *from, int64_t count, float filler) {
    float last[VEC_LANES];
    for (int lane = 0; lane < VEC_LANES; lane++) last[lane] = filler;
    memcpy(last, from, (size_t)count * sizeof *from);
    return vec_load(last);
}

/* The lanes added in their order. */
VEC_INLINE double sum_doubles(vec_double a) {
    double each[VEC_DOUBLES], sum = 0;
    vec_double_store(each, a);
    for (int lane = 0; lane < VEC_DOUBLES; lane++) sum += each[lane];
    return sum;
}

VEC_TARGET static float largest(const float *x, int64_t count) {
    vec best = vec_spread(-INFINITY);
    float each[VEC_LANES], most = -INFINITY;
    int64_t c = 0;
    for (; c + VEC_LANES <= count; c += VEC_LANES) {
        vec value = vec_load(x + c);
        best = vec_select(vec_beats(value, best), value, best);
    }
    if (c < count) {
        vec value = load_last(x + c, count - c, -INFINITY);
        best = vec_select(vec_beats(value, best), value, best);
    }
    vec_store(each, best);
    for (int lane = 0; lane < VEC_LANES; lane++) {
        if (each[lane] > most || isnan(each[lane])) most = each[lane];
    }
    return most;
}

VEC_TARGET static double exponentials(const float *x, float center, int64_t count) {
    const vec middle = vec_spread(center);
    vec_double low = vec_double_zero(), high = vec_double_zero();
    for (int64_t c = 0; c < count; c += VEC_LANES) {
        vec value = c + VEC_LANES <= count ? vec_load(x + c) : load_last(x + c, count - c, -INFINITY);
        vec exponential = vec_exp_negative(vec_sub(value, middle));
        low = vec_double_add(low, vec_double_low(exponential));
        high = vec_double_add(high, vec_double_high(exponential));
    }
    return sum_doubles(vec_double_add(low, high));
}

VEC_TARGET static double distances(const float *x, const float *weights, float center, int64_t count) {
    double middle[VEC_DOUBLES];
    for (int lane = 0; lane < VEC_DOUBLES; lane++) middle[lane] = (double)center;
    vec_double from = vec_double_load(middle), sum = vec_double_zero();
    int64_t c = 0;
    for (; c + VEC_DOUBLES <= count; c += VEC_DOUBLES) {
        vec_double away = vec_double_sub(from, vec_double_from(x + c));
        sum = weights ? vec_double_mul_add(away, vec_double_from(weights + c), sum) : vec_double_add(sum, away);
    }
    double total = sum_doubles(sum);
    for (; c < count; c++) total += ((double)center - (double)x[c]) * (weights ? (double)weights[c] : 1);
    return total;
}

VEC_TARGET static double difference_squares(const float *x, const float *t, int64_t count) {
    vec_double sum[2] = {vec_double_zero(), vec_double_zero()};
    int64_t c = 0;
    for (; c + 2 * VEC_DOUBLES <= count; c += 2 * VEC_DOUBLES) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            vec_double away = vec_double_from(x + c + v * VEC_DOUBLES);
            if (t) away = vec_double_sub(away, vec_double_from(t + c + v * VEC_DOUBLES));
            sum[v] = vec_double_mul_add(away, away, sum[v]);
        }
    }
    double total = sum_doubles(vec_double_add(sum[0], sum[1]));
    for (; c < count; c++) {
        double away = (double)x[c] - (t ? (double)t[c] : 0);
        total += away * away;
    }
    return total;
}

VEC_TARGET static void softmax_gradient(float *dx, const float *x, const flat_softmax *s, int64_t count) {
    const vec middle = vec_spread(s->center), slope = vec_spread(s->slope), offset = vec_spread(s->offset);
    for (int64_t c = 0; c < count; c += VEC_LANES) {
        int64_t left = count - c;
        int some = left < VEC_LANES;
        vec value = some ? vec_load_some(x + c, left) : vec_load(x + c), constant = offset;
        if (s->weights) {
            vec weight = some ? vec_load_some(s->weights + c, left) : vec_load(s->weights + c);
            constant = vec_mul(weight, offset);
        }
        vec made = vec_mul_add(vec_exp_negative(vec_sub(value, middle)), slope, constant);
        if (some)
            vec_store_some(dx + c, made, left);
        else
            vec_store(dx + c, made);
    }
}

VEC_TARGET static void scale_difference(float *out, const float *x, const float *t, float factor, int64_t count) {
    const vec by = vec_spread(factor);
    int64_t c = 0;
    for (; c + VEC_LANES <= count; c += VEC_LANES) {
        vec value = vec_load(x + c);
        if (t) value = vec_sub(value, vec_load(t + c));
        vec_store(out + c, vec_mul(value, by));
    }
    if (c == count) return;
    vec value = vec_load_some(x + c, count - c);
    if (t) value = vec_sub(value, vec_load_some(t + c, count - c));
    vec_store_some(out + c, vec_mul(value, by), count - c);
}

/* ---- Random bits --------------------------------------------------------------------------- */

/* Philox4x32-10 of core/rng.c on VEC_DOUBLES counters. A word is the lower half of 64 bits, the rest is of no account:
 * a product reads lower halves alone. */
VEC_TARGET static void random_words(uint32_t *words, const rng *from, int64_t blocks) {
    uint64_t number[VEC_DOUBLES];
    uint32_t key0 = (uint32_t)from->seed, key1 = (uint32_t)(from->seed >> 32);
    vec_words keys[PHILOX_ROUNDS][2];
    const vec_words multiplier0 = vec_words_spread(0xD2511F53), multiplier1 = vec_words_spread(0xCD9E8D57);
    for (int round = 0; round < PHILOX_ROUNDS; round++, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
        keys[round][0] = vec_words_spread(key0);
        keys[round][1] = vec_words_spread(key1);
    }
    /* vec_words_store has the even lanes' words come before those of the odd ones */
    for (uint64_t lane = 0; lane < VEC_DOUBLES; lane++) {
        number[lane] = from->index / 4 + lane % 2 * (VEC_DOUBLES / 2) + lane / 2;
    }
    vec_words counter = vec_words_load(number);
    for (int64_t block = 0; block < blocks; block += VEC_DOUBLES, words += 4 * VEC_DOUBLES) {
        vec_words c0 = counter, c1 = vec_words_high(counter);
        vec_words c2 = vec_words_spread(from->stream), c3 = vec_words_spread(from->stream >> 32);
#pragma GCC unroll 10
        for (int round = 0; round < PHILOX_ROUNDS; round++) {
            vec_words product0 = vec_words_product(c0, multiplier0), product1 = vec_words_product(c2, multiplier1);
            c0 = vec_words_xor(vec_words_high(product1), c1, keys[round][0]);
            c2 = vec_words_xor(vec_words_high(product0), c3, keys[round][1]);
            c1 = product1;
            c3 = product0;
        }
        vec_words_store(words, c0, c1, c2, c3);
        counter = vec_words_add(counter, vec_words_spread(VEC_DOUBLES));
    }
}

VEC_TARGET static void keep(float *out, const float *x, const uint32_t *words, int32_t limit, float factor,
                            int64_t count) {
    const vec by = vec_spread(factor);
    int64_t c = 0;
    for (; c + VEC_LANES <= count; c += VEC_LANES) {
        vec_store(out + c, vec_keep(vec_mul(vec_load(x + c), by), words + c, limit));
    }
    if (c == count) return;
    uint32_t last[VEC_LANES] = {0};
    memcpy(last, words + c, (size_t)(count - c) * sizeof *words);
    vec_store_some(out + c, vec_keep(vec_mul(vec_load_some(x + c, count - c), by), last, limit), count - c);
}

const flat_loops OF_ISA(flat) = {
    .loops = &OF_ISA(channels),
    .largest = largest,
    .exponentials = exponentials,
    .distances = distances,
    .squares = difference_squares,
    .softmax_gradient = softmax_gradient,
    .scale = scale_difference,
    .random_words = random_words,
    .keep = keep,
};
