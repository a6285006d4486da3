/*
 * Barriers of sm_90: those in shared memory (8 bytes, at a multiple of 8), which count arrivals and the bytes
 * that copies bring, and the named ones of a block. A barrier in shared memory runs through phases; a wait names
 * the parity of the phase it waits for. On a fresh barrier a wait for parity 1 passes at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_BARRIER_CUH
#define BRAID_KERNELS_CUDA_PTX_BARRIER_CUH

#include <stdint.h>

#define BARRIER_BYTES 8
#define BARRIER_MOST_TRIES 2000000u

/* A phase ends after `arrivals` arrivals. One thread does this, then barrier_publish, then the block meets. */
static __device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(barrier), "r"(arrivals) : "memory");
}

/* Makes initialised barriers known to the copy engine. */
static __device__ __forceinline__ void barrier_publish(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/* Arrives, and makes the phase wait for `bytes` more bytes of copies. */
static __device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(barrier), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}

/* Waits until the phase of this parity has ended. After some seconds it gives up, and the result is wrong: a stop of
 * the kernel in this place makes the assembler ignore registers_take. */
static __device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
    uint32_t done, tries = 0;
    do {
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}\n"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
        if (++tries > BARRIER_MOST_TRIES) break;
    } while (!done);
}

/* What this thread wrote to shared memory becomes visible to the copy engine and the matrix units. */
static __device__ __forceinline__ void fence_async(void) {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/* Named barrier `id`, 1 to 15: `threads` threads meet, or arrive without waiting; a multiple of 32. */
static __device__ __forceinline__ void named_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

static __device__ __forceinline__ void named_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

#endif
