/*
 * Trains a model file on given batches and prints the loss of every step, for torch_parity.py, which trains the same
 * network on the same batches in PyTorch.
 *
 *     train_losses MODEL BATCHES DEVICE DTYPE BATCH HEIGHT WIDTH COUNT STEPS RATE FACTOR GRADIENTS
 *
 * BATCHES is a safetensors file: every input stream by its name, [COUNT][BATCH][C][H][W] in f32 (rows of numbers:
 * [COUNT][BATCH][C]), and "labels", [COUNT][BATCH] in f32, where the network has classes. Step k takes batch k % COUNT.
 * AdamW with RATE and no weight decay; in f16 the factor of the loss begins as FACTOR and follows the gradients. Prints
 * a line for each step: its loss, and the factor behind it. GRADIENTS is written behind the first step: for every
 * parameter a line with its name and the count of its numbers, then these, f32 as they lie in memory, still multiplied
 * by FACTOR.
 *
 * SPDX-License-Identifier: MIT
 */
#include <braid.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS (BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE)

typedef struct training {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_plan *plan;
    float *streams[BRAID_MAX_STREAMS]; /* COUNT batches of each */
    size_t batch_numbers[BRAID_MAX_STREAMS];
    float *labels; /* NULL: the network has no classes */
} training;

static int64_t number(const char *text) { return strtoll(text, NULL, 10); }

static braid_dtype dtype_of(const char *text) {
    return !strcmp(text, "f16") ? BRAID_DTYPE_F16 : !strcmp(text, "bf16") ? BRAID_DTYPE_BF16 : BRAID_DTYPE_F32;
}

static braid_status read_numbers(const char *path, const char *name, size_t count, float **numbers) {
    *numbers = malloc(count * sizeof **numbers);
    if (!*numbers) return BRAID_ERROR_MEMORY;
    return braid_file_read(path, name, BRAID_DTYPE_F32, *numbers, count * sizeof **numbers);
}

static braid_status read_batches(training *t, const char *path, int64_t batch, int64_t count) {
    braid_status status = BRAID_OK;
    braid_operand_info info = {0};
    void *memory;
    for (int i = 0; i < braid_net_stream_count(t->net) && !status; i++) {
        const char *name = braid_net_stream(t->net, i, NULL);
        status = braid_plan_tensor(t->plan, name, &info, &memory);
        t->batch_numbers[i] = 1;
        for (int axis = 0; axis < info.rank; axis++) t->batch_numbers[i] *= (size_t)info.dims[0][axis];
        if (!status) status = read_numbers(path, name, (size_t)count * t->batch_numbers[i], &t->streams[i]);
    }
    if (!status && !braid_plan_tensor(t->plan, "labels", &info, &memory))
        status = read_numbers(path, "labels", (size_t)(count * batch), &t->labels);
    return status;
}

static braid_status feed(training *t, int64_t batch, int64_t k) {
    braid_status status = BRAID_OK;
    int32_t *labels = malloc((size_t)batch * sizeof *labels);
    if (!labels) return BRAID_ERROR_MEMORY;
    for (int i = 0; i < braid_net_stream_count(t->net) && !status; i++)
        status = braid_plan_set_input(t->plan, braid_net_stream(t->net, i, NULL),
                                      t->streams[i] + (size_t)k * t->batch_numbers[i],
                                      t->batch_numbers[i] * sizeof *t->streams[i]);
    for (int64_t b = 0; b < batch && t->labels; b++) labels[b] = (int32_t)t->labels[k * batch + b];
    if (!status && t->labels) status = braid_plan_write(t->plan, "labels", labels, (size_t)batch * sizeof *labels);
    free(labels);
    return status;
}

static braid_status write_gradient(const training *t, const braid_tensor_info *info, FILE *file) {
    size_t count = 1;
    for (int axis = 0; axis < info->rank; axis++) count *= (size_t)info->dims[axis];
    float *numbers = malloc((count ? count : 1) * sizeof *numbers);
    if (!numbers) return BRAID_ERROR_MEMORY;
    braid_status status = braid_plan_gradient(t->plan, info->name, numbers, count * sizeof *numbers);
    if (!status) {
        fprintf(file, "%s %zu\n", info->name, count);
        fwrite(numbers, sizeof *numbers, count, file);
    }
    free(numbers);
    return status;
}

static braid_status write_gradients(const training *t, const char *path) {
    braid_status status = BRAID_OK;
    braid_tensor_info info;
    FILE *file = fopen(path, "wb");
    if (!file) return BRAID_ERROR_DISK;
    for (int j = 0; j < braid_net_tensor_count(t->net) && !status; j++) {
        status = braid_net_tensor(t->net, j, &info);
        if (!status && info.is_parameter) status = write_gradient(t, &info, file);
    }
    if (fclose(file) && !status) status = BRAID_ERROR_DISK;
    return status;
}

static braid_status train(training *t, char **words) {
    int64_t batch = number(words[5]), count = number(words[8]), steps = number(words[9]);
    const braid_rates rates = {.learning_rate = strtod(words[10], NULL), .active = 1};
    const braid_plan_request request = {.batch = batch,
                                        .size = {number(words[6]), number(words[7])},
                                        .optimiser = BRAID_OPTIMISER_ADAMW,
                                        .choice = {.effort = BRAID_EFFORT_ESTIMATE}};
    braid_dtype dtype = dtype_of(words[4]);
    float loss = NAN, factor = 1;
    braid_status status = braid_context_create(&(braid_context_options){.device = words[3]}, &t->context);
    if (!status) status = braid_net_from_file(words[1], &t->net);
    if (!status) status = braid_model_create(t->context, t->net, &(braid_model_options){.dtype = dtype}, &t->model);
    if (!status) status = braid_model_load(t->model, words[1]);
    if (!status) status = braid_plan_create(t->model, &request, &t->plan);
    if (!status && dtype == BRAID_DTYPE_F16) status = braid_model_scale_loss(t->model, strtod(words[11], NULL), 1);
    if (!status) status = read_batches(t, words[2], batch, count);
    for (int g = 0; !status && g < braid_plan_group_count(t->plan); g++)
        status = braid_plan_set_rates(t->plan, g, &rates);
    for (int64_t step = 0; step < steps && !status; step++) {
        status = feed(t, batch, step % count);
        if (!status) status = braid_plan_run(t->plan, SEGMENTS);
        if (!status) status = braid_plan_read(t->plan, "loss", &loss, sizeof loss);
        if (!status) status = braid_plan_read(t->plan, "loss_scale", &factor, sizeof factor);
        if (!status) printf("%.9g %.9g\n", (double)loss, (double)factor);
        if (!status && step == 0) status = write_gradients(t, words[12]);
    }
    return status;
}

int main(int count, char **words) {
    training t = {0};
    if (count != 13) {
        fprintf(stderr, "usage: train_losses MODEL BATCHES DEVICE DTYPE BATCH HEIGHT WIDTH COUNT STEPS RATE FACTOR "
                        "GRADIENTS\n");
        return 2;
    }
    braid_status status = train(&t, words);
    if (status) fprintf(stderr, "train_losses: %s\n", braid_message());
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) free(t.streams[i]);
    free(t.labels);
    braid_plan_destroy(t.plan);
    braid_model_destroy(t.model);
    braid_net_destroy(t.net);
    braid_context_destroy(t.context);
    return (int)status;
}
