/*
 * A model: the numbers of a network on a device. All parameters lie in one arena of f32 (f64 for a model in f64),
 * those that ops read as statistics first, then those that they read in the dtype of compute; with f16 and
 * bf16 a twin of the arena holds the second kind in half precision. Gradients and the optimiser's state are twins too,
 * made when the first training plan asks for them. States (running statistics, counters) lie beside.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_MODEL_MODEL_H
#define BRAID_MODEL_MODEL_H

#include "core/safetensors.h"
#include "ops/graph.h"
#include "ops/scaling.h"
#include "race/context.h"

/* What a run tells of itself, in memory that all plans of a model share: cells of 8 bytes. A cell of a real number has
 * it in the dtype of the arena, one of a count is an int64; METRIC_SCALING is the table of ops/scaling.h. */
enum {
    METRIC_LOSS,
    METRIC_CORRECT,
    METRIC_NORM,
    METRIC_SCALE, /* of the gradients in the update; NaN: it was skipped */
    METRIC_LOSS_SCALE,
    METRIC_SCALING,
    METRIC_COUNT = METRIC_SCALING + SCALING_COUNT
};
#define METRIC_BYTES (METRIC_COUNT * sizeof(int64_t))

struct braid_model {
    braid_context *context;
    const braid_net *net;
    const graph *graph;
    braid_dtype dtype;  /* of compute */
    int tf32;           /* 1: f32, and products may round their operands */
    braid_dtype master; /* of the arena: the dtype of statistics */
    uint64_t seed;
    int64_t elements; /* of the arena */
    int64_t split;    /* first element of the parameters in the dtype of compute */
    int64_t *offset;  /* of every plane of the graph: elements for a parameter, bytes for a state; -1: neither */
    size_t state_bytes;
    void *weights, *half, *states; /* half: NULL where the dtype of compute is that of the arena */
    void *metrics;
    size_t promised_bytes; /* of the host's memory, to others than plans, for the next plan's batch: not yet taken */
    /* Of training; NULL until asked for. */
    void *gradients, *half_gradients, *m, *v, *step;
    int plans;                   /* that use it */
    int64_t changes;             /* of parameters: whoever writes them counts one; plans keep what they made of them */
    const braid_plan *turned_by; /* the plan whose forward run last drew new numbers for dropout; NULL: none */
    int64_t (*keys)[2];          /* of every plane that is the key of a dropout, as the device has them */
    int keys_known;              /* 0: they were written, and must be read again */
    struct json_t *choices;      /* the kernels that its plans take unraced, problem by problem; NULL: none */
    struct json_t *texts;        /* that its files carry along, by key; NULL: none */
};

/* Where a parameter or state lies, as a tensor of this dtype. */
void *model_address(const braid_model *model, int plane, braid_dtype dtype);
void *model_gradient_address(const braid_model *model, int plane, braid_dtype dtype);

/* Gradients, step counter and, where asked for, moments: zeros. */
braid_status model_need_training(braid_model *model, int has_m, int has_v);

/* The optimiser's state of a parameter, in the layout of files; 0 and 1 for the first and second moment. */
int model_has_moment(const braid_model *model, int moment);
braid_status model_moment_read(const braid_model *model, int moment, int plane, void *data);
braid_status model_moment_write(braid_model *model, int moment, int plane, const void *data);

/* A model file with all that training needs to go on: also the keys of dropout, the optimiser's moments, and a text of
 * the caller's under MODEL_TRAINING_KEY. Numbers that are not finite are refused (BRAID_ERROR_DIVERGED), and the file
 * stays as it was. Loading looks at all of it before anything is changed. */
#define MODEL_TRAINING_KEY "braid.training"
braid_status model_save_training(braid_model *model, const char *path, const char *training);
braid_status model_load_training(braid_model *model, const char *path);

/* The texts of a model: those of a file in place of what there is; all of them into a file. */
braid_status model_load_texts(braid_model *model, const safetensors *file);
braid_status model_save_texts(const braid_model *model, safetensors_writer *writer);
void model_forget_texts(braid_model *model);

/* The kernels that plans of the model were to take are forgotten. */
void model_forget_choices(braid_model *model);

/* Where a metric lies on the device. */
void *model_metric(const braid_model *model, int metric);

/* The state of loss scaling, in place of what there is. */
braid_status model_scaling_write(braid_model *model, double loss_scale, const int64_t scaling[SCALING_COUNT]);

/* Updates so far, where there are any to be counted. */
braid_status model_step_read(const braid_model *model, int64_t *step);
braid_status model_step_write(braid_model *model, int64_t step);

/* Bytes on the device: parameters and states; gradients and moments. */
size_t model_bytes(const braid_model *model);
size_t model_training_bytes(const braid_model *model);

/* The plane of a parameter or state by its name; -1, with a message, where there is none. */
int model_find(const braid_model *model, const char *name);

/* A plane in the layout of files: from and to memory as it lies (K,R,S,C), elements of `bytes` bytes each. */
void plane_from_file(const graph_plane *plane, const void *file, void *memory, size_t bytes);
void plane_to_file(const graph_plane *plane, const void *memory, void *file, size_t bytes);

/* A part of the initial values of a plane, in the layout of files: a function of seed, plane and name alone. values are
 * those of the whole plane, zeros before, and scratch has room for as many. Parts may be drawn side by side. */
int64_t plane_initial_parts(const graph_plane *plane);
void plane_initial(const graph_plane *plane, int index, int64_t part, uint64_t seed, double *values, double *scratch);

#endif
