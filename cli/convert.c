/*
 * braid convert: weight files from one format into another, and what a safetensors file holds.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"

typedef struct convert_options {
    common_options common;
    int list;
} convert_options;

#define OFFSET(member) offsetof(convert_options, member)
static const option convert_option_list[] = {
    {"list", 0, OPTION_FLAG, NULL, NULL, "print what a safetensors file holds, and verify it", OFFSET(list)}, {0}};

static const braid_column tensor_columns[] = {
    {.key = "name", .title = "name", .keep_end = 1},
    {.key = "dtype", .title = "dtype"},
    {.key = "shape", .title = "shape"},
    {.key = "bytes", .title = "bytes", .cell = BRAID_CELL_BYTES},
};
#define TENSOR_COLUMNS ((int)(sizeof tensor_columns / sizeof tensor_columns[0]))

typedef struct listing {
    braid_report *report;
    braid_table *table;
    int is_json;
    double bytes;
    braid_status status; /* the first failure of the report */
} listing;

/* For people, a text is cut, and its control characters must not steer the terminal. */
static void note_text(void *user, const char *key, const char *value) {
    listing *l = user;
    char name[1200], shown[128]; /* a key has at most 1023 bytes */
    if (l->status || !strcmp(key, "braid.checksum") || !strcmp(key, "braid.written")) return;
    snprintf(name, sizeof name, "metadata.%s", key);
    size_t length = (size_t)snprintf(shown, sizeof shown, "%.100s%s", value, strlen(value) > 100 ? "..." : "");
    for (size_t i = 0; i < length; i++)
        if (!isprint((unsigned char)shown[i])) shown[i] = '?';
    l->status = braid_report_add_text(l->report, name, name, l->is_json ? value : shown);
}

static void note_tensor(void *user, const braid_file_tensor *tensor) {
    listing *l = user;
    char shape[32 * BRAID_FILE_MAX_RANK] = "scalar";
    size_t used = 0;
    for (int axis = 0; axis < tensor->rank; axis++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%" PRId64, axis ? "x" : "", tensor->dims[axis]);
    if (!l->status) l->status = braid_table_add_text(l->table, tensor->name);
    if (!l->status) l->status = braid_table_add_text(l->table, braid_dtype_name(tensor->dtype));
    if (!l->status) l->status = braid_table_add_text(l->table, shape);
    if (!l->status) l->status = braid_table_add_number(l->table, (double)tensor->bytes);
    l->bytes += (double)tensor->bytes;
}

static braid_status finish_report(listing *l, int verified) {
    braid_table *table = l->table;
    l->table = NULL;
    braid_status status = braid_report_add_text(l->report, "checksums", "checksums",
                                                verified ? "verified" : "none: the file was not written by braid");
    if (!status) status = braid_report_add_number(l->report, "tensor_count", "tensors", braid_table_rows(table));
    if (!status) status = braid_report_add_number(l->report, "bytes", "bytes", l->bytes);
    if (!status) return braid_report_add_table(l->report, "tensors", NULL, table);
    braid_table_destroy(table);
    return status;
}

static int list(const char *path, braid_format format) {
    listing l = {.is_json = format == BRAID_FORMAT_JSON};
    int verified = 0;
    l.status = braid_report_create(&l.report);
    if (!l.status) l.status = braid_report_add_text(l.report, "file", "file", path);
    if (!l.status) l.status = braid_table_create(tensor_columns, TENSOR_COLUMNS, &l.table);
    braid_status status = l.status ? BRAID_OK : braid_file_describe(path, note_text, note_tensor, &l, &verified);
    if (!status && !l.status) l.status = finish_report(&l, verified);
    if (!status && !l.status) return output_report(l.report, format);
    int code = status ? complain_braid(status) : complain_lab(l.status);
    braid_table_destroy(l.table);
    braid_report_destroy(l.report);
    return code;
}

static int run(const verb *self, int argc, char **argv) {
    convert_options options = {0};
    arguments words;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (options.list) {
        if (words.count != 1)
            return complain(BRAID_ERROR_ARGUMENT, "--list: expected one FILE, got \"%s\" after it", words.word[1]);
        return list(words.word[0], (braid_format)options.common.format);
    }
    if (words.count != 2)
        return complain(BRAID_ERROR_ARGUMENT, "expected FROM TO, got only \"%s\"; --list prints what a file holds",
                        words.word[0]);
    braid_status status = braid_convert(words.word[0], words.word[1]);
    return status ? complain_braid(status) : 0;
}

const verb verb_convert = {
    .name = "convert",
    .group = "Data and networks",
    .arguments = "FROM TO | --list FILE",
    .summary = "weight files from one format into another",
    .about = "Turns weights-86.bin, the weights of lenet86, into safetensors, or back: the name of TO ends in\n"
             ".safetensors or in .bin. Every count, name, dtype and shape must be the network's. TO is replaced\n"
             "whole or not at all. --list prints the metadata and the tensors of any safetensors file, reads all\n"
             "of it, and verifies its checksums where it has them. Exit 4 where a file is missing, damaged or\n"
             "of another network.",
    .options = convert_option_list,
    .examples = "braid convert weights-86.bin lenet86.safetensors\n"
                "braid convert lenet86.safetensors weights-86.bin\n"
                "braid convert --list lenet86.safetensors -o csv\n",
    .common = COMMON_FORMAT,
    .least = 1,
    .most = 2,
    .run = run,
};
