/*
 * The host version of kernels/cuda/ptx/mma.cuh. The lanes of a warp lay their operands on a table, wait for each other
 * and take what they need; there are two tables in turn, so that a lane may be one step ahead. Copies are made as late
 * as the waits allow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_MMA_CUH
#define BRAID_KERNELS_CUDA_PTX_MMA_CUH

#include <deque>
#include <vector>

#include "kernels/cuda/ptx/number.cuh"

typedef float mma_four __attribute__((vector_size(16)));

/* The operands of a warp: up to 16 terms of 16 rows and of 8 columns. */
struct mma_table {
    float a[16][16], b[8][16];
};

struct mma_warp {
    mma_table table[2];
    int turn[EMU_WARP]; /* of each lane */
};

static inline int mma_lane_index() { return (int)threadIdx.x % EMU_WARP; }

/* The table of this lane's next step; one for all files. */
inline mma_table &mma_next_table() {
    alignas(64) static mma_warp warps[32];
    mma_warp &warp = warps[threadIdx.x / EMU_WARP];
    return warp.table[warp.turn[mma_lane_index()]++ % 2];
}

template <class number> static inline void mma_open(float *to, uint32_t pair) {
    for (int j = 0; j < 2; j++) {
        const number value = {(uint16_t)(pair >> 16 * j)};
        to[j] = load(&value);
    }
}

/* The sum of the products of the terms. */
template <int terms> static inline float mma_dot(const float *left, const float *right) {
    mma_four sum = {0, 0, 0, 0};
    for (int k = 0; k < terms; k += 4) {
        mma_four a, b;
        memcpy(&a, left + k, sizeof a);
        memcpy(&b, right + k, sizeof b);
        sum += a * b;
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

template <class number>
static inline void mma(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], number) {
    mma_table &table = mma_next_table();
    const int group = mma_lane_index() / 4, pair = mma_lane_index() % 4;
    for (int j = 0; j < 4; j++) mma_open<number>(&table.a[group + j % 2 * 8][j / 2 * 8 + 2 * pair], a[j]);
    for (int j = 0; j < 2; j++) mma_open<number>(&table.b[group][j * 8 + 2 * pair], b[j]);
    emu_warp_barrier(__FILE__, __LINE__);
    for (int j = 0; j < 4; j++) sum[j] += mma_dot<16>(table.a[group + j / 2 * 8], table.b[2 * pair + j % 2]);
}

static inline float word_float(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static inline uint32_t float_word(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* The hardware reads the upper 19 bits of a word. */
static inline float tf32_read(uint32_t word) { return word_float(word & ~0x1FFFu); }

static inline void mma(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], tf32) {
    mma_table &table = mma_next_table();
    const int group = mma_lane_index() / 4, pair = mma_lane_index() % 4;
    for (int j = 0; j < 4; j++) table.a[group + j % 2 * 8][j / 2 * 4 + pair] = tf32_read(a[j]);
    for (int j = 0; j < 2; j++) table.b[group][j * 4 + pair] = tf32_read(b[j]);
    emu_warp_barrier(__FILE__, __LINE__);
    for (int j = 0; j < 4; j++) sum[j] += mma_dot<8>(table.a[group + j / 2 * 8], table.b[2 * pair + j % 2]);
}

static inline uint32_t tf32_word(uint32_t number) { return float_word(tf32_from_f32(word_float(number))); }
static inline uint32_t tf32_rest(uint32_t number) {
    return tf32_word(float_word(word_float(number) - word_float(tf32_word(number))));
}

static inline uint32_t one_pair(f16) { return 0x3C003C00u; }
static inline uint32_t one_pair(bf16) { return 0x3F803F80u; }
template <class number> static inline uint32_t one_word(number) { return one_pair(number()) & 0xFFFFu; }
static inline uint32_t one_word(f32) { return 0x3F800000u; }
static inline uint32_t one_word(tf32) { return 0x3F800000u; }

struct copy_async_job {
    void *to;
    const void *from;
    int bytes; /* of 16; zeros behind them */
};

/* The groups of a thread that are under way; the last one is still open. */
struct copy_async_queue {
    std::deque<std::vector<copy_async_job>> groups;
};

/* One for all files: a function of a class may come from any of them. */
inline copy_async_queue &copy_async_mine() {
    static copy_async_queue queues[1024];
    copy_async_queue &mine = queues[threadIdx.x];
    if (mine.groups.empty()) mine.groups.emplace_back();
    return mine;
}

static inline void copy_async_part(void *to, const void *from, int bytes) {
    check_address<16>(to);
    check_address<16>(from);
    copy_async_mine().groups.back().push_back({to, from, bytes});
}

static inline void copy_async(void *to, const void *from, bool inside) { copy_async_part(to, from, inside ? 16 : 0); }

static inline void copy_async_commit() { copy_async_mine().groups.emplace_back(); }

template <int left> static inline void copy_async_wait() {
    copy_async_queue &mine = copy_async_mine();
    while (mine.groups.size() > (size_t)left + 1) {
        for (const copy_async_job &job : mine.groups.front()) {
            memset(job.to, 0, 16);
            memcpy(job.to, job.from, (size_t)job.bytes);
        }
        mine.groups.pop_front();
    }
}

#endif
