/*
 * Whole networks against PyTorch: every case of tests/golden, in f64 to 1e-9 (logits, loss, every gradient, running
 * statistics, ten optimiser steps) and in f32 to the bounds of the issue. The files are described in
 * tests/golden/README.md.
 *
 *     golden [DEVICE [BEGINNING...]]     in f32 alone on another device than the CPU; cases that begin so, or all
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/safetensors.h"
#include "model/model.h"

#define FOLDER "tests/golden/"
#define STEPS 10
#define PROJECTIONS 8

static const char *where = "cpu";
static char **beginnings; /* of the names of the cases that are run, up to a NULL; NULL: all are */

/* One case, one model in one dtype. */
typedef struct golden {
    safetensors *file, *weights;
    json_t *about, *parameters, *buffers;
    braid_net *net;
    braid_context *context;
    braid_model *model;
    braid_plan *plan;
    braid_dtype dtype;
    int is_resnet;
} golden;

#define OK(call)                                                            \
    do {                                                                    \
        if ((call) != BRAID_OK) fail_msg("%s: %s", #call, braid_message()); \
    } while (0)

/* ---- Reading a case ------------------------------------------------------------------------- */

static json_t *read_json(const safetensors *file, const char *key) {
    const char *text = safetensors_metadata(file, key);
    json_t *value = NULL;
    assert_non_null(text);
    OK(json_read(text, strlen(text), key, BRAID_ERROR_DATA, &value));
    return value;
}

static safetensors *open_file(const char *name) {
    char path[512];
    safetensors *file = NULL;
    snprintf(path, sizeof path, FOLDER "%s", name);
    OK(safetensors_open(path, &file));
    return file;
}

/* A tensor of a file as doubles; NULL where it has none. *count is its elements. For memory_free. */
static double *read_doubles(const safetensors *file, const char *name, int64_t *count) {
    const safetensors_entry *entry = safetensors_find(file, name);
    void *raw = NULL;
    double *values = NULL;
    if (!entry) return NULL;
    size_t bytes = entry->end - entry->begin;
    *count = (int64_t)(bytes / dtype_bytes(entry->dtype));
    OK(memory_alloc(1, bytes + 1, "tensor", &raw));
    OK(memory_alloc((size_t)*count + 1, sizeof *values, "tensor", (void **)&values));
    OK(safetensors_read(file, entry, raw));
    for (int64_t j = 0; j < *count; j++) values[j] = dtype_load(raw, entry->dtype, j);
    memory_free(raw);
    return values;
}

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}
static double number_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static braid_plan_request request_of(const golden *g) {
    json_t *size = json_object_get(g->about, "size"), *loss = json_object_get(g->about, "loss"),
           *optimiser = json_object_get(g->about, "optimiser");
    const char *kind = text_of(loss, "kind"), *by = text_of(optimiser, "kind");
    braid_plan_request r = {.phase = strcmp(text_of(g->about, "mode"), "eval") ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL,
                            .batch = json_integer_value(json_array_get(size, 0)),
                            .mask = safetensors_find(g->file, "mask") != NULL,
                            .choice = {.effort = BRAID_EFFORT_ESTIMATE}};
    for (size_t axis = 0; axis < 2 && json_array_size(size) == 3; axis++)
        r.size[axis] = json_integer_value(json_array_get(size, 1 + axis));
    r.loss = !strcmp(kind, "mse")     ? BRAID_LOSS_MSE
             : !strcmp(kind, "focal") ? BRAID_LOSS_FOCAL
                                      : BRAID_LOSS_CROSS_ENTROPY;
    r.smoothing = number_of(loss, "label_smoothing");
    r.alpha = number_of(loss, "alpha");
    r.gamma = number_of(loss, "gamma");
    if (by)
        r.optimiser = !strcmp(by, "sgd")    ? BRAID_OPTIMISER_SGD
                      : !strcmp(by, "adam") ? BRAID_OPTIMISER_ADAM
                                            : BRAID_OPTIMISER_ADAMW;
    r.momentum = number_of(optimiser, "momentum");
    r.nesterov = json_is_true(json_object_get(optimiser, "nesterov"));
    return r;
}

static void set_inputs(const golden *g) {
    safetensors *inputs = open_file(text_of(g->about, "inputs"));
    braid_dtype master = g->dtype == BRAID_DTYPE_F64 ? BRAID_DTYPE_F64 : BRAID_DTYPE_F32;
    for (int i = 0; i < braid_net_stream_count(g->net); i++) {
        const char *stream = braid_net_stream(g->net, i, NULL);
        int64_t count = 0;
        double *values = read_doubles(inputs, stream, &count);
        assert_non_null(values);
        void *data = NULL;
        OK(memory_alloc((size_t)count, dtype_bytes(master), "input", &data));
        dtype_from_f64(data, master, values, count);
        OK(braid_plan_set_input(g->plan, stream, data, (size_t)count * dtype_bytes(master)));
        memory_free(data);
        memory_free(values);
    }
    safetensors_close(inputs);
}

static void set_labels_and_masks(const golden *g) {
    int64_t count = 0;
    double *labels = read_doubles(g->file, "labels", &count);
    if (labels) {
        int32_t classes[64];
        assert_in_range(count, 1, 64);
        for (int64_t j = 0; j < count; j++) classes[j] = (int32_t)labels[j];
        OK(braid_plan_write(g->plan, "labels", classes, (size_t)count * sizeof classes[0]));
    }
    memory_free(labels);
    double *mask = read_doubles(g->file, "mask", &count);
    int64_t batch = mask ? count / braid_net_stream_count(g->net) : 0;
    for (int i = 0; mask && i < braid_net_stream_count(g->net); i++) {
        unsigned char blanked[64];
        for (int64_t b = 0; b < batch; b++) blanked[b] = mask[i * batch + b] != 0;
        OK(braid_plan_set_mask(g->plan, i, blanked));
    }
    memory_free(mask);
}

static void open_case(golden *g, const char *name, braid_dtype dtype) {
    char path[512];
    *g = (golden){.dtype = dtype};
    g->file = open_file(name);
    g->about = read_json(g->file, "case");
    g->weights = open_file(text_of(g->about, "weights"));
    g->parameters = read_json(g->weights, "parameters");
    g->buffers = read_json(g->weights, "buffers");
    char *description = json_dumps(json_object_get(g->about, "network"), JSON_COMPACT);
    g->is_resnet = strstr(description, "net18") || strstr(description, "net50");
    OK(braid_net_from_description(description, strlen(description), &g->net));
    free(description);
    OK(braid_context_create(&(braid_context_options){.device = where, .cache_dir = ""}, &g->context));
    OK(braid_model_create(g->context, g->net, &(braid_model_options){.dtype = dtype}, &g->model));
    snprintf(path, sizeof path, FOLDER "%s", text_of(g->about, "weights"));
    OK(braid_model_load(g->model, path));
    braid_plan_request r = request_of(g);
    OK(braid_plan_create(g->model, &r, &g->plan));
    json_t *optimiser = json_object_get(g->about, "optimiser");
    const braid_rates rates = {number_of(optimiser, "lr"), number_of(optimiser, "weight_decay"), 1};
    for (int group = 0; group < braid_plan_group_count(g->plan); group++)
        OK(braid_plan_set_rates(g->plan, group, &rates));
    set_inputs(g);
    set_labels_and_masks(g);
}

static void close_case(golden *g) {
    braid_plan_destroy(g->plan);
    braid_model_destroy(g->model);
    braid_context_destroy(g->context);
    braid_net_destroy(g->net);
    json_decref(g->about);
    json_decref(g->parameters);
    json_decref(g->buffers);
    safetensors_close(g->file);
    safetensors_close(g->weights);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static double norm_of(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++) sum += x[j] * x[j];
    return sqrt(sum);
}

/* Largest difference as a share of the largest value. */
static void assert_close(const double *got, const double *expected, int64_t count, double bound, const char *what) {
    double difference = 0, largest = 0;
    for (int64_t j = 0; j < count; j++) {
        difference = fmax(difference, fabs(got[j] - expected[j]));
        largest = fmax(largest, fabs(expected[j]));
        if (isnan(got[j])) fail_msg("%s: NaN at %lld", what, (long long)j);
    }
    if (difference > bound * fmax(largest, 1e-300))
        fail_msg("%s: off by %.3g of the largest value %.6g, allowed %.1g", what, difference / largest, largest, bound);
}

static uint64_t sign_bits(uint64_t j) {
    uint64_t x = (j + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static void project(const double *x, int64_t count, double *out) {
    for (int k = 0; k < PROJECTIONS; k++) out[k] = 0;
    for (int64_t j = 0; j < count; j++) {
        uint64_t bits = sign_bits((uint64_t)j);
        for (int k = 0; k < PROJECTIONS; k++) out[k] += bits >> k & 1 ? -x[j] : x[j];
    }
}

/* A parameter, a state or a gradient of the model as doubles. For memory_free. */
static double *numbers_of(const golden *g, const char *name, int is_gradient, int64_t *count) {
    int plane = model_find(g->model, name);
    if (plane < 0) fail_msg("%s", braid_message());
    const graph_plane *what = &g->model->graph->planes[plane];
    *count = plane_elements(what);
    braid_dtype dtype = what->is_counter ? BRAID_DTYPE_I64 : g->model->master;
    size_t bytes = (size_t)*count * dtype_bytes(dtype);
    void *raw = NULL;
    double *values = NULL;
    OK(memory_alloc(1, bytes + 1, "tensor", &raw));
    OK(memory_alloc((size_t)*count + 1, sizeof *values, "tensor", (void **)&values));
    if (is_gradient)
        OK(braid_plan_gradient(g->plan, name, raw, bytes));
    else
        OK(braid_model_read(g->model, name, raw, bytes));
    for (int64_t j = 0; j < *count; j++) values[j] = dtype_load(raw, dtype, j);
    memory_free(raw);
    return values;
}

static double loss_of(const golden *g) {
    double loss = 0;
    float single = 0;
    if (g->dtype == BRAID_DTYPE_F64) {
        OK(braid_plan_read(g->plan, "loss", &loss, sizeof loss));
        return loss;
    }
    OK(braid_plan_read(g->plan, "loss", &single, sizeof single));
    return (double)single;
}

static void compare_output(const golden *g) {
    int64_t count = 0;
    int f64 = g->dtype == BRAID_DTYPE_F64;
    double *expected = read_doubles(g->file, "f64.logits", &count), got[8192], loss = loss_of(g);
    float single[8192];
    assert_in_range(count, 1, 8192);
    OK(braid_plan_get_output(g->plan, f64 ? (void *)got : single, (size_t)count * (f64 ? 8 : 4)));
    for (int64_t j = 0; j < count && !f64; j++) got[j] = (double)single[j];
    assert_close(got, expected, count, f64 ? 1e-9 : 1e-4, "logits");
    memory_free(expected);
    expected = read_doubles(g->file, "f64.loss", &count);
    assert_close(&loss, expected, 1, f64 ? 1e-9 : 1e-4, "loss");
    memory_free(expected);
}

/* Against the norm and the projections of PyTorch's gradient in f64, and against the gradient where it is there. */
static void compare_gradient(const golden *g, size_t row, const double *table) {
    const char *name = json_string_value(json_array_get(g->parameters, row));
    double bound = g->dtype == BRAID_DTYPE_F64 ? 1e-9 : 1e-4, got[PROJECTIONS];
    const double *expected = table + row * (1 + PROJECTIONS);
    int64_t count = 0, stored = 0;
    char key[256];
    double *gradient = numbers_of(g, name, 1, &count);
    project(gradient, count, got);
    if (fabs(norm_of(gradient, count) - expected[0]) > bound * expected[0])
        fail_msg("%s: gradient of norm %.12g, expected %.12g", name, norm_of(gradient, count), expected[0]);
    for (int k = 0; k < PROJECTIONS; k++) {
        if (fabs(got[k] - expected[1 + k]) > 4 * bound * expected[0])
            fail_msg("%s: projection %d of the gradient %.12g, expected %.12g (norm %.6g)", name, k, got[k],
                     expected[1 + k], expected[0]);
    }
    snprintf(key, sizeof key, "grad.%s", name);
    double *whole = read_doubles(g->file, key, &stored);
    for (int64_t j = 0; whole && j < stored; j++) whole[j] -= gradient[j];
    if (whole && norm_of(whole, stored) > bound * expected[0])
        fail_msg("%s: gradient off by %.3g of its norm", name, norm_of(whole, stored) / expected[0]);
    memory_free(whole);
    memory_free(gradient);
}

static void compare_gradients(const golden *g) {
    int64_t count = 0;
    double *table = read_doubles(g->file, "f64.gradients", &count);
    assert_int_equal(count, json_array_size(g->parameters) * (1 + PROJECTIONS));
    for (size_t row = 0; row < json_array_size(g->parameters); row++) compare_gradient(g, row, table);
    memory_free(table);
}

static void compare_statistics(const golden *g) {
    for (size_t row = 0; row < json_array_size(g->buffers); row++) {
        const char *name = json_string_value(json_array_get(g->buffers, row));
        char key[256];
        int64_t count = 0, stored = 0;
        snprintf(key, sizeof key, "after.%s", name);
        double *expected = read_doubles(g->file, key, &stored), *got = numbers_of(g, name, 0, &count);
        assert_non_null(expected);
        assert_int_equal(count, stored);
        assert_close(got, expected, count, g->dtype == BRAID_DTYPE_F64 ? 1e-9 : 1e-4, name);
        memory_free(expected);
        memory_free(got);
    }
}

/* Norm, projection 0 and sum of every tensor after ten steps. */
static void compare_final(const golden *g) {
    int64_t count = 0, rows = 0;
    size_t parameters = json_array_size(g->parameters);
    double *table = read_doubles(g->file, "f64.final", &rows);
    for (size_t row = 0; row < (size_t)rows / 3; row++) {
        const char *name = row < parameters ? json_string_value(json_array_get(g->parameters, row))
                                            : json_string_value(json_array_get(g->buffers, row - parameters));
        double *got = numbers_of(g, name, 0, &count), norm = norm_of(got, count), projections[PROJECTIONS], sum = 0;
        const double *expected = table + row * 3;
        for (int64_t j = 0; j < count; j++) sum += got[j];
        project(got, count, projections);
        if (fabs(norm - expected[0]) > 1e-9 * expected[0] || fabs(projections[0] - expected[1]) > 4e-9 * expected[0] ||
            fabs(sum - expected[2]) > 4e-9 * expected[0] * sqrt((double)count + 1))
            fail_msg("%s after ten steps: norm %.12g, expected %.12g", name, norm, expected[0]);
        memory_free(got);
    }
    memory_free(table);
}

static void run_training(const golden *g) {
    int64_t count = 0;
    double *losses = read_doubles(g->file, "f64.losses", &count);
    double bound = g->dtype == BRAID_DTYPE_F64 ? 1e-9 : g->is_resnet ? 1e-4 : 1e-5;
    assert_int_equal(count, STEPS);
    for (int step = 0; step < STEPS; step++) {
        OK(braid_plan_run(g->plan, BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD));
        double loss = loss_of(g);
        assert_close(&loss, &losses[step], 1, bound, "loss of a step");
        if (step == 0) {
            compare_output(g);
            compare_gradients(g);
            compare_statistics(g);
        }
        OK(braid_plan_run(g->plan, BRAID_SEGMENT_UPDATE));
    }
    if (g->dtype == BRAID_DTYPE_F64) compare_final(g);
    memory_free(losses);
}

/* ---- The cases ------------------------------------------------------------------------------ */

static void run_case(const char *name, braid_dtype dtype) {
    golden g;
    open_case(&g, name, dtype);
    if (strcmp(text_of(g.about, "mode"), "eval") == 0) {
        OK(braid_plan_run(g.plan, BRAID_SEGMENT_FORWARD));
        compare_output(&g);
    } else {
        run_training(&g);
    }
    close_case(&g);
}

static int is_case(const char *name) {
    const char *end = strstr(name, ".safetensors");
    if (!end || strncmp(name, "inputs.", 7) == 0 || strstr(name, ".weights.")) return 0;
    for (char **one = beginnings; one && *one; one++) {
        if (strncmp(name, *one, strlen(*one)) == 0) return 1;
    }
    return !beginnings;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

static void run_all(braid_dtype dtype) {
    static char names[128][256];
    int count = 0;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) && count < 128;) {
        if (is_case(entry->d_name)) snprintf(names[count++], sizeof names[0], "%s", entry->d_name);
    }
    closedir(folder);
    assert_true(count >= (beginnings ? 1 : 30)); /* a folder without cases proves nothing */
    qsort(names, (size_t)count, sizeof names[0], compare_names);
    for (int j = 0; j < count; j++) {
        print_message("%s %s\n", braid_dtype_name(dtype), names[j]);
        run_case(names[j], dtype);
    }
}

static void equals_pytorch_in_f64(void **state) {
    (void)state;
    run_all(BRAID_DTYPE_F64);
}

static void equals_pytorch_in_f32(void **state) {
    (void)state;
    run_all(BRAID_DTYPE_F32);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_pytorch_in_f32),
                                       cmocka_unit_test(equals_pytorch_in_f64)};
    if (argc > 1) where = argv[1];
    if (argc > 2) beginnings = argv + 2;
    if (strcmp(where, "cpu") != 0) cmocka_set_test_filter("equals_pytorch_in_f32");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
