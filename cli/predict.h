/*
 * What the two ways of braid predict share: a model, and a file of outputs. predict_tensors.c runs the tensors of a
 * safetensors file through it, predict_samples.c images and sounds; predict_out.c looks after the file.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_PREDICT_H
#define BRAID_CLI_PREDICT_H

#include "cli.h"

typedef struct predict_options {
    common_options common;
    network_options network;
    const char *net, *input, *out, *data, *like, *fit;
    int split, top, resize, last, readers, max_pixels;
} predict_options;

typedef struct prediction {
    const predict_options *options;
    char path[4096]; /* of the model file */
    braid_net *net;
    braid_context *context;
    braid_model *model;
} prediction;

/* Each returns 0, or an exit code after a message. */
int predict_tensors(const prediction *p);
int predict_samples(const prediction *p, const char *const *words, int count); /* no words: the samples of --data */

/* Refuses an --out that is read, that is inside the run or the set, or that is there and has no outputs or
 * answers of a prediction. The words are those of the command: the model, then files. */
int predict_check_out(const prediction *p, const char *const *words, int count);

/* The format of --out by the ending of its name: csv, json or md; BRAID_FORMAT_TABLE: safetensors, as any other. */
braid_format predict_out_format(const predict_options *o);

/* Refuses a format that --out, -o and --input do not agree on. Returns 0, or an exit code after a message. */
int predict_check_format(const predict_options *o);

/* Writes the table of answers into --out, and destroys it. Returns 0, or an exit code after a message. */
int predict_save(braid_table *table, const predict_options *o);

/* Replaces a file by one with the logits [samples][classes] and the class of each sample. */
int predict_write(const float *logits, int64_t samples, int64_t classes, const char *path);

#endif
