/*
 * Importing, in three steps: sources (folders, tables, lists) become files with roles; files of one sample come
 * together; the samples get splits, are measured, and become a manifest.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_IMPORT_H
#define BRAID_DATA_IMPORT_H

#include "data/manifest.h"

#define IMPORT_NO_SPLIT (-1)
#define IMPORT_MOST_NOTES 1000 /* that are kept */
#define IMPORT_MOST_PARTS 8    /* folders between the one that is named and a file */

/* A file and what it is. Texts are borrowed from the import's strings. */
typedef struct import_file {
    const char *path; /* absolute */
    int split;        /* IMPORT_NO_SPLIT: nothing says */
    int stream;
    const char *label, *key; /* of a sample: what its files have in common */
} import_file;

/* A stream that is there and that --streams leaves out. */
typedef struct import_unasked {
    char name[32];
    int64_t files; /* of folders; columns of a table are not counted */
} import_unasked;

typedef struct import_strings {
    char **text;
    size_t count, room;
} import_strings;

typedef struct import {
    const braid_data_import_options *options;
    import_strings strings;
    manifest m; /* streams, classes and samples as they are found */
    import_file *files;
    int64_t file_count;
    size_t file_room;
    import_unasked unasked[2 * BRAID_MAX_STREAMS]; /* the first that were found */
    int unasked_count;
    struct { /* why there may be no samples; texts are of the first */
        int64_t classless, missing;
        const char *folder, *source, *file;
        char note[600];
    } lacks;
    char *root; /* absolute, without links; NULL: nothing was read yet */
    char *out;  /* the same of the set's folder, which is not looked into */
    braid_table *notes;
    braid_data_import_result *result;
} import;

/* A copy that lives as long as the import. */
braid_status import_keep(import *a, const char *text, const char **kept);

/* A file that takes no part, and why. */
__attribute__((format(printf, 3, 4))) braid_status import_note(import *a, const char *path, const char *format, ...);

braid_status import_add_file(import *a, const import_file *file);

/* The stream of a name, made where it is new. */
braid_status import_stream(import *a, const char *name, int *stream);

/* Counts `files` files of a stream that --streams leaves out; 0: there is no room for another name. */
int import_leave_out(import *a, const char *name, size_t length, int64_t files);

/* The split that a name means, "validation"; IMPORT_NO_SPLIT: none. */
int import_split_of(const char *name);

/* Can this be read, by its ending? */
int import_is_image(const char *name);

/* What to do with a file of another format, by its ending: "gdal_translate -of PNG"; NULL: it is none of images. */
const char *import_tool_for(const char *name);

/* ---- Sources ------------------------------------------------------------------------------- */

/* All images below a folder; `stream` NULL: their folders or names say which stream they are of. */
braid_status import_folder(import *a, const char *folder, const char *stream);

/* A table, or lists of files by name ("rgb", "label", "split"), of which line k belongs to sample k. */
braid_status import_table(import *a, const char *path);
braid_status import_lists(import *a, const char *const *names, const char *const *paths, int count);

/* ---- Samples ------------------------------------------------------------------------------- */

/* Groups files into samples of the manifest. */
braid_status import_group(import *a);

/* Gives splits to samples that have none. */
braid_status import_divide(import *a);

#endif
