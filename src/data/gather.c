/*
 * From words to lists of files. A word is looked at once: is there a stream in front of it, and is it a folder?
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/gather.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/memory.h"

void gathered_free(gathered *files, int streams) {
    for (int i = 0; i < streams; i++) {
        for (int64_t k = 0; k < files->stream[i].count; k++) memory_free(files->stream[i].paths[k]);
        memory_free(files->stream[i].paths);
        memory_free(files->stream[i].from_folder);
    }
    *files = (gathered){0};
}

static braid_status add_file(braid_data *d, int stream, const char *path, int from_folder) {
    path_list *list = &d->files.stream[stream];
    size_t used = (size_t)list->count;
    TRY(memory_grow((void **)&list->paths, used, &list->path_room, sizeof *list->paths, "the names of files"));
    TRY(memory_grow((void **)&list->from_folder, used, &list->flag_room, 1, "the names of files"));
    TRY(memory_copy_text(path, &list->paths[used]));
    list->from_folder[used] = (unsigned char)from_folder;
    list->count++;
    return BRAID_OK;
}

static int has_ending(const char *name, const char *const *endings) {
    size_t length = strlen(name);
    for (; *endings; endings++) {
        size_t end = strlen(*endings);
        if (length > end && !strcasecmp(name + length - end, *endings)) return 1;
    }
    return 0;
}

static braid_status add_folder(braid_data *d, int stream, const char *folder) {
    folder_list list;
    int64_t before = d->files.stream[stream].count;
    TRY(folder_read(NULL, folder, &list));
    braid_status status = BRAID_OK;
    for (int64_t i = 0; i < list.count && !status; i++) {
        char *path = NULL;
        if (!has_ending(list.names[i], d->kind->endings)) continue;
        status = files_join(folder, list.names[i], &path);
        if (!status) status = add_file(d, stream, path, 1);
        memory_free(path);
    }
    folder_free(&list);
    if (!status && d->files.stream[stream].count == before)
        status = fail(BRAID_ERROR_DATA, "%s: expected files that end in %s, got none", folder, d->kind->endings[0]);
    return status;
}

static braid_status add_path(braid_data *d, int stream, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return fail(BRAID_ERROR_DATA, "%s: there is no such file", path);
    return S_ISDIR(info.st_mode) ? add_folder(d, stream, path) : add_file(d, stream, path, 0);
}

/* "rgb, depth, orth" */
static void list_streams(const braid_data *d, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < d->info.streams && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", d->stream_names[i]);
}

/* A folder with a folder for each stream. */
static braid_status add_streams(braid_data *d, const char *folder) {
    char names[512];
    int found = 0;
    for (int i = 0; i < d->info.streams; i++) {
        char *path;
        TRY(files_join(folder, d->stream_names[i], &path));
        braid_status status = folder_exists(path) ? add_folder(d, i, path) : BRAID_OK;
        found |= folder_exists(path);
        memory_free(path);
        TRY(status);
    }
    if (found) return BRAID_OK;
    list_streams(d, names, sizeof names);
    return fail(BRAID_ERROR_DATA, "%s: expected a folder for a stream (%s), got none", folder, names);
}

/* The stream in front of a word, and where its path begins; -1: there is none. */
static int stream_of(const braid_data *d, const char *word, const char **path) {
    for (int i = 0; i < d->info.streams; i++) {
        size_t length = strlen(d->stream_names[i]);
        if (strncmp(word, d->stream_names[i], length) != 0 || word[length] != '=') continue;
        *path = word + length + 1;
        return i;
    }
    *path = word;
    return -1;
}

/* Is it a folder with one for the first stream? */
static int has_streams(const braid_data *d, const char *folder) {
    char *path;
    if (files_join(folder, d->stream_names[0], &path) != BRAID_OK) return 0;
    int there = folder_exists(path);
    memory_free(path);
    return there;
}

static braid_status add_word(braid_data *d, const char *word) {
    const char *path;
    char names[512];
    int stream = stream_of(d, word, &path);
    if (stream >= 0) return add_path(d, stream, path);
    if (d->info.streams == 1 && !has_streams(d, path)) return add_path(d, 0, path);
    if (folder_exists(path)) return add_streams(d, path);
    list_streams(d, names, sizeof names);
    return fail(BRAID_ERROR_DATA,
                "%s: expected STREAM=FILE, the stream being one of %s, or a folder with a folder for each of them",
                word, names);
}

/* The name without its folder and its ending. */
static const char *stem(const char *path, size_t *length) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *dot = strrchr(name, '.');
    *length = dot ? (size_t)(dot - name) : strlen(name);
    return name;
}

static braid_status check_pair(const braid_data *d, int known, int stream, int64_t k) {
    const path_list *first = &d->files.stream[known], *list = &d->files.stream[stream];
    size_t a, b;
    const char *x = stem(first->paths[k], &a), *y = stem(list->paths[k], &b);
    if (!first->from_folder[k] || !list->from_folder[k] || (a == b && !memcmp(x, y, a))) return BRAID_OK;
    return fail(BRAID_ERROR_DATA, "%s: expected the file of %s that belongs to %s, with the same name", list->paths[k],
                d->stream_names[stream], first->paths[k]);
}

braid_status gather_files(braid_data *d, const char *const *words, int count) {
    int first = 0;
    for (int w = 0; w < count; w++) TRY(add_word(d, words[w]));
    while (d->files.stream[first].count == 0) first++; /* a word that adds no file is a failure */
    for (int i = 0; i < d->info.streams; i++) {
        int64_t files = d->files.stream[i].count, expected = d->files.stream[first].count;
        for (int64_t k = 0; k < files && k < expected; k++) TRY(check_pair(d, first, i, k));
        if (files == 0)
            d->info.missing |= 1u << i;
        else if (files != expected)
            return fail(BRAID_ERROR_DATA, "stream %s: expected as many files as %s has, %lld, got %lld",
                        d->stream_names[i], d->stream_names[first], (long long)expected, (long long)files);
    }
    d->files.count = d->files.stream[first].count;
    return BRAID_OK;
}
