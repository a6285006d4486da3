/*
 * From a 3x3 convolution to the parts that the arguments of all kernels with resident rows have. All of it depends on
 * the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "kernels/cuda/conv/conv2d_epilogue.h"
#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3_launch.h"

/* ---- The pass -------------------------------------------------------------------------------------- */

static int is_gradient(const braid_problem *p) { return p->pass == BRAID_PASS_BWD_DATA; }

int64_t resident_inputs(const braid_problem *p, int i) {
    return is_gradient(p) ? p->out_channels[i] : p->in_channels[i];
}

int64_t resident_outputs(const braid_problem *p, int i) {
    return is_gradient(p) ? p->in_channels[i] : p->out_channels[i];
}

int64_t resident_input_pitch(const braid_problem *p, int i) {
    return is_gradient(p) ? p->out_pitch[i] : p->in_pitch[i];
}

int64_t resident_output_pitch(const braid_problem *p, int i) {
    return is_gradient(p) ? p->in_pitch[i] : p->out_pitch[i];
}

static const char *refuses_options(const braid_problem *p, int stride) {
    for (int axis = 0; axis < 2; axis++) {
        if (p->filter[axis] != 3) return "only filters of 3x3";
        if (p->stride[axis] != stride) return stride == 2 ? "only stride 2" : "only stride 1";
        if (p->dilation[axis] != 1) return "no dilation";
        if (p->padding[axis] != 1 || p->extra_padding[axis] != 0) return "only padding 1 on all sides";
    }
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "only padding with zeros";
    return p->groups != 1 ? "only one group" : NULL;
}

static const char *refuses_channels(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 16 || p->out_channels[i] < 16) return "a stream has fewer than 16 channels";
        if (p->in_channels[i] % 8 || p->in_pitch[i] % 8 || p->out_pitch[i] % 8)
            return "input channels or a pitch are no multiple of 8";
        if (p->add && resident_outputs(p, i) % 8) return "adds to channels in multiples of 8 only";
    }
    return launch_refuses_channels(p);
}

const char *resident_refuses(const braid_problem *p, const device *d, int stride) {
    const char *reason = refuses_options(p, stride);
    if (!reason) reason = conv2d_epilogue_refuses(p);
    if (!reason) reason = refuses_channels(p);
    if (!reason && (p->size[0] >= LAUNCH_MAX_LENGTH || p->size[1] >= LAUNCH_MAX_LENGTH))
        reason = "the image has 2^30 rows or columns or more";
    return reason ? reason : cuda_refuses_tensor_maps(d);
}

/* ---- Parts of the streams -------------------------------------------------------------------------- */

static int parts_of(const braid_problem *p) { return launch_parts(p, RESIDENT_MOST_STREAMS); }

double resident_cost(const braid_problem *p, const void *tile,
                     double (*seconds)(const braid_problem *part, const void *tile)) {
    double all = 0;
    for (int j = 0; j < parts_of(p); j++) {
        launch_part part;
        launch_take_part(&part, p, NULL, RESIDENT_MOST_STREAMS, j);
        all += seconds(&part.problem, tile);
    }
    return all;
}

const char *resident_refuses_parts(const braid_problem *p, const void *tile,
                                   int (*fits)(const braid_problem *part, const void *tile)) {
    for (int j = 0; j < parts_of(p); j++) {
        launch_part part;
        launch_take_part(&part, p, NULL, RESIDENT_MOST_STREAMS, j);
        if (!fits(&part.problem, tile)) return launch_too_large;
    }
    return NULL;
}

braid_status resident_create(const braid_problem *p, device *d, const void *tile, size_t bytes, void **state,
                             void (*fill)(void *part_state, const braid_problem *part, device *d, const void *tile)) {
    TRY(memory_calloc((size_t)parts_of(p), bytes, "conv2d", state));
    for (int j = 0; j < parts_of(p); j++) {
        launch_part part;
        launch_take_part(&part, p, NULL, RESIDENT_MOST_STREAMS, j);
        fill((char *)*state + (size_t)j * bytes, &part.problem, d, tile);
    }
    return BRAID_OK;
}

braid_status resident_launch(const braid_problem *p, device *d, void *state, size_t bytes, const buffers *b,
                             braid_status (*launch)(const braid_problem *part, device *d, void *part_state,
                                                    const buffers *b)) {
    for (int j = 0; j < parts_of(p) && p->batch > 0; j++) {
        launch_part part;
        launch_take_part(&part, p, b, RESIDENT_MOST_STREAMS, j);
        TRY(launch(&part.problem, d, (char *)state + (size_t)j * bytes, &part.memory));
    }
    return BRAID_OK;
}

void resident_destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

/* ---- The argument ---------------------------------------------------------------------------------- */

void resident_fill_planes(struct resident_plane *planes, const braid_problem *p, int channels) {
    for (int i = 0; i < p->streams; i++)
        planes[i] = (struct resident_plane){
            .channels = (int32_t)resident_outputs(p, i),
            .pitch = (int32_t)resident_output_pitch(p, i),
            .blocks = (int32_t)launch_tiles(resident_inputs(p, i), RESIDENT_BLOCK),
            .groups = (int32_t)launch_tiles(resident_output_pitch(p, i), channels),
        };
}

int resident_divides(const int64_t size[2], int64_t pitch) {
    return (double)size[0] * (double)pitch * (double)pitch < 4e9;
}

void resident_fill_strips(struct resident_head *head, const braid_problem *p, const int64_t size[2], int64_t width,
                          int64_t pitch) {
    *head = (struct resident_head){
        .planes = p->streams,
        .samples = (int32_t)p->batch,
        .size = {(int32_t)size[0], (int32_t)size[1]},
        .out_size = {(int32_t)p->size[0], (int32_t)p->size[1]},
        .strips = (int32_t)launch_tiles(size[1], width),
        .width = (int32_t)width,
        .pitch = (int32_t)pitch,
        .reciprocal = (uint32_t)(((uint64_t)1 << 32) / (uint64_t)pitch + 1),
    };
}

int resident_share_rows(struct resident_head *head, const struct resident_plane *planes, const braid_problem *p,
                        int processors) {
    int64_t tiles[BRAID_MAX_PLANES] = {0}, groups = 0, units = p->batch * head->strips * head->size[0];
    if ((double)p->batch * head->strips * head->size[0] >= (double)CUDA_MAX_BLOCKS) return 0;
    for (int i = 0; i < p->streams; i++) groups += planes[i].groups;
    int64_t shares = processors / groups;
    if (shares < 1) shares = 1;
    head->strip_tiles = (int32_t)(shares < units ? shares : units);
    for (int i = 0; i < p->streams; i++) {
        if ((double)planes[i].groups * head->strip_tiles >= (double)CUDA_MAX_BLOCKS) return 0;
        tiles[i] = (int64_t)planes[i].groups * head->strip_tiles;
    }
    return launch_schedule(head->first_tile, tiles, p->streams);
}

void resident_bind(struct resident_plane *plane, const braid_problem *p, const buffers *b, int i) {
    plane->output = b->plane[is_gradient(p) ? CONV2D_X : CONV2D_Y][i];
    plane->epilogue = conv2d_epilogue(p, b, i);
    plane->mask = b->plane[CONV2D_MASK][i];
}

/* ---- Tensor maps ----------------------------------------------------------------------------------- */

braid_status resident_map_input(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p,
                                const buffers *b, int i, const int64_t size[2], int columns, int rows) {
    int64_t pixel = resident_input_pitch(p, i) * 2;
    const cuda_tensor input = {.memory = b->plane[is_gradient(p) ? CONV2D_Y : CONV2D_X][i],
                               .dtype = p->dtype,
                               .rank = 4,
                               .size = {resident_inputs(p, i), size[1], size[0], p->batch},
                               .pitch = {pixel, pixel * size[1], pixel * size[1] * size[0]},
                               .box = {RESIDENT_BLOCK, columns, rows, 1},
                               .swizzle = 128};
    return launch_map(map, memory, d, &input);
}

braid_status resident_map_weight(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p,
                                 const buffers *b, int i) {
    int64_t tap = p->in_channels[i] * 2;
    const cuda_tensor weight = {.memory = b->plane[CONV2D_W][i],
                                .dtype = p->dtype,
                                .rank = 3,
                                .size = {p->in_channels[i], RESIDENT_TAPS, p->out_channels[i]},
                                .pitch = {tap, tap * RESIDENT_TAPS},
                                .box = {RESIDENT_BLOCK, 1, RESIDENT_BLOCK},
                                .swizzle = 128};
    return launch_map(map, memory, d, &weight);
}

braid_status resident_launch_rows(device *d, const char *stem, const char *function, const struct resident_head *head,
                                  size_t args_bytes, size_t shared_bytes) {
    return cuda_launch(d, &(cuda_call){.stem = stem,
                                       .function = function,
                                       .blocks = head->first_tile[BRAID_MAX_PLANES],
                                       .threads = RESIDENT_THREADS,
                                       .shared_bytes = shared_bytes,
                                       .args = head,
                                       .args_bytes = args_bytes});
}
