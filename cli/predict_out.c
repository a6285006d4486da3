/*
 * The file that --out of braid predict writes. It is put in the place of its name, so that it may only be one that
 * nothing is lost by: a new one outside of the run and of the set, or outputs of an earlier prediction.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "predict.h"

/* ---- May it be replaced? ------------------------------------------------------------------- */

static int same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The file itself where it is there, else the folder that it would be in; 0: there is none. */
static int find_place(const char *path, char real[PATH_MAX]) {
    char folder[PATH_MAX];
    if (realpath(path, real)) return 1;
    const char *slash = strrchr(path, '/');
    int bytes = slash ? (int)(slash - path) + 1 : 1;
    return snprintf(folder, sizeof folder, "%.*s", bytes, slash ? path : ".") < PATH_MAX &&
           realpath(folder, real) != NULL;
}

/* Is a path the folder, or below it? */
static int is_inside(const char *path, const char *folder) {
    struct stat info;
    char real[PATH_MAX];
    if (!folder || stat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || !find_place(path, real)) return 0;
    while (real[0]) {
        if (same_file(real, folder)) return 1;
        *strrchr(real, '/') = 0;
    }
    return same_file("/", folder);
}

/* FILE of STREAM=FILE, or the whole word. */
static int is_word(const char *out, const char *word) {
    const char *equals = strchr(word, '=');
    return same_file(out, word) || (equals && same_file(out, equals + 1));
}

/* What is in a file: of outputs the logits [B,K] and the classes [B], with a checksum, and nothing else. */
typedef struct content {
    int logits, classes, checksums, others;
    int64_t samples[2];
} content;

static void take_text(void *user, const char *key, const char *value) {
    content *c = user;
    (void)value;
    *(strcmp(key, "braid.checksum") ? &c->others : &c->checksums) += 1;
}

static void take_tensor(void *user, const braid_file_tensor *t) {
    content *c = user;
    if (!strcmp(t->name, "logits") && t->dtype == BRAID_DTYPE_F32 && t->rank == 2) {
        c->logits++;
        c->samples[0] = t->dims[0];
    } else if (!strcmp(t->name, "classes") && t->dtype == BRAID_DTYPE_I64 && t->rank == 1) {
        c->classes++;
        c->samples[1] = t->dims[0];
    } else {
        c->others++;
    }
}

static int is_outputs(const char *path) {
    content c = {0};
    if (braid_file_describe(path, take_text, take_tensor, &c, NULL)) return 0;
    return c.logits == 1 && c.classes == 1 && c.checksums == 1 && c.others == 0 && c.samples[0] == c.samples[1];
}

static int is_model(const char *path) {
    braid_net *net = NULL;
    braid_status status = braid_net_from_file(path, &net);
    braid_net_destroy(net);
    return status == BRAID_OK;
}

/* Why a file cannot be the one for the outputs; NULL: it can. */
static const char *find_fault(const prediction *p, const char *const *words, int count) {
    const predict_options *o = p->options;
    struct stat info;
    if (same_file(o->out, p->path)) return "the model that is read";
    if (o->input && same_file(o->out, o->input)) return "the file of --input";
    for (int j = 1; j < count; j++) {
        if (is_word(o->out, words[j])) return "a file that is read";
    }
    if (is_inside(o->out, words[0])) return "a place in the folder of the run";
    if (is_inside(o->out, o->data)) return "a place in the set of --data";
    if (is_inside(o->out, o->like)) return "a place in the set of --like";
    if (stat(o->out, &info) != 0 || !S_ISREG(info.st_mode) || is_outputs(o->out)) return NULL;
    return is_model(o->out) ? "a model file, which would be lost" : "a file without outputs, which would be lost";
}

int predict_check_out(const prediction *p, const char *const *words, int count) {
    const char *fault = p->options->out ? find_fault(p, words, count) : NULL;
    if (!fault) return 0;
    return complain(BRAID_ERROR_ARGUMENT, "--out: expected a file for the outputs, got %s, %s; take another name",
                    p->options->out, fault);
}

/* ---- Writing ------------------------------------------------------------------------------- */

int predict_write(const float *logits, int64_t samples, int64_t classes, const char *path) {
    int64_t *best = calloc((size_t)samples + 1, sizeof *best);
    if (!best) return complain(BRAID_ERROR_MEMORY, "no memory for the classes");
    for (int64_t b = 0; b < samples; b++) {
        const float *row = logits + b * classes;
        for (int64_t k = 1; k < classes; k++) {
            if (row[k] > row[best[b]]) best[b] = k;
        }
    }
    const braid_file_tensor tensors[] = {
        {.name = "logits", .dtype = BRAID_DTYPE_F32, .rank = 2, .dims = {samples, classes}},
        {.name = "classes", .dtype = BRAID_DTYPE_I64, .rank = 1, .dims = {samples}}};
    const void *data[] = {logits, best};
    braid_status status = braid_file_write(path, tensors, data, 2);
    free(best);
    return status ? complain_braid(status) : 0;
}
