/*
 * The shared part of the launchers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/launch.h"

#include <stdio.h>
#include <string.h>

const char launch_too_large[] = "the problem needs more blocks than one launch can have";

const char *launch_name(const launch_names *names, braid_dtype dtype) {
    if (dtype == BRAID_DTYPE_F16) return names->f16;
    return dtype == BRAID_DTYPE_BF16 ? names->bf16 : names->f32;
}

const char *launch_function(const char *entry, braid_dtype dtype) {
    static _Thread_local char name[96];
    snprintf(name, sizeof name, "%s_%s", entry, braid_dtype_name(dtype));
    return name;
}

braid_status launch_map(cuda_tensor_map *map, const void **memory, device *d, const cuda_tensor *of) {
    if (*memory == of->memory) return BRAID_OK;
    TRY(cuda_tensor_map_make(map, d, of));
    *memory = of->memory;
    return BRAID_OK;
}

int64_t launch_tiles(int64_t length, int64_t tile) { return length / tile + (length % tile != 0); }

int32_t launch_lanes(int64_t threads, int32_t most) {
    int32_t lanes = 1;
    while (lanes < most && lanes < threads) lanes *= 2;
    return lanes;
}

void launch_destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

int launch_schedule(int32_t first_block[BRAID_MAX_PLANES + 1], const int64_t blocks[BRAID_MAX_PLANES], int planes) {
    int64_t total = 0;
    for (int i = 0; i < planes; i++) {
        first_block[i] = (int32_t)total;
        if (blocks[i] > CUDA_MAX_BLOCKS - total) return 0;
        total += blocks[i];
    }
    for (int i = planes; i <= BRAID_MAX_PLANES; i++) first_block[i] = (int32_t)total;
    return 1;
}

const char *launch_refuses_channels(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] >= LAUNCH_MAX_LENGTH || p->out_channels[i] >= LAUNCH_MAX_LENGTH ||
            p->in_pitch[i] >= LAUNCH_MAX_LENGTH || p->out_pitch[i] >= LAUNCH_MAX_LENGTH) {
            return "a stream has 2^30 channels or more";
        }
    }
    return NULL;
}

int launch_parts(const braid_problem *p, int most) { return (p->streams + most - 1) / most; }

static void take_list(int64_t *list, const int64_t *from, int first, int count) {
    memset(list, 0, BRAID_MAX_PLANES * sizeof *list);
    memcpy(list, from + first, (size_t)count * sizeof *list);
}

void launch_take_part(launch_part *part, const braid_problem *p, const buffers *b, int most, int index) {
    int parts = launch_parts(p, most), first = p->streams * index / parts;
    int count = p->streams * (index + 1) / parts - first;
    part->problem = *p;
    part->problem.streams = count;
    take_list(part->problem.in_channels, p->in_channels, first, count);
    take_list(part->problem.out_channels, p->out_channels, first, count);
    take_list(part->problem.in_pitch, p->in_pitch, first, count);
    take_list(part->problem.out_pitch, p->out_pitch, first, count);
    memset(&part->memory, 0, sizeof part->memory);
    if (!b) return;
    part->memory.workspace = b->workspace;
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        for (int i = 0; i < count; i++) part->memory.plane[slot][i] = b->plane[slot][first + i];
    }
}

double launch_cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double flops_per_s = 1e13, bytes_per_s = 1.5e12, launch_s = 4e-6;
    double arithmetic = op_of(p)->flops(p) / flops_per_s, memory = op_bytes(p) / bytes_per_s;
    return launch_s + (arithmetic > memory ? arithmetic : memory);
}
