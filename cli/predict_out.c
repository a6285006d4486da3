/*
 * The file that --out of braid predict writes. It is put in the place of its name, so that it may only be one that
 * nothing is lost by: a new one outside of the run and of the set, or outputs of an earlier prediction.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "predict.h"

/* ---- Which format? -------------------------------------------------------------------------- */

static const struct {
    const char *ending;
    braid_format format;
} endings[] = {{".csv", BRAID_FORMAT_CSV}, {".json", BRAID_FORMAT_JSON}, {".md", BRAID_FORMAT_MD}};

braid_format predict_out_format(const predict_options *o) {
    for (size_t j = 0; j < sizeof endings / sizeof endings[0]; j++) {
        size_t length = strlen(endings[j].ending), all = o->out ? strlen(o->out) : 0;
        if (all > length && !strcmp(o->out + all - length, endings[j].ending)) return endings[j].format;
    }
    return BRAID_FORMAT_TABLE;
}

int predict_check_format(const predict_options *o) {
    const braid_format of_name = predict_out_format(o), typed = (braid_format)o->common.format;
    if (of_name == BRAID_FORMAT_TABLE) return 0;
    if (o->input)
        return complain(BRAID_ERROR_ARGUMENT, "--out: expected a name such as y.safetensors with --input, got %s",
                        o->out);
    if (typed == BRAID_FORMAT_TABLE || typed == of_name) return 0;
    return complain(BRAID_ERROR_ARGUMENT, "--out: expected a name that ends in .%s, as -o says, got %s",
                    typed == BRAID_FORMAT_CSV    ? "csv"
                    : typed == BRAID_FORMAT_JSON ? "json"
                                                 : "md",
                    o->out);
}

/* ---- May it be replaced? ------------------------------------------------------------------- */

/* FILE of STREAM=FILE, or the whole word. */
static int is_word(const char *out, const char *word) {
    const char *equals = strchr(word, '=');
    return path_is_same(out, word) || (equals && path_is_same(out, equals + 1));
}

/* Is it in FOLDER of STREAM=FOLDER, or of the whole word? */
static int is_in_word(const char *out, const char *word) {
    const char *equals = strchr(word, '=');
    return path_is_inside(out, word) || (equals && path_is_inside(out, equals + 1));
}

/* What is in a file: of outputs the logits [B,K] and the classes [B], with a checksum, and nothing else. */
typedef struct content {
    int logits, classes, checksums, others;
    int64_t samples[2];
} content;

static void take_text(void *user, const char *key, const char *value) {
    content *c = user;
    (void)value;
    if (strcmp(key, "braid.written") == 0) return;
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

/* Answers that were printed begin with their first column, or the first key. */
static int is_answers(const char *path) {
    char text[128];
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[bytes] = 0;
    return !strncmp(text, "sample,", 7) || !strncmp(text, "| sample ", 9) ||
           (text[0] == '[' && strstr(text, "\"sample\":"));
}

/* Is there the folder that a new file would be in? */
static int has_folder(const char *path) {
    char folder[4096];
    struct stat info;
    const char *slash = strrchr(path, '/');
    if (!*path || (slash && !slash[1])) return 0;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return stat(folder, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Why a file cannot be the one for the outputs; NULL: it can. */
static const char *find_fault(const prediction *p, const char *const *words, int count) {
    const predict_options *o = p->options;
    struct stat info;
    if (path_is_same(o->out, p->path)) return "the model that is read";
    if (o->input && path_is_same(o->out, o->input)) return "the file of --input";
    for (int j = 1; j < count; j++) {
        if (is_word(o->out, words[j])) return "a file that is read";
        if (is_in_word(o->out, words[j])) return "a place in a folder that is read";
    }
    if (path_is_inside(o->out, words[0])) return "a place in the folder of the run";
    if (path_is_inside(o->out, o->data)) return "a place in the set of --data";
    if (path_is_inside(o->out, o->like)) return "a place in the set of --like";
    if (lstat(o->out, &info) != 0) return has_folder(o->out) ? NULL : "in a folder that is not there";
    if (!S_ISREG(info.st_mode))
        return S_ISDIR(info.st_mode) ? "a folder" : S_ISLNK(info.st_mode) ? "a link" : "a pipe or a device";
    if (predict_out_format(o) == BRAID_FORMAT_TABLE ? is_outputs(o->out) : is_answers(o->out)) return NULL;
    return is_model(o->out) ? "a model file, which would be lost" : "a file without outputs, which would be lost";
}

int predict_check_out(const prediction *p, const char *const *words, int count) {
    const char *fault = p->options->out ? find_fault(p, words, count) : NULL;
    if (!fault) return 0;
    return complain(BRAID_ERROR_ARGUMENT, "--out: expected a file for the outputs, got %s, %s; take another name",
                    p->options->out[0] ? p->options->out : "\"\"", fault);
}

/* ---- Writing ------------------------------------------------------------------------------- */

int predict_save(braid_table *table, const predict_options *o) {
    const braid_print_options options = {.format = predict_out_format(o)};
    char *text = NULL;
    braid_status status = braid_table_print(table, &options, &text);
    braid_table_destroy(table);
    if (status) return complain_lab(status);
    int code = output_save(o->out, text);
    braid_text_destroy(text);
    if (!code && !o->common.quiet) fprintf(stderr, "wrote %s\n", o->out);
    return code;
}

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
