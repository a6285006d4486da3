/*
 * SUN RGB-D as its preprocessing leaves it: class_names.txt, norm_stats.json, and for each split a labels.txt and a
 * folder of images for each stream, row k of the labels belonging to file k. Images of 16 bits (depth, orth) become
 * 8 bits as the original loaders do it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/memory.h"
#include "data/data.h"
#include "data/image.h"
#include "data/lists.h"

#define MISSING 255 /* in place of an ending */

static const char *const endings[] = {"png", "jpg", "jpeg", "npy"};
enum { ENDINGS = sizeof endings / sizeof endings[0] };
static const char *const file_endings[] = {".png", ".jpg", ".jpeg", ".npy", NULL};
static const char *const first_streams[] = {"rgb", "depth", "orth"};
enum { FIRST_STREAMS = sizeof first_streams / sizeof first_streams[0] };

typedef struct set_state {
    uint8_t *ending[BRAID_SPLIT_COUNT][BRAID_MAX_STREAMS]; /* of every file */
    int bits[BRAID_MAX_STREAMS];                           /* of every file of a stream */
    int resizes;
} set_state;

static int matches(braid_data *d) {
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) {
        char *split = NULL;
        int found = files_join(d->folder, braid_split_name((braid_split)s), &split) == BRAID_OK && folder_exists(split);
        memory_free(split);
        if (found) return 1;
    }
    return 0;
}

static void forget(braid_data *d) {
    set_state *state = d->state;
    for (int s = 0; state && s < BRAID_SPLIT_COUNT; s++)
        for (int i = 0; i < BRAID_MAX_STREAMS; i++) memory_free(state->ending[s][i]);
    memory_free(state);
}

static braid_status image_path(const braid_data *d, braid_split split, int stream, int64_t file, int ending,
                               char **path) {
    char name[96];
    snprintf(name, sizeof name, "%s/%s/%05lld.%s", braid_split_name(split), d->stream_names[stream], (long long)file,
             endings[ending < ENDINGS ? ending : 0]);
    return files_join(d->folder, name, path);
}

static braid_status path(const braid_data *d, braid_split split, int64_t sample, int stream, char **out) {
    const set_state *state = d->state;
    if (d->files.count) return memory_copy_text(d->files.stream[stream].paths[sample], out);
    return image_path(d, split, stream, sample, state->ending[split][stream][sample], out);
}

/* ---- Streams ------------------------------------------------------------------------------ */

static braid_status add_stream(braid_data *d, const char *name, size_t length) {
    if (d->info.streams == BRAID_MAX_STREAMS)
        return fail(BRAID_ERROR_DATA, "%s: expected at most %d streams", d->folder, BRAID_MAX_STREAMS);
    if (length == 0 || length >= sizeof d->stream_names[0])
        return fail(BRAID_ERROR_DATA, "%s: expected the name of a stream to have 1 to 31 letters, got \"%.*s\"",
                    d->folder, (int)(length < 40 ? length : 40), name);
    if (memchr(name, '=', length) || memchr(name, ',', length))
        return fail(BRAID_ERROR_DATA, "%s: expected the name of a stream without , and =, got \"%.*s\"", d->folder,
                    (int)length, name);
    memcpy(d->stream_names[d->info.streams++], name, length);
    return BRAID_OK;
}

static braid_status chosen_streams(braid_data *d, const char *list) {
    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        TRY(add_stream(d, list, length));
    }
    return d->info.streams ? BRAID_OK : fail(BRAID_ERROR_ARGUMENT, "streams: expected names, got none");
}

/* rgb, depth and orth come first, in this order, then every other folder by name. */
static int comes_before(const char *a, const char *b) {
    int x = 0, y = 0;
    while (x < FIRST_STREAMS && strcmp(a, first_streams[x]) != 0) x++;
    while (y < FIRST_STREAMS && strcmp(b, first_streams[y]) != 0) y++;
    return x != y ? x < y : strcmp(a, b) < 0;
}

static int has_stream(const braid_data *d, const char *name) {
    for (int i = 0; i < d->info.streams; i++)
        if (!strcmp(d->stream_names[i], name)) return 1;
    return 0;
}

/* A folder of a split is a stream, in its place among those that are known. */
static braid_status add_if_folder(braid_data *d, const char *split, const char *name) {
    char *folder, moved[sizeof d->stream_names[0]];
    TRY(files_join(split, name, &folder));
    int is_new = folder_exists(folder) && !has_stream(d, name);
    memory_free(folder);
    if (!is_new) return BRAID_OK;
    TRY(add_stream(d, name, strlen(name)));
    for (int i = d->info.streams - 1; i > 0 && comes_before(d->stream_names[i], d->stream_names[i - 1]); i--) {
        memcpy(moved, d->stream_names[i], sizeof moved);
        memcpy(d->stream_names[i], d->stream_names[i - 1], sizeof moved);
        memcpy(d->stream_names[i - 1], moved, sizeof moved);
    }
    return BRAID_OK;
}

static braid_status streams_in(braid_data *d, const char *split, problems *found) {
    folder_list list;
    braid_status status = BRAID_OK;
    TRY(problems_catch(found, split, folder_read(d->root, split, &list)));
    for (int64_t i = 0; i < list.count && !status; i++) status = add_if_folder(d, split, list.names[i]);
    folder_free(&list);
    return status;
}

/* A stream of one split is one of all. A split that cannot be read is a problem of its labels where another can. */
static braid_status streams_of_set(braid_data *d, problems *found) {
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) {
        char *split;
        problems unused = {0};
        TRY(files_join(d->folder, braid_split_name((braid_split)s), &split));
        braid_status status = streams_in(d, split, d->info.streams ? &unused : found);
        memory_free(split);
        TRY(status);
    }
    if (d->info.streams) return BRAID_OK;
    return fail(BRAID_ERROR_DATA, "%s: expected folders of images such as train/rgb and train/depth, got none",
                d->folder);
}

/* "rgb, depth, orth" */
static void list_streams(const braid_data *d, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < d->info.streams && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", d->stream_names[i]);
}

/* Has any split a folder of this name? */
static braid_status find_folder(const braid_data *d, const char *name, int *there) {
    *there = 0;
    for (int s = 0; s < BRAID_SPLIT_COUNT && !*there; s++) {
        char text[64], *folder;
        snprintf(text, sizeof text, "%s/%s", braid_split_name((braid_split)s), name);
        TRY(files_join(d->folder, text, &folder));
        *there = folder_exists(folder);
        memory_free(folder);
    }
    return BRAID_OK;
}

/* Those of all streams that are not among the set's. */
static void list_unused(braid_data *d, const braid_data *all) {
    size_t used = 0;
    for (int i = 0; i < all->info.streams && used < sizeof d->unused; i++) {
        if (has_stream(d, all->stream_names[i])) continue;
        used +=
            (size_t)snprintf(d->unused + used, sizeof d->unused - used, "%s%s", used ? ", " : "", all->stream_names[i]);
    }
}

/* The first streams of all, in their order; 0: all. */
static braid_status first_streams_of_set(braid_data *d, int count, problems *found) {
    char has[512];
    TRY(streams_of_set(d, found));
    list_streams(d, has, sizeof has);
    if (count > d->info.streams)
        return fail(BRAID_ERROR_DATA, "%s: the set has %d stream%s (%s), expected %d", d->folder, d->info.streams,
                    d->info.streams == 1 ? "" : "s", has, count);
    const braid_data all = *d;
    if (count) d->info.streams = count;
    list_unused(d, &all);
    return BRAID_OK;
}

/* Of streams that were asked for by name, each must be in some split: its missing files are problems then. */
static braid_status find_streams(braid_data *d, const braid_data_options *options, problems *found) {
    char has[512], asked[512];
    braid_data all = {.folder = d->folder, .root = d->root};
    int there = 1;
    if (!options->streams) return first_streams_of_set(d, options->stream_count, found);
    TRY(chosen_streams(d, options->streams));
    for (int i = 0; i < d->info.streams && there; i++) TRY(find_folder(d, d->stream_names[i], &there));
    const fail_kept kept = fail_keep();
    braid_status status = streams_of_set(&all, &(problems){0});
    if (there && status == BRAID_ERROR_DATA) { /* of those that nobody asked for */
        fail_put_back(&kept);
        status = BRAID_OK;
    }
    TRY(status);
    list_unused(d, &all);
    if (there) return BRAID_OK;
    list_streams(&all, has, sizeof has);
    list_streams(d, asked, sizeof asked);
    return fail(BRAID_ERROR_DATA,
                "%s: the set has %d stream%s (%s), expected %d (%s); a stream is a folder of that name in each split, "
                "such as train/%s: rename the folders (and the names in norm_stats.json) to what the network expects",
                d->folder, all.info.streams, all.info.streams == 1 ? "" : "s", has, d->info.streams, asked,
                d->stream_names[d->info.streams - 1]);
}

/* ---- Files -------------------------------------------------------------------------------- */

/* The number and the ending of "00012.png"; 0 for another name. */
static int parse_name(const char *name, int64_t *file, int *ending) {
    size_t digits = strspn(name, "0123456789");
    char again[32];
    if (digits < 5 || digits > 9 || name[digits] != '.') return 0;
    *file = strtoll(name, NULL, 10);
    snprintf(again, sizeof again, "%05lld", (long long)*file);
    if (strlen(again) != digits) return 0;
    for (*ending = 0; *ending < ENDINGS; ++*ending)
        if (!strcmp(name + digits + 1, endings[*ending])) return 1;
    return 0;
}

/* An image that belongs to no sample, or to one that has an image already. */
static braid_status note_stray(const braid_data *d, braid_split split, int stream, int64_t file, int ending,
                               problems *found) {
    const set_state *state = d->state;
    char *path_text;
    TRY(image_path(d, split, stream, file, ending, &path_text));
    braid_status status =
        file < d->info.samples[split]
            ? problems_add(found, path_text, "expected one image of a sample, got one that ends in .%s, too",
                           endings[state->ending[split][stream][file]])
            : problems_add(found, path_text, "has no line in labels.txt, which has %lld",
                           (long long)d->info.samples[split]);
    memory_free(path_text);
    return status;
}

static braid_status note_files(braid_data *d, braid_split split, int stream, const folder_list *list, problems *found) {
    set_state *state = d->state;
    for (int64_t i = 0; i < list->count; i++) {
        int64_t file;
        int ending;
        if (!parse_name(list->names[i], &file, &ending)) continue;
        if (file < d->info.samples[split] && state->ending[split][stream][file] == MISSING)
            state->ending[split][stream][file] = (uint8_t)ending;
        else
            TRY(note_stray(d, split, stream, file, ending, found));
    }
    return BRAID_OK;
}

static braid_status note_missing(braid_data *d, braid_split split, int stream, problems *found) {
    const set_state *state = d->state;
    for (int64_t k = 0; k < d->info.samples[split]; k++) {
        char *path_text;
        if (state->ending[split][stream][k] != MISSING) continue;
        TRY(image_path(d, split, stream, k, 0, &path_text));
        braid_status status = problems_add(found, path_text, "missing");
        memory_free(path_text);
        TRY(status);
    }
    return BRAID_OK;
}

static braid_status list_stream(braid_data *d, braid_split split, int stream, problems *found) {
    set_state *state = d->state;
    char name[64], *folder;
    folder_list list;
    void *memory;
    TRY(memory_alloc((size_t)d->info.samples[split], 1, "the list of images", &memory));
    memset(memory, MISSING, (size_t)d->info.samples[split]);
    state->ending[split][stream] = memory;
    snprintf(name, sizeof name, "%s/%s", braid_split_name(split), d->stream_names[stream]);
    TRY(files_join(d->folder, name, &folder));
    braid_status status = problems_catch(found, folder, folder_read(d->root, folder, &list));
    memory_free(folder);
    TRY(status);
    status = note_files(d, split, stream, &list, found);
    folder_free(&list);
    TRY(status);
    return note_missing(d, split, stream, found);
}

static braid_status scan_split(braid_data *d, braid_split split, problems *found) {
    char *folder, *file = NULL, *text = NULL;
    size_t bytes;
    TRY(files_join(d->folder, braid_split_name(split), &folder));
    braid_status status = BRAID_OK;
    if (folder_exists(folder)) {
        const data_file labels = {d->root, folder, "labels.txt", LISTS_MAX_BYTES};
        status = data_read_file(&labels, &file, &text, &bytes);
        if (!status)
            status = labels_read(text, bytes, d->info.classes, file, found, &d->split[split].labels,
                                 &d->info.samples[split]);
        if (!status && d->info.samples[split] == 0) status = problems_add(found, file, "expected labels, got none");
        status = file ? problems_catch(found, file, status) : status;
    }
    memory_free(folder);
    memory_free(file);
    memory_free(text);
    d->info.files[split] = d->info.samples[split];
    for (int i = 0; i < d->info.streams && d->info.samples[split] && !status; i++)
        status = list_stream(d, split, i, found);
    return status;
}

/* ---- Classes and statistics --------------------------------------------------------------- */

static braid_status scan_classes(braid_data *d, problems *found) {
    char *file, *text;
    size_t bytes;
    const data_file names = {d->root, d->folder, "class_names.txt", LISTS_MAX_BYTES};
    braid_status status = data_read_file(&names, &file, &text, &bytes);
    if (!status) status = class_names_read(text, bytes, &d->class_names, &d->info.classes);
    status = file ? problems_catch(found, file, status) : status;
    memory_free(file);
    memory_free(text);
    return status;
}

/* Also of a link that leads nowhere. */
static int is_there(const char *path_text) {
    struct stat info;
    return lstat(path_text, &info) == 0;
}

static braid_status scan_statistics(braid_data *d, problems *found) {
    char *file, *text;
    size_t bytes;
    const fail_kept kept = fail_keep();
    for (int i = 0; i < d->info.streams; i++) d->info.stream_names[i] = d->stream_names[i];
    norm_stats_unknown(&d->info);
    const data_file statistics = {d->root, d->folder, "norm_stats.json", LISTS_MAX_STATISTICS};
    braid_status status = data_read_file(&statistics, &file, &text, &bytes);
    if (status == BRAID_ERROR_DATA && !is_there(file)) { /* the older of the two original scripts does not write it */
        fail_put_back(&kept);
        status = BRAID_OK;
    } else if (file) {
        if (status == BRAID_OK) status = norm_stats_read(text, bytes, &d->info);
        d->info.has_statistics = status == BRAID_OK;
        status = problems_catch(found, file, status);
    }
    memory_free(file);
    memory_free(text);
    return status;
}

/* ---- Images ------------------------------------------------------------------------------- */

/* Size, channels and bits must be those of the stream's first image. */
static braid_status check_image(const braid_data *d, int stream, const char *file, const image *i) {
    const set_state *state = d->state;
    const int64_t *size = d->info.size;
    if (i->channels != d->info.channels[stream] || i->bits != state->bits[stream] ||
        (!state->resizes && (i->height != size[0] || i->width != size[1])))
        return fail(
            BRAID_ERROR_DATA,
            "%s: expected %lldx%lld pixels with %lld channel(s) of %d bits as in %s, got %lldx%lld with %d of %d", file,
            (long long)size[0], (long long)size[1], (long long)d->info.channels[stream], state->bits[stream],
            d->files.count ? "training" : "the first image", (long long)i->height, (long long)i->width, i->channels,
            i->bits);
    return BRAID_OK;
}

static braid_status read_stream(const braid_data *d, const char *file, int stream, uint8_t *out) {
    image i;
    TRY(image_read(d->root, file, &i));
    braid_status status = check_image(d, stream, file, &i);
    if (!status && out)
        status = image_to_bytes(&i, d->info.size[0], d->info.size[1], (int)d->info.channels[stream], out);
    image_free(&i);
    return status;
}

static braid_status read_sample(const braid_data *d, braid_split split, int64_t sample, void *const *streams) {
    braid_status status = BRAID_OK;
    for (int s = 0; s < d->info.streams && !status; s++) {
        char *file;
        if (d->info.missing >> s & 1) {
            memset(streams[s], 0, data_sample_bytes(d, s));
            continue;
        }
        TRY(path(d, split, sample, s, &file));
        status = read_stream(d, file, s, streams[s]);
        memory_free(file);
    }
    return status;
}

/* The first image of a stream that can be read says what all of them must be. */
static braid_status learn_from(braid_data *d, braid_split split, int stream, int *known) {
    set_state *state = d->state;
    for (int64_t k = 0; k < d->info.samples[split] && !*known; k++) {
        char *file;
        image i;
        if (state->ending[split][stream][k] == MISSING) continue;
        TRY(path(d, split, k, stream, &file));
        braid_status status = image_read(d->root, file, &i);
        memory_free(file);
        if (status == BRAID_ERROR_DATA) continue; /* noted by the check, and by whoever reads it */
        TRY(status);
        d->info.channels[stream] = i.channels;
        state->bits[stream] = i.bits;
        if (!d->info.size[0]) {
            d->info.size[0] = i.height;
            d->info.size[1] = i.width;
        }
        image_free(&i);
        *known = 1;
    }
    return BRAID_OK;
}

/* Of a stream without any image that can be read, the first that is there is the problem, before whatever follows from
 * it. A check lists them all. */
static braid_status blame_first(const braid_data *d, int stream, problems *found) {
    const set_state *state = d->state;
    for (int s = 0; s < BRAID_SPLIT_COUNT && !found->table; s++)
        for (int64_t k = 0; k < d->info.samples[s]; k++) {
            char *file;
            image i;
            if (state->ending[s][stream][k] == MISSING) continue;
            TRY(path(d, (braid_split)s, k, stream, &file));
            braid_status status = problems_catch(found, file, image_read(d->root, file, &i));
            image_free(&i);
            memory_free(file);
            return status;
        }
    return BRAID_OK;
}

static braid_status learn_streams(braid_data *d, problems *found) {
    for (int i = 0; i < d->info.streams; i++) {
        int known = 0;
        d->info.channels[i] = 1;
        for (int s = 0; s < BRAID_SPLIT_COUNT && !known; s++) TRY(learn_from(d, (braid_split)s, i, &known));
        if (!known) TRY(blame_first(d, i, found));
    }
    return BRAID_OK;
}

/* ---- The set ------------------------------------------------------------------------------ */

static braid_status scan(braid_data *d, const braid_data_options *options, problems *found) {
    TRY(memory_calloc(1, sizeof(set_state), "a data set", &d->state));
    set_state *state = d->state;
    d->info.dtype = BRAID_DTYPE_U8;
    state->resizes = options->size[0] || options->size[1];
    if (state->resizes && image_check_size("size", options->size[0], options->size[1]))
        return fail(BRAID_ERROR_ARGUMENT, "%s", fail_message());
    memcpy(d->info.size, options->size, sizeof d->info.size);
    TRY(scan_classes(d, found));
    TRY(find_streams(d, options, found));
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) TRY(scan_split(d, (braid_split)s, found));
    TRY(learn_streams(d, found));
    return scan_statistics(d, found);
}

static braid_status check_file(const braid_data *d, braid_split split, int stream, int64_t k, problems *found,
                               check_progress *progress) {
    const set_state *state = d->state;
    char *file;
    if (state->ending[split][stream][k] == MISSING) return BRAID_OK;
    TRY(path(d, split, k, stream, &file));
    braid_status status = check_step(progress, file);
    if (!status) status = problems_catch(found, file, read_stream(d, file, stream, NULL));
    memory_free(file);
    return status;
}

static braid_status check(const braid_data *d, problems *found, check_progress *progress) {
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) progress->total += d->info.samples[s] * d->info.streams;
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++)
        for (int64_t k = 0; k < d->info.samples[s]; k++)
            for (int i = 0; i < d->info.streams; i++) TRY(check_file(d, (braid_split)s, i, k, found, progress));
    return BRAID_OK;
}

/* ---- Files --------------------------------------------------------------------------------- */

static void describe(const braid_data *d, json_t *card) {
    const set_state *state = d->state;
    json_object_set_new(card, "resize", json_boolean(state->resizes));
    for (int i = 0; i < d->info.streams; i++)
        json_object_set_new(json_array_get(json_object_get(card, "streams"), (size_t)i), "bits",
                            json_integer(state->bits[i]));
}

static braid_status take_files(braid_data *d, const json_t *card, int resize) {
    TRY(memory_calloc(1, sizeof(set_state), "a data set", &d->state));
    set_state *state = d->state;
    state->resizes = resize || json_is_true(json_object_get(card, "resize"));
    for (int i = 0; i < d->info.streams; i++) {
        int64_t bits;
        TRY(json_get_integer(json_array_get(json_object_get(card, "streams"), (size_t)i), "bits", &bits));
        state->bits[i] = bits == 16 ? 16 : 8;
    }
    return data_unlabelled(d, d->files.count);
}

const data_kind data_sunrgbd = {.name = "sunrgbd",
                                .endings = file_endings,
                                .matches = matches,
                                .scan = scan,
                                .read = read_sample,
                                .path = path,
                                .check = check,
                                .forget = forget,
                                .describe = describe,
                                .take_files = take_files};
