/*
 * The options of braid train, and what a run remembers of them: its checkpoints carry those that were typed as text, so
 * that --resume needs none of them again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_TRAIN_OPTIONS_H
#define BRAID_CLI_TRAIN_OPTIONS_H

#include "cli.h"

#define TRAIN_OPTIONS_KEY "braid.options" /* of the text in a checkpoint's metadata */
#define TRAIN_OPTIONS_BYTES 8192
#define TRAIN_BATCH 32 /* where nothing else is said */
#define TRAIN_BATCH_TEXT "32"

typedef struct train_options {
    common_options common;
    network_options network;
    const char *data, *fit, *out, *schedule, *monitor, *rate, *decay;
    int epochs, steps, resume, optimiser, nesterov, loss, accumulate, modality_start, modality_ramp, modality_down;
    int patience, stream_epochs, stream_samples, augment, stratified, class_weights, readers, save_steps, effort;
    int bad_sample, verify_every, max_pixels;
    double momentum, smoothing, alpha, gamma, clip, modality, min_delta, tune;
} train_options;

extern const option train_option_list[];

braid_optimiser train_optimiser(const train_options *o);
braid_loss train_loss(const train_options *o);

/* Refuses an option that means nothing beside the others. Returns 0, or an exit code after a message. */
int train_options_check(const train_options *o);

/* ---- train_resume.c ------------------------------------------------------------------------- */

/* The options of a run as its newest whole checkpoint has them: lines of name=value. "": it has none. */
void train_options_read(const char *run, char text[TRAIN_OPTIONS_BYTES]);

/* The value of one of them; NULL: it was not typed. Good until the next call. */
const char *train_options_value(const char *text, const char *name);

/* Adds those that were not typed again, with their values, to the options and to the list of what was given; the text
 * must live as long as the options. Returns 0, or an exit code after a message. */
int train_options_recall(const verb *v, char *text, train_options *options, arguments *words);

/* The text for the checkpoints of a run, from what was typed. */
void train_options_print(const arguments *words, char text[TRAIN_OPTIONS_BYTES]);

/* ---- train_saved.c -------------------------------------------------------------------------- */

/* A field of two descriptions of networks, in so many bytes of each. */
typedef struct train_difference {
    const char *saved, *now; /* NULL: there is none */
    size_t saved_bytes, now_bytes;
} train_difference;

/* The first field of what was typed that two descriptions differ in. */
train_difference train_find_difference(const network_options *typed, const char *saved, const char *now);

#endif
