/*
 * Statistics of a set's files: what is measured at import, kept beside the manifest, and shown by `braid data stats`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_STATS_H
#define BRAID_DATA_STATS_H

#include "data/convert.h"

#define STATS_FILE "statistics.json"
#define STATS_SIZES 8
#define STATS_MOST_SAMPLES 2000 /* of the training samples, where a set has no statistics of its own */
#define STATS_FEW_LEVELS 32

typedef struct stats_size {
    int64_t height, width, files;
} stats_size;

/* The files of a stream in a split. */
typedef struct stats_stream {
    int bits, channels; /* 0: no file was read yet; channels: the most of any file */
    int64_t files, values, holes;
    double least, most;           /* as stored, without holes */
    double mean[3], std[3];       /* of shares, without holes; by stats_finish */
    int levels;                   /* of 256 that are used; -1: not known, of floats */
    stats_size size[STATS_SIZES]; /* in the order they came; those of further sizes are not counted */
    int sizes;                    /* different ones, STATS_SIZES + 1: more than are kept */
    int64_t *counts;              /* of each stored value and channel; NULL: of floats */
    double sum[3], squares[3];    /* of floats */
    double cut[2];                /* where floats are cut off before they are added up; equal: nowhere */
} stats_stream;

typedef struct stats_set {
    stats_stream of[BRAID_SPLIT_COUNT][BRAID_MAX_STREAMS];
} stats_set;

/* Counts an image in; zeros are holes where `has_holes`. Refuses one of other bits than the first. */
braid_status stats_add(stats_stream *s, const image *from, int has_holes);

/* The range of what was counted: of 16 bits without the outermost 0.1 % at either end, of floats all of it. */
void stats_range(const stats_stream *s, double *low, double *high);

/* Mean, deviation and levels, now that the range is known. */
void stats_finish(stats_stream *s, const manifest_stream *stream);

void stats_free(stats_set *s);

/* Is told of a file that cannot be used, whose reason is fail_message(). What it returns ends the measuring, or does
 * not. */
typedef braid_status stats_bad_file(void *user, braid_split split, int64_t sample, int stream, const char *path);

/* Is told of every image that was decoded, before it is counted. */
typedef void stats_decoded(void *user, braid_split split, int64_t sample, int stream, const image *from);

typedef struct stats_options {
    int64_t most;             /* samples of each split, evenly spread; 0: all */
    int train_only;           /* 1: the split train alone */
    const double (*cut)[2];   /* of each stream of floats: its range, where it is known; NULL: of none */
    const int *has_holes;     /* of each stream; NULL: as -1; -1: those of more than 8 bits */
    stats_bad_file *bad_file; /* NULL: it fails the call */
    stats_decoded *decoded;   /* NULL: nobody is told */
    void *user;
    check_progress *progress; /* NULL: none */
} stats_options;

/* Reads the files of a set of images. The caller frees `out`, also on failure. */
braid_status stats_measure(const braid_data *d, const stats_options *options, stats_set *out);

/* The text of STATS_FILE for a manifest of `sum` (crc32c), and mean and deviation of the split train out of it:
 * *is_its_own 0 where it belongs to another manifest. Returns memory. */
braid_status stats_write(const stats_set *s, const manifest *m, uint32_t sum, char **text, size_t *bytes);
braid_status stats_read(const char *text, size_t bytes, uint32_t sum, const manifest *m, double mean[][3],
                        double std[][3], int *is_its_own);

#endif
