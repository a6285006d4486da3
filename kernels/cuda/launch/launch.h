/*
 * What the launchers of CUDA kernels share: limits, names by dtype, and the division of one launch
 * among the planes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LAUNCH_LAUNCH_H
#define BRAID_KERNELS_CUDA_LAUNCH_LAUNCH_H

#include "backend/cuda/cuda.h"
#include "kernels/kernel.h"

/* Sizes of one axis and lengths of one sum must stay below this, so that kernels can count them in 32 bits. */
#define LAUNCH_MAX_LENGTH ((int64_t)1 << 30)

/* Multiprocessors of the GPU that these kernels are made for, an H200. Costs are its costs, and sums are cut into parts
 * for so many on every GPU, so that they have the same bits. How many blocks a launch has is up to the device it is for
 * (cuda_processors). */
#define LAUNCH_PROCESSORS 132

/* The function of a dtype among those of a stem: "conv2d_fwd_f16". */
typedef struct launch_names {
    const char *f32, *f16, *bf16;
} launch_names;
const char *launch_name(const launch_names *names, braid_dtype dtype);

/* The same for an entry that stands for several formats (ptx/entry.cuh): "conv2d_fwd_f16" of "conv2d_fwd". The text is
 * the calling thread's until it asks again. */
const char *launch_function(const char *entry, braid_dtype dtype);

/* A tensor map in a kernel's state: made where `memory`, the address that it was last made for, is not that of the
 * tensor, all else of which stays as it is. NULL: it was not made yet. */
braid_status launch_map(cuda_tensor_map *map, const void **memory, device *d, const cuda_tensor *of);

int64_t launch_tiles(int64_t length, int64_t tile); /* length / tile, rounded up */

/* Threads side by side: the smallest power of two that covers them, at most `most`. */
int32_t launch_lanes(int64_t threads, int32_t most);

/* `destroy` of kernels that keep nothing. */
void launch_destroy(device *d, void *state);

/* Sums up the blocks of the planes: those of plane i are first_block[i] up to first_block[i + 1]. False where
 * they are too many for one launch. */
int launch_schedule(int32_t first_block[BRAID_MAX_PLANES + 1], const int64_t blocks[BRAID_MAX_PLANES], int planes);

/* Why channels or pitches are too large, in words; NULL: they are not. */
const char *launch_refuses_channels(const braid_problem *p);

extern const char launch_too_large[]; /* the reason where launch_schedule says no */

/* Kernels whose argument holds tensor maps for so many streams take more of them in several launches: each a part of
 * the streams, as a problem and memory of its own. */
typedef struct launch_part {
    braid_problem problem;
    buffers memory;
} launch_part;
int launch_parts(const braid_problem *p, int most); /* how many, of `most` streams at most */
/* Part `index`, from 0 on; parts differ by one stream at most. `b` may be NULL: `memory` is empty then. */
void launch_take_part(launch_part *part, const braid_problem *p, const buffers *b, int most, int index);

/* Predicted seconds of one launch: the slower of arithmetic and memory. */
double launch_cost(const braid_problem *p, const machine *on);

#endif
