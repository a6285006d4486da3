/*
 * The manifest of a set: one text file that says which files are the samples of which split and class, and how the
 * files of each stream are read. Nothing is copied: it names the files where they are. docs/files.md has the format.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_MANIFEST_H
#define BRAID_DATA_MANIFEST_H

#include "data/data.h"

#define MANIFEST_FILE "manifest.tsv"
#define MANIFEST_MAX_BYTES ((size_t)1 << 30)
#define MANIFEST_UNIT 16

/* How the files of a stream are read. */
typedef struct manifest_stream {
    char name[32];
    int channels;     /* 1 or 3: of the files */
    int bits;         /* 8, 16, or 32 for floats */
    int has_range;    /* a quantity: low to high are what counts, and 0 is a hole */
    double low, high; /* as stored in the files */
    char unit[MANIFEST_UNIT];
    double scale; /* a stored value times this is in the unit */
    int mask;     /* 1: one more channel, 1 where there is a value */
} manifest_stream;

typedef struct manifest_sample {
    int32_t split, label;
} manifest_sample;

/* Texts are borrowed from `text`, or from whoever fills the struct. */
typedef struct manifest {
    char *text; /* owned; NULL where it was not read */
    const char *root;
    int64_t size[2]; /* of samples; 0: that of the files */
    braid_fit fit;
    int streams, classes;
    manifest_stream stream[BRAID_MAX_STREAMS];
    const char **class_names;
    int64_t samples;
    manifest_sample *sample;
    const char **paths; /* [samples][streams], relative to the root, or absolute */
    size_t class_room, sample_room, path_room;
} manifest;

/* Reads a manifest; a message tells the line. Returns memory for manifest_free. */
braid_status manifest_read(const char *text, size_t bytes, manifest *out);

/* The text of it. Returns memory. */
braid_status manifest_write(const manifest *m, char **text, size_t *bytes);

/* One more class or sample, of which the paths are m->streams. */
braid_status manifest_add_class(manifest *m, const char *name);
braid_status manifest_add_sample(manifest *m, manifest_sample sample, const char *const *paths);

/* The class of a name; -1: there is none. */
int manifest_find_class(const manifest *m, const char *name);

/* Can a text stand in a manifest? Without control characters, and not empty. */
int manifest_can_hold(const char *text);

/* Bytes of a text that grows. */
typedef struct grown_text {
    char *text;
    size_t bytes, room;
} grown_text;
__attribute__((format(printf, 2, 3))) braid_status grown_add(grown_text *t, const char *format, ...);

const char *fit_name(braid_fit fit);
void manifest_free(manifest *m);

#endif
