/*
 * Predictions for the tensors of a safetensors file, one for each stream. The batch is cut into pieces; the last one,
 * if smaller, has a plan of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict.h"

#define DEFAULT_BATCH 16
#define NUMBER sizeof(float) /* every count was allocated with it, so that products fit */

/* The inputs of all samples, and where the outputs go. */
typedef struct tensors {
    const braid_net *net;
    braid_model *model;
    float *input[BRAID_MAX_STREAMS];
    size_t sample[BRAID_MAX_STREAMS]; /* numbers of one sample */
    braid_file_tensor found[BRAID_MAX_STREAMS];
    char names[512]; /* of all tensors of the input file, for messages */
    int64_t samples, classes;
    float *logits;
} tensors;

/* ---- Reading ------------------------------------------------------------------------------- */

/* Looks for the tensors of the streams in a file. */
static void take_tensor(void *user, const braid_file_tensor *tensor) {
    tensors *p = user;
    size_t used = strlen(p->names);
    snprintf(p->names + used, sizeof p->names - used, "%s%s", used ? ", " : "", tensor->name);
    for (int i = 0; i < braid_net_stream_count(p->net); i++) {
        if (strcmp(tensor->name, braid_net_stream(p->net, i, NULL)) != 0) continue;
        p->found[i] = *tensor;
        p->found[i].name = braid_net_stream(p->net, i, NULL);
    }
}

/* "[4,3,33,41]" */
static void print_shape(const braid_file_tensor *t, char *text, size_t room) {
    size_t used = 0;
    for (int axis = 0; axis < t->rank && used < room; axis++) {
        int wrote = snprintf(text + used, room - used, "%s%lld", axis ? "," : "[", (long long)t->dims[axis]);
        if (wrote > 0) used += (size_t)wrote;
    }
    snprintf(used < room ? text + used : text, used < room ? room - used : 0, t->rank ? "]" : "[]");
}

/* Each stream must be there, [B,C,H,W] or [B,C], with the same batch and size as the first. */
static int check_stream(const tensors *p, int i, const char *path) {
    int64_t channels = 0;
    const char *name = braid_net_stream(p->net, i, &channels);
    const braid_file_tensor *t = &p->found[i], *first = &p->found[0];
    char shape[200], first_shape[200];
    if (!t->name)
        return complain(BRAID_ERROR_DATA, "%s: expected a tensor \"%s\" for stream %d of the network, got only: %s",
                        path, name, i, p->names[0] ? p->names : "nothing");
    print_shape(t, shape, sizeof shape);
    print_shape(first, first_shape, sizeof first_shape);
    if ((t->rank != 2 && t->rank != 4) || t->dims[1] != channels || t->dims[0] < 1)
        return complain(BRAID_ERROR_DATA, "%s: %s: expected [B,%lld,H,W] or [B,%lld] (%lld channels), got %s", path,
                        name, (long long)channels, (long long)channels, (long long)channels, shape);
    int same = t->rank == first->rank && t->dims[0] == first->dims[0];
    for (int axis = 2; same && axis < t->rank; axis++) same = t->dims[axis] == first->dims[axis];
    if (same) return 0;
    return complain(BRAID_ERROR_DATA, "%s: %s: expected the batch and size of %s, %s, got %s", path, name, first->name,
                    first_shape, shape);
}

/* Numbers that are not finite are none to go on with: the sample and what it has, as of images. */
static int check_finite(const float *numbers, int64_t samples, size_t each, const char *what, const char *path) {
    for (size_t j = 0; j < (size_t)samples * each; j++) {
        if (!isfinite(numbers[j]))
            return complain(BRAID_ERROR_DIVERGED, "%s: sample %zu: expected finite numbers in %s, got %g", path,
                            j / each, what, (double)numbers[j]);
    }
    return 0;
}

static int read_inputs(tensors *p, const char *path) {
    braid_status status = braid_file_describe(path, NULL, take_tensor, p, NULL);
    if (status) return complain(BRAID_ERROR_DATA, "%s", braid_message());
    for (int i = 0; i < braid_net_stream_count(p->net); i++) {
        int code = check_stream(p, i, path);
        if (code) return code;
        const braid_file_tensor *t = &p->found[i];
        p->sample[i] = (size_t)t->dims[1];
        for (int axis = 2; axis < t->rank; axis++) p->sample[i] *= (size_t)t->dims[axis];
        p->samples = t->dims[0];
        size_t count = (size_t)p->samples * p->sample[i];
        p->input[i] = calloc(count + 1, NUMBER);
        if (!p->input[i]) return complain(BRAID_ERROR_MEMORY, "no memory for %zu numbers of %s", count, t->name);
        status = braid_file_read(path, t->name, BRAID_DTYPE_F32, p->input[i], count * NUMBER);
        if (status) return complain(BRAID_ERROR_DATA, "%s", braid_message());
        code = check_finite(p->input[i], p->samples, p->sample[i], t->name, path);
        if (code) return code;
    }
    return 0;
}

/* ---- Running ------------------------------------------------------------------------------- */

static braid_status make_plan(const tensors *p, int64_t batch, braid_plan **plan) {
    const braid_file_tensor *first = &p->found[0];
    braid_plan_request r = {.phase = BRAID_PHASE_EVAL, .batch = batch, .choice = {.effort = BRAID_EFFORT_ESTIMATE}};
    for (int axis = 0; axis < 2 && first->rank == 4; axis++) r.size[axis] = first->dims[2 + axis];
    return braid_plan_create(p->model, &r, plan);
}

/* Numbers of one sample's output. */
static braid_status find_classes(tensors *p, braid_plan *plan) {
    braid_operand_info info;
    void *memory;
    braid_status status = braid_plan_tensor(plan, "output", &info, &memory);
    p->classes = 1;
    for (int axis = 1; !status && axis < info.rank; axis++) p->classes *= info.dims[0][axis];
    return status;
}

static braid_status run_piece(const tensors *p, braid_plan *plan, int64_t first, int64_t count) {
    braid_status status = BRAID_OK;
    for (int i = 0; i < braid_net_stream_count(p->net) && !status; i++)
        status = braid_plan_set_input(plan, p->found[i].name, p->input[i] + (size_t)first * p->sample[i],
                                      (size_t)count * p->sample[i] * NUMBER);
    if (!status) status = braid_plan_run(plan, BRAID_SEGMENT_FORWARD);
    size_t outputs = (size_t)count * (size_t)p->classes;
    return status ? status : braid_plan_get_output(plan, p->logits + first * p->classes, outputs * NUMBER);
}

static int run_all(tensors *p, const predict_options *options) {
    int64_t batch = options->network.batch ? options->network.batch : DEFAULT_BATCH, planned = 0;
    braid_plan *plan = NULL;
    braid_status status = BRAID_OK;
    progress bar;
    if (batch > p->samples) batch = p->samples;
    progress_begin(&bar, (int)((p->samples + batch - 1) / batch), options->common.quiet);
    for (int64_t first = 0; first < p->samples && !status && !interrupted(); first += batch) {
        int64_t count = p->samples - first < batch ? p->samples - first : batch;
        progress_step(&bar, (int)(first / batch), "samples");
        if (count != planned) {
            braid_plan_destroy(plan);
            plan = NULL;
            status = make_plan(p, planned = count, &plan);
        }
        if (!status && !p->logits) {
            status = find_classes(p, plan);
            p->logits = status ? NULL : calloc((size_t)(p->samples * p->classes) + 1, sizeof(float));
            if (!status && !p->logits) break;
        }
        if (!status) status = run_piece(p, plan, first, count);
    }
    progress_clear(&bar);
    braid_plan_destroy(plan);
    if (status) return complain_braid(status);
    if (!p->logits && !interrupted()) return complain(BRAID_ERROR_MEMORY, "no memory for the outputs");
    return interrupted() ? EXIT_INTERRUPTED : 0;
}

int predict_tensors(const prediction *p) {
    tensors t = {.net = p->net, .model = p->model};
    int code = read_inputs(&t, p->options->input);
    if (!code) code = run_all(&t, p->options);
    if (!code) code = check_finite(t.logits, t.samples, (size_t)t.classes, "the outputs", p->options->input);
    if (!code) code = predict_write(t.logits, t.samples, t.classes, p->options->out);
    if (!code)
        printf("%lld samples, %lld outputs each: %s\n", (long long)t.samples, (long long)t.classes, p->options->out);
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) free(t.input[i]);
    free(t.logits);
    return code;
}
