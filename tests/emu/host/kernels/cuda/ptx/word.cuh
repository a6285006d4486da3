/*
 * The host version of kernels/cuda/ptx/word.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_WORD_CUH
#define BRAID_KERNELS_CUDA_PTX_WORD_CUH

#include <math.h>

#include "kernels/cuda/ptx/number.cuh"

/* How many numbers of `bytes` a word has, and number j of it. */
template <class number, int bytes> struct word_of {
    static const int width = 4 / bytes;
    static float at(uint32_t from, int j) {
        number one;
        const uint32_t bits = from >> (j * 8 * (bytes % 4));
        memcpy(&one, &bits, sizeof one);
        return load(&one);
    }
    static uint32_t only(uint32_t bits, int j) { return bytes == 4 ? bits : bits & (j == 0 ? 0xFFFFu : 0xFFFF0000u); }
    static void open(float *to, uint32_t from) {
        for (int j = 0; j < width; j++) to[j] = at(from, j);
    }
    static uint32_t close(const float *from) {
        uint32_t to = 0;
        for (int j = 0; j < width; j++) {
            number one;
            uint32_t bits = 0;
            store(&one, from[j]);
            memcpy(&bits, &one, sizeof one);
            to |= bits << (j * 8 * (bytes % 4));
        }
        return to;
    }
    static uint32_t larger(uint32_t a, uint32_t b) {
        uint32_t to = 0;
        for (int j = 0; j < width; j++) to |= only(isnan(at(b, j)) || at(b, j) > at(a, j) ? b : a, j);
        return to;
    }
    static uint32_t equals(uint32_t a, uint32_t b) {
        uint32_t to = 0;
        for (int j = 0; j < width; j++) to |= only(at(a, j) == at(b, j) ? 0xFFFFFFFFu : 0, j);
        return to;
    }
    static uint32_t above(uint32_t a, uint32_t b) {
        uint32_t to = 0;
        for (int j = 0; j < width; j++) to |= only(at(a, j) <= at(b, j) ? 0 : 0xFFFFFFFFu, j);
        return to;
    }
    static uint32_t sum(uint32_t a, uint32_t b) {
        float both[width];
        for (int j = 0; j < width; j++) both[j] = at(a, j) + at(b, j);
        return close(both);
    }
    static void add(float *to, uint32_t a, uint32_t b, const float *g, const float *by) {
        for (int j = 0; j < width; j++) {
            if (at(a, j) == at(b, j)) to[j] = fmaf(g[j], by[j], to[j]);
        }
    }
};

template <class number> struct word;
template <> struct word<f32> : word_of<f32, 4> {};
template <> struct word<f16> : word_of<f16, 2> {};
template <> struct word<bf16> : word_of<bf16, 2> {};

#endif
