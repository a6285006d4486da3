/*
 * Planes and dtypes as a user sees them: a layer of two streams (RGB and depth) tells which operands it
 * has, what each plane looks like in memory and how many bytes it takes; memory is made on the device,
 * filled from the host and read back.
 *
 *     cc 00_tensor.c -lbraid && ./a.out
 *
 * SPDX-License-Identifier: MIT
 */
#include <braid.h>
#include <stdio.h>
#include <string.h>

static const char *const roles[] = {"in", "out", "inout"};

/* One line for each plane: stream, shape, and what lies between two pixels. */
static void print_planes(const braid_operand_info *info) {
    for (int i = 0; i < info->planes; i++) {
        printf("  %-5s %-4s %-5s stream %d: [", info->name, braid_dtype_name(info->dtype), roles[info->role], i);
        for (int axis = 0; axis < info->rank; axis++)
            printf("%s%lld", axis ? "][" : "", (long long)info->dims[i][axis]);
        printf("], pitch %lld, %zu bytes\n", (long long)info->pitch[i], info->bytes[i]);
    }
}

/* A pixel of the RGB stream takes 4 elements, though it has 3 channels: the fourth is a zero. */
static braid_status show_dtype(braid_context *context, const char *text) {
    braid_problem problem;
    braid_op *op = NULL;
    braid_status status = braid_problem_parse(text, &problem);
    if (!status) status = braid_op_create(context, &problem, &op);
    if (!status) printf("%s\n", text);
    for (int j = 0; !status && j < braid_op_operand_count(op); j++) {
        braid_operand_info info;
        status = braid_op_operand(op, j, &info);
        if (!status) print_planes(&info);
    }
    braid_op_destroy(op);
    return status;
}

/* Host to device and back; on a GPU these are copies, on the CPU they are memcpy. */
static braid_status there_and_back(braid_context *context) {
    const float pixels[2][4] = {{0.1f, 0.2f, 0.3f, 0}, {0.4f, 0.5f, 0.6f, 0}};
    float back[2][4] = {{0}};
    void *memory = NULL;
    braid_status status = braid_memory_create(context, sizeof pixels, &memory);
    if (!status) status = braid_upload(context, memory, pixels, sizeof pixels);
    if (!status) status = braid_download(context, back, memory, sizeof back);
    if (!status)
        printf("two RGB pixels went to %s and %s\n", braid_context_device(context),
               back[1][2] == pixels[1][2] ? "came back unchanged" : "were damaged");
    braid_memory_destroy(context, memory);
    return status;
}

int main(void) {
    braid_context *context = NULL;
    braid_status status = braid_context_create(NULL, &context);
    if (!status) status = show_dtype(context, "conv2d_fwd:f32:b2:hw8x8:c3,1:k16:rs3x3:pad1:cp4,1");
    if (!status) status = show_dtype(context, "conv2d_fwd:f16:b2:hw8x8:c3,1:k16:rs3x3:pad1:mask1");
    if (!status) status = there_and_back(context);
    if (status) fprintf(stderr, "%s\n", braid_message());
    braid_context_destroy(context);
    return (int)status;
}
