/*
 * The parts of braid data.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_DATA_H
#define BRAID_CLI_DATA_H

#include "cli.h"

typedef struct data_options {
    common_options common;
    const char *out, *size, *streams, *range, *mask, *fit, *split;
    int count, readers, batch, max_pixels;
    uint64_t seed;
    double seconds;
} data_options;

/* Each returns an exit code; words are those after the part's name. */
int data_import(const data_options *options, const char *const *words, int count);
int data_stats(const data_options *options, const char *const *words, int count);
int data_preview(const data_options *options, const char *const *words, int count);

int data_on_progress(void *progress, int64_t done, int64_t total, const char *what);

/* "48x64", or one number for both; 0x0 where there is none. Returns 0, or an exit code after a message. */
int data_parse_size(const char *text, int64_t size[2]);

/* The exit code of a call that failed or was interrupted, after its message. */
int data_stopped(braid_status status);

#endif
