/*
 * A set inside: what braid_data_describe shows, the labels, and the functions of its kind. Each kind is one file that
 * scans a folder into this struct, reads a sample, and looks at every file. Scanning never stops at a mistake: it
 * notes each one in a list of problems, which `open` turns into one failure and `check` into a table.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_DATA_H
#define BRAID_DATA_DATA_H

#include "braid_lab.h"
#include "core/json.h"
#include "core/status.h"

/* ---- Problems ----------------------------------------------------------------------------- */

#define PROBLEMS_MOST 10000

typedef struct problems {
    braid_table *table; /* of the first PROBLEMS_MOST; NULL: only the first is kept */
    int64_t count;
    char first[512];
} problems;

/* Notes a problem of a file. Fails only where there is no memory for it. */
__attribute__((format(printf, 3, 4))) braid_status problems_add(problems *p, const char *path, const char *format, ...);

/* A status of BRAID_ERROR_DATA becomes a problem of the file and BRAID_OK; any other is handed on. */
braid_status problems_catch(problems *p, const char *path, braid_status status);

/* The file that a folder has while a set is made in it; one that was stopped keeps it, and is refused. */
#define DATA_UNFINISHED "UNFINISHED"

/* ---- Sets --------------------------------------------------------------------------------- */

typedef struct data_split {
    int32_t *labels;        /* of every sample */
    int64_t *first_samples; /* of every file, and the end; NULL: a file is a sample */
} data_split;

/* How far a check has come. */
typedef struct check_progress {
    braid_data_progress *call;
    void *user;
    int64_t done, total;
} check_progress;

/* Counts one file. BRAID_ERROR_CHECK where the caller asked to stop. */
braid_status check_step(check_progress *p, const char *what);

/* The files of a set that was opened from files: of every stream as many. */
typedef struct path_list {
    char **paths;
    unsigned char *from_folder; /* 1: found in a folder that was named */
    int64_t count;
    size_t path_room, flag_room;
} path_list;

typedef struct gathered {
    path_list stream[BRAID_MAX_STREAMS];
    int64_t count; /* of each */
} gathered;

typedef struct data_kind {
    const char *name;
    const char *const *endings; /* of files that can be samples, ended by NULL */
    int (*matches)(braid_data *d);
    /* Fills the set from the folder's lists. */
    braid_status (*scan)(braid_data *d, const braid_data_options *options, problems *found);
    /* The rest are called on a scanned set; read and path from several threads at once. */
    braid_status (*read)(const braid_data *d, braid_split split, int64_t sample, void *const *streams);
    braid_status (*path)(const braid_data *d, braid_split split, int64_t sample, int stream, char **path);
    /* Reads every file. */
    braid_status (*check)(const braid_data *d, problems *found, check_progress *progress);
    void (*forget)(braid_data *d); /* frees `state` */
    /* Adds what only the kind knows of its samples to their card. */
    void (*describe)(const braid_data *d, json_t *card);
    /* Makes the samples of d->files the split test, in place of a scan. */
    braid_status (*take_files)(braid_data *d, const json_t *card, int resize);
} data_kind;

extern const data_kind data_sunrgbd, data_fmnist86, data_mimii, data_imported;

struct braid_data {
    braid_data_info info;
    const data_kind *kind;
    char *folder;
    char *root; /* the same, free of links: no file of the set may lie outside; NULL: it is of files */
    char stream_names[BRAID_MAX_STREAMS][32];
    char unused[BRAID_MAX_STREAMS * 34]; /* streams that were not asked for, as text */
    char **class_names;
    data_split split[BRAID_SPLIT_COUNT];
    gathered files; /* empty where the set is a folder */
    braid_data_limits limits;
    void *state; /* of the kind */
};

/* The file that a sample is in. */
int64_t data_file_of(const braid_data *d, braid_split split, int64_t sample);

/* Bytes of one sample of a stream. */
size_t data_sample_bytes(const braid_data *d, int stream);

/* Labels for `samples` samples of the split test that have none. */
braid_status data_unlabelled(braid_data *d, int64_t samples);

/* A table of the samples of each split and class, which the caller destroys, also on failure. */
braid_status data_counts(const braid_data *d, braid_table **table);

/* A table of what the files of some training samples make doubtful; empty for sets that are not of images. */
braid_status data_warnings(const braid_data *d, braid_table **table);

/* A file of a set: folder/name, at most `most` bytes, which must lie in `root` (core/within.h; NULL: anywhere). */
typedef struct data_file {
    const char *root, *folder, *name;
    size_t most;
} data_file;

/* Reads it. A missing file is a failure of BRAID_ERROR_DATA. Both for memory_free. */
braid_status data_read_file(const data_file *file, char **path, char **text, size_t *bytes);

/* Names of what lies in a folder, sorted, those that begin with a dot left out. A missing folder is empty. It must lie
 * in `root` (core/within.h; NULL: anywhere). */
typedef struct folder_list {
    char **names;
    int64_t count;
} folder_list;
braid_status folder_read(const char *root, const char *folder, folder_list *out);
void folder_free(folder_list *list);
int folder_exists(const char *path);
int data_is_file(const char *path); /* of any kind but a folder */

#endif
