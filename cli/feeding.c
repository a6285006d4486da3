/*
 * From a data set to the batches of a trainer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train.h"

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    feeding *f = user;
    braid_status status = braid_loader_start(f->loaders[part], epoch, first_batch);
    f->failed |= status != BRAID_OK;
    f->next_batch[part] = first_batch;
    return status;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    feeding *f = user;
    braid_batch read;
    braid_status status = braid_loader_next(f->loaders[part], &read);
    if (status && interrupted()) {
        *batch = (braid_train_batch){.stop = 1};
        return BRAID_OK;
    }
    f->failed |= status != BRAID_OK;
    if (status) return status;
    *batch = (braid_train_batch){.count = read.count, .labels = read.labels, .ids = read.ids, .files = read.files};
    memcpy(batch->streams, read.streams, sizeof read.streams);
    if (read.count == 0) return BRAID_OK;
    batch->left_out = read.index - f->next_batch[part];
    f->next_batch[part] = read.index + 1;
    return BRAID_OK;
}

/* ---- Bad samples --------------------------------------------------------------------------- */

#define MOST_BAD 1000 /* one in so many may be left out */
#define MOST_LINE 512 /* bytes of a line of the ledger that are looked at at once */

/* The ledger, to add to; a pipe or a device in its place must not hold us up, and is refused, and so is a link, which
 * may lead out of the run. NULL with errno. */
static FILE *open_ledger(const char *path) {
    struct stat info;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    if (fd < 0) return NULL;
    int is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = is_file ? fdopen(fd, "a") : NULL;
    if (file) return file;
    int error = is_file ? errno : EINVAL;
    close(fd);
    errno = error;
    return NULL;
}

/* One line of the ledger: split, sample and reason, with tabs between them. 0 with errno: it is not written. */
static int write_ledger(const feeding *f, const braid_bad_sample *bad) {
    int is_ours = braid_trainer_has_folder(f->trainer);
    if (!is_ours) errno = ESTALE;
    FILE *file = is_ours ? open_ledger(f->ledger) : NULL;
    if (!file) return 0;
    int written = fprintf(file, "%s\t%lld\t", braid_split_name(bad->split), (long long)bad->sample) > 0;
    for (const char *c = bad->why; *c && written; c++) written = fputc((unsigned char)*c < ' ' ? '?' : *c, file) != EOF;
    if (written) written = fputc('\n', file) != EOF;
    return fclose(file) == 0 && written;
}

/* Counts a bad sample. Returns 0 for one that is counted already. */
static int count_bad(feeding *f, braid_split split, int64_t sample) {
    if (!f->known_bad[split] || sample < 0 || sample >= f->info->samples[split]) return 0;
    int is_new = !f->known_bad[split][sample];
    f->known_bad[split][sample] = 1;
    f->bad_count[split] += is_new;
    return is_new;
}

/* A line that is none of the ledger's counts for nothing. */
static void read_line(feeding *f, const char *line) {
    for (int split = 0; split < BRAID_SPLIT_COUNT; split++) {
        const char *name = braid_split_name((braid_split)split);
        size_t length = strlen(name);
        char *end;
        if (strncmp(line, name, length) != 0 || line[length] != '\t') continue;
        long long sample = strtoll(line + length + 1, &end, 10);
        if (end != line + length + 1 && *end == '\t') count_bad(f, (braid_split)split, sample);
    }
}

void feeding_resume_ledger(feeding *f, const braid_trainer *trainer) {
    struct stat info;
    char line[MOST_LINE];
    int is_start = 1;
    f->trainer = trainer;
    if (!f->ledger || lstat(f->ledger, &info) != 0 || !S_ISREG(info.st_mode)) return;
    FILE *file = fopen(f->ledger, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (is_start) read_line(f, line);
        is_start = strchr(line, '\n') != NULL;
    }
    if (file) fclose(file);
}

void feeding_begin_ledger(feeding *f, const braid_trainer *trainer) {
    struct stat info;
    f->trainer = trainer;
    if (f->ledger && braid_trainer_has_folder(trainer) && lstat(f->ledger, &info) == 0 && S_ISREG(info.st_mode))
        (void)unlink(f->ledger);
}

/* A ledger that cannot be written costs no run: it is said once. */
static int on_bad_sample(void *user, const braid_bad_sample *bad) {
    feeding *f = user;
    int is_new = count_bad(f, bad->split, bad->sample);
    f->last_bad = *bad;
    f->last_bad.count = f->bad_count[bad->split];
    errno = 0;
    if (is_new && !f->ledger_failed && !write_ledger(f, bad)) {
        f->ledger_failed = 1;
        complain(0, "%s: could not write, bad samples are not listed: %s", f->ledger,
                 errno == EINVAL   ? "expected a file, got a folder or a device"
                 : errno == ELOOP  ? "expected a file, got a symbolic link; remove it"
                 : errno == ESTALE ? "the folder of the run was moved or removed"
                                   : strerror(errno ? errno : EIO));
    }
    if (f->last_bad.count > bad->samples / MOST_BAD) return 1;
    complain(0, "left out sample %lld of %s: %s", (long long)bad->sample, braid_split_name(bad->split), bad->why);
    return 0;
}

/* The numbers of "expected 32x32 pixels with 3 channel(s) of 8 bits ..., got 48x40 with 3 of 8". */
static int is_other_size(const char *message, long long size[2]) {
    const char *expected = strstr(message, "expected "), *got = strstr(message, ", got ");
    long long other[2];
    int channels, bits, other_channels, other_bits;
    if (!expected || !got) return 0;
    if (sscanf(expected, "expected %lldx%lld pixels with %d channel(s) of %d", &size[0], &size[1], &channels, &bits) !=
            4 ||
        sscanf(got, ", got %lldx%lld with %d of %d", &other[0], &other[1], &other_channels, &other_bits) != 4)
        return 0;
    return channels == other_channels && bits == other_bits && (size[0] != other[0] || size[1] != other[1]);
}

int feeding_complain_lab(braid_status status, int is_set) {
    long long size[2];
    if (!is_other_size(braid_lab_message(), size)) return complain_lab(status);
    return complain((int)status, "%s; %s %lldx%lld", braid_lab_message(),
                    is_set ? "to resize all images add --size" : "add --resize, which brings images to", size[0],
                    size[1]);
}

int feeding_complain(const feeding *f, braid_status status) {
    const braid_bad_sample *bad = &f->last_bad;
    if (!f->ledger || bad->count <= bad->samples / MOST_BAD) return feeding_complain_lab(status, 1);
    return complain((int)status,
                    "%s; that is sample %lld of the %lld of %s that cannot be read, and at most one in %d is "
                    "left out: %s lists them",
                    braid_lab_message(), (long long)bad->count, (long long)bad->samples, braid_split_name(bad->split),
                    MOST_BAD, f->ledger);
}

/* ---- Sets ---------------------------------------------------------------------------------- */

/* 1: of a linet or an mcresnet, whose streams are called as those of a set. */
static int names_streams(const braid_net *net) {
    const char *kind = strstr(braid_net_describe(net), "\"kind\":\"");
    return kind && network_takes_set(kind + strlen("\"kind\":\""));
}

int feeding_takes_floats(const braid_net *net) { return names_streams(net); }

void feeding_streams(const braid_net *net, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    if (!net || !names_streams(net)) return;
    for (int i = 0; i < braid_net_stream_count(net) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", braid_net_stream(net, i, NULL));
}

/* What a model is judged by: validation, or the test where there is none, or where it is of normal sounds alone. */
static braid_split usual_split(const braid_data_info *info) {
    int use_test = info->kind == BRAID_DATA_MIMII || info->samples[BRAID_SPLIT_VAL] == 0;
    return use_test ? BRAID_SPLIT_TEST : BRAID_SPLIT_VAL;
}

int complain_streams(const char *asked) {
    const char *list = strchr(braid_lab_message(), '('), *nearest = NULL;
    char has[512], name[BRAID_STREAM_NAME + 1];
    snprintf(has, sizeof has, "%.*s", list ? (int)strcspn(list + 1, ")") : 0, list ? list + 1 : "");
    for (const char *c = asked; *c && !nearest; c += strcspn(c, ","), c += *c == ',') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(c, ","), c);
        nearest = nearest_word(name, has, ", ");
        if (nearest && !strcmp(nearest, name)) nearest = NULL;
    }
    return complain(BRAID_ERROR_ARGUMENT, "--streams %s: %s%s%s%s", asked, braid_lab_message(),
                    nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* A set without statistics of its own gets those of its training samples: never those of another set. */
static int measure(feeding *f, const feeding_options *options) {
    if (options->card || f->info->has_statistics) return 0;
    complain(0, "%s: has no statistics of its own: measuring mean and deviation of its training samples",
             f->info->folder);
    braid_status status = braid_data_measure(f->data);
    return status ? complain_lab(status) : 0;
}

int feeding_open(feeding *f, const feeding_options *options) {
    const braid_data_options wanted = {.streams = options->streams && options->streams[0] ? options->streams : NULL,
                                       .stream_count = options->stream_count,
                                       .size = {options->size[0], options->size[1]},
                                       .card = options->card,
                                       .fit = options->fit,
                                       .bytes = options->bytes,
                                       .limits = limits_of(options->max_pixels)};
    *f = (feeding){.ledger = options->ledger};
    f->data = options->data;
    int code = options_readers(options->readers);
    if (code) return code;
    braid_status status = f->data ? BRAID_OK : braid_data_open(options->folder, &wanted, &f->data);
    if (status == BRAID_ERROR_DATA && options->asked && strstr(braid_lab_message(), ": the set has "))
        return complain_streams(options->asked);
    if (status) return interrupted() ? EXIT_INTERRUPTED : complain_lab(status);
    f->info = braid_data_describe(f->data);
    if (options->fit && f->info->kind != BRAID_DATA_IMPORTED)
        return complain(BRAID_ERROR_ARGUMENT,
                        "--fit: expected an imported set, got one like %s; braid data import %s "
                        "--out SET makes one",
                        braid_data_kind_name(f->info->kind), f->info->folder);
    if (options->size[0] && f->info->kind != BRAID_DATA_SUNRGBD && f->info->kind != BRAID_DATA_IMPORTED)
        return complain(BRAID_ERROR_ARGUMENT, "--size: expected none for a set like %s, whose samples have one size",
                        braid_data_kind_name(f->info->kind));
    code = measure(f, options);
    if (code) return code;
    if (!options->data && f->info->unused[0])
        complain(0, "%s: not used by this network: the stream%s %s", f->info->folder,
                 strchr(f->info->unused, ',') ? "s" : "", f->info->unused);
    f->validate = options->validate < BRAID_SPLIT_COUNT ? options->validate : usual_split(f->info);
    const braid_split splits[] = {BRAID_SPLIT_TRAIN, f->validate};
    for (int part = 0; part < BRAID_PART_COUNT; part++) {
        const braid_loader_options o = {.split = splits[part],
                                        .batch = options->batch,
                                        .seed = options->seed,
                                        .in_order = part == BRAID_PART_VALIDATE,
                                        .stratified = part == BRAID_PART_TRAIN && options->stratified,
                                        .threads = options->readers,
                                        .bad_sample = options->ledger ? on_bad_sample : NULL,
                                        .user = f};
        if (f->info->samples[splits[part]] == 0) continue;
        if (options->ledger && !f->known_bad[splits[part]])
            f->known_bad[splits[part]] = calloc((size_t)f->info->samples[splits[part]], 1);
        if (options->ledger && !f->known_bad[splits[part]])
            return complain(BRAID_ERROR_MEMORY, "no memory for a list of bad samples");
        status = braid_loader_create(f->data, &o, &f->loaders[part]);
        if (status) return complain_lab(status);
        f->batches[part] = braid_loader_batches(f->loaders[part]);
    }
    int64_t rest = f->batches[BRAID_PART_TRAIN] > 1 ? f->info->samples[BRAID_SPLIT_TRAIN] % options->batch : 0;
    if (rest == 1) f->batches[BRAID_PART_TRAIN]--; /* the trainer leaves that one out */
    return 0;
}

void feeding_close(feeding *f) {
    for (int part = 0; part < BRAID_PART_COUNT; part++) braid_loader_destroy(f->loaders[part]);
    for (int split = 0; split < BRAID_SPLIT_COUNT; split++) free(f->known_bad[split]);
    braid_data_destroy(f->data);
    *f = (feeding){0};
}

void feeding_describe(feeding *f, braid_train_options *options) {
    options->source = (braid_train_source){start, next, f};
    options->input = f->info->dtype;
    options->samples = f->info->samples[BRAID_SPLIT_TRAIN];
    for (int part = 0; part < BRAID_PART_COUNT; part++) options->source_bytes += braid_loader_bytes(f->loaders[part]);
    for (int axis = 0; axis < 2 && f->info->kind != BRAID_DATA_MIMII; axis++)
        options->step.size[axis] = f->info->size[axis];
    for (int i = 0; i < f->info->streams; i++) {
        for (int c = 0; c < BRAID_STATISTICS && c < BRAID_DATA_CHANNELS; c++) {
            options->mean[i][c] = f->info->mean[i][c];
            options->std[i][c] = f->info->std[i][c];
        }
    }
}

int64_t feeding_row(const feeding *f, int stream) {
    return f->info->size[0] * f->info->size[1] * f->info->channels[stream];
}

int feeding_check(const feeding *f, const braid_net *net) {
    static const char *const fitting[] = {"linet18 or mcresnet18", "lenet86 or linet18", "ssae",
                                          "linet18 or mcresnet18"};
    int streams = braid_net_stream_count(net);
    char kind[64];
    network_kind(net, kind, sizeof kind);
    if (streams != f->info->streams)
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected %d stream%s for %s, got %d; a set like %s is for %s",
                        f->info->folder, streams, streams == 1 ? "" : "s", kind, f->info->streams,
                        braid_data_kind_name(f->info->kind), fitting[f->info->kind]);
    for (int i = 0; i < streams; i++) {
        int64_t channels = 0;
        const char *name = braid_net_stream(net, i, &channels);
        int takes_rows = !names_streams(net) && !strcmp(name, "features");
        int64_t has = takes_rows ? feeding_row(f, i) : f->info->channels[i];
        if (channels == has) continue;
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected %lld %s in stream %s, got %lld", f->info->folder,
                        (long long)channels, takes_rows ? "numbers" : "channels", name, (long long)has);
    }
    return 0;
}

double feeding_waited(const feeding *f) {
    double waited = 0;
    for (int part = 0; part < BRAID_PART_COUNT; part++) {
        if (f->loaders[part]) waited += braid_loader_measure(f->loaders[part]).waited_s;
    }
    return waited;
}
