/*
 * The building blocks of sm_90 on the emulator: products in every layout, the edge of tensors, im2col loads, and the
 * mistakes that the emulator must report.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/emu/builtins.h"

#include "tests/emu/emu.h"
#include "tests/emu/product.cuh"

extern "C" {
#include "backend/cuda/cuda.h"
}

namespace {

int passed, failed;

void expect(bool right, const char *what) {
    passed += right;
    failed += !right;
    if (!right) printf("FAILED %s\n", what);
}

void plain(product_args args) { product<f16, 0, 0>(args); }
void down_a(product_args args) { product<f16, 1, 0>(args); }
void down_b(product_args args) { product<f16, 0, 1>(args); }
void down_both(product_args args) { product<bf16, 1, 1>(args); }

/* Waits for a load that nobody asked for. */
void stuck(product_args args) {
    const uint32_t barrier = shared_address(shared_memory());
    (void)args;
    if (threadIdx.x == 0) barrier_init(barrier, 1);
    __syncthreads();
    barrier_wait(barrier, 0);
}

/* Reads before the load has landed. */
void early(product_args args) {
    const uint32_t a = shared_address(shared_memory()), barrier = a + 16384;
    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_expect(barrier, (uint32_t)args.rows_a * 128);
        tma_load_2d(a, &args.a, barrier, 0, 0);
    }
    __syncthreads();
    uint32_t word[4];
    shared_read(word, a);
    if (word[0] != 0xFFFFFFFFu) emu_fail("a load landed before anyone waited", {__FILE__, __LINE__});
    barrier_wait(barrier, 0);
}

void unwaited(product_args args) {
    if (threadIdx.x == 0) tma_store_2d(&args.c, shared_address(shared_memory()), 0, 0);
}

void too_many(product_args args) {
    const uint32_t barrier = shared_address(shared_memory());
    (void)args;
    if (threadIdx.x == 0) barrier_init(barrier, 1);
    __syncthreads();
    named_sync(1, threadIdx.x < 128 ? 256 : 128);
}

/* Two warpgroups take 240 registers, of 168 that each of three begins with. */
template <int kept> void hand_on(product_args args) {
    (void)args;
    if (threadIdx.x < 256)
        registers_take<240>();
    else
        registers_give<kept>();
}
void generous(product_args args) { hand_on<24>(args); }
void stingy(product_args args) { hand_on<40>(args); }

const emu_registration registered[] = {
    {"tile", "plain", {}, plain},         {"tile", "down_a", {}, down_a},     {"tile", "down_b", {}, down_b},
    {"tile", "down_both", {}, down_both}, {"tile", "stuck", {}, stuck},       {"tile", "early", {}, early},
    {"tile", "unwaited", {}, unwaited},   {"tile", "too_many", {}, too_many}, {"tile", "generous", {}, generous},
    {"tile", "stingy", {}, stingy},
};

uint16_t a[72][72], b[72][72], c[64][72];

float value(const uint16_t *of, bool is_bf16) { return is_bf16 ? f32_from_bf16(*of) : f32_from_f16(*of); }

cuda_tensor matrix(void *memory, int rows, int columns, int box_rows, bool is_bf16) {
    cuda_tensor t;
    memset(&t, 0, sizeof t);
    t.memory = memory;
    t.dtype = is_bf16 ? BRAID_DTYPE_BF16 : BRAID_DTYPE_F16;
    t.rank = 2;
    t.size[0] = columns;
    t.size[1] = rows;
    t.pitch[0] = 144;
    t.box[0] = 64;
    t.box[1] = box_rows;
    t.swizzle = 128;
    return t;
}

const char *launch(const char *name, const product_args &args, unsigned threads = PRODUCT_THREADS) {
    const emu_launch l = {"tile", name, 1, threads, PRODUCT_SHARED_BYTES, &args, sizeof args};
    return emu_run(&l);
}

void fill(bool is_bf16) {
    unsigned state = 1;
    for (int i = 0; i < 72; i++) {
        for (int j = 0; j < 72; j++) {
            state = state * 1664525u + 1013904223u;
            const float x = (float)((int)(state >> 24) % 9 - 4), y = (float)((int)(state >> 16) % 7 - 3);
            a[i][j] = is_bf16 ? bf16_from_f32(x) : f16_from_f32(x);
            b[i][j] = is_bf16 ? bf16_from_f32(y) : f16_from_f32(y);
        }
    }
    memset(c, 0x55, sizeof c);
}

void make(cuda_tensor_map *map, const cuda_tensor &t) {
    expect(cuda_tensor_map_make(map, nullptr, &t) == BRAID_OK, "a tensor map");
}

/* Rows and columns of c beyond `rows` and `columns` stay as they were; terms of b beyond its size are zero. */
void check_product(const char *name, bool is_bf16, bool ta, bool tb, int shift, int rows, int columns) {
    product_args args;
    memset(&args, 0, sizeof args);
    fill(is_bf16);
    args.shift = shift;
    args.rows_a = 64;
    args.rows_b = 72;
    make(&args.a, matrix(a, 64, 64, 64, is_bf16));
    make(&args.b, matrix(b, 70, 62, 72, is_bf16));
    make(&args.c, matrix(c, rows, columns, 64, is_bf16));
    const char *problem = launch(name, args);
    if (problem) printf("%s\n", problem);
    bool right = !problem;
    for (int m = 0; m < 64; m++) {
        for (int n = 0; n < 64; n++) {
            float sum = 0;
            for (int k = 0; k < 64; k++) {
                const int row = (tb ? k : n) + shift, column = tb ? n : k;
                const uint16_t zero = 0, *y = row < 70 && column < 62 ? &b[row][column] : &zero;
                sum += value(ta ? &a[k][m] : &a[m][k], is_bf16) * value(y, is_bf16);
            }
            const float got = value(&c[m][n], is_bf16);
            const bool stored = m < rows && n < (columns + 7) / 8 * 8; /* in pieces of 16 bytes */
            right = right && (stored ? fabsf(got - sum) <= fabsf(sum) / 256 : c[m][n] == 0x5555);
        }
    }
    expect(right, name);
}

/* b is 6 samples of 3x5 pixels: 2D windows around every pixel, of which the copy takes one tap. */
void check_im2col(int tap) {
    product_args args;
    memset(&args, 0, sizeof args);
    fill(false);
    cuda_tensor t = matrix(b, 0, 64, 64, false);
    t.rank = 4;
    t.size[1] = 5;
    t.size[2] = 3;
    t.size[3] = 4;
    t.pitch[1] = 144 * 5;
    t.pitch[2] = 144 * 15;
    t.is_im2col = 1;
    t.lower[0] = t.lower[1] = t.upper[0] = t.upper[1] = -1;
    args.shift = tap;
    args.rows_a = args.rows_b = 64;
    args.is_im2col = 1;
    make(&args.a, matrix(a, 64, 64, 64, false));
    make(&args.b, t);
    make(&args.c, matrix(c, 64, 64, 64, false));
    const char *problem = launch("plain", args);
    if (problem) printf("%s\n", problem);
    bool right = !problem;
    for (int m = 0; m < 64; m++) {
        for (int n = 0; n < 64; n++) {
            const int column = n % 5 - 1 + tap, row = n / 5 % 3 - 1 + 1, sample = n / 15;
            float sum = 0;
            for (int k = 0; k < 64 && column >= 0 && column < 5 && sample < 4; k++)
                sum += value(&a[m][k], false) * value(&b[sample * 15 + row * 5 + column][k], false);
            right = right && fabsf(value(&c[m][n], false) - sum) <= fabsf(sum) / 256;
        }
    }
    expect(right, "im2col");
}

/* A launch that must be reported with these words; NULL: that must pass. */
void check_report(const char *name, const char *words, unsigned threads = PRODUCT_THREADS) {
    product_args args;
    memset(&args, 0, sizeof args);
    args.rows_a = 64;
    make(&args.a, matrix(a, 64, 64, 64, false));
    make(&args.c, matrix(c, 64, 64, 64, false));
    const char *problem = launch(name, args, threads);
    expect(words ? problem && strstr(problem, words) : !problem, problem ? problem : name);
}

} // namespace

int main() {
    check_product("plain", false, false, false, 0, 64, 64);
    check_product("plain", false, false, false, 5, 64, 56);
    check_product("plain", false, false, false, 0, 64, 60);
    check_product("down_a", false, true, false, 3, 61, 64);
    check_product("down_b", false, false, true, 0, 64, 64);
    check_product("down_both", true, true, true, 8, 64, 64);
    check_im2col(0);
    check_im2col(2);
    check_report("stuck", "phase 0 of a barrier");
    check_report("early", nullptr);
    check_report("unwaited", "before it waited for its stores");
    check_report("too_many", "named barrier");
    check_report("generous", nullptr, 384);
    check_report("stingy", "registers that others give", 384);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
