/*
 * Folders into files with roles. Nothing but names is looked at. Of the folders between the one that is named and a
 * file one may be a split, one a stream, and the first of the others is the class; what is left is part of the name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/within.h"
#include "data/import.h"

#define MOST_DEPTH 12
#define KNOWN                                                                                               \
    "rgb color colour depth orth ir nir swir lwir thermal infrared lidar radar hha normals disparity flow " \
    "event events gray grey image images left right polar uv sonar sar optical intensity height depth_bfx "

typedef struct found {
    char *path; /* below the folder */
    const char *part[IMPORT_MOST_PARTS];
    int parts, split;
    const char *stem;
} found;

typedef struct walk {
    import *a;
    const char *folder;
    found *files;
    int64_t count;
    size_t room;
    struct {
        dev_t device;
        ino_t inode;
    } above[MOST_DEPTH];               /* folders on the way down */
    char names[BRAID_MAX_STREAMS][32]; /* of streams */
    int name_count;
    unsigned levels; /* of folders where a name of --streams was found: bit k is level k */
    int asked;       /* 1: --streams names streams that are in this folder, or this folder has others */
} walk;

/* ---- Walking ------------------------------------------------------------------------------ */

static braid_status add_found(walk *w, const char *below) {
    TRY(memory_grow((void **)&w->files, (size_t)w->count, &w->room, sizeof *w->files, "the files of a folder"));
    found *f = &w->files[w->count];
    *f = (found){.split = IMPORT_NO_SPLIT};
    TRY(memory_copy_text(below, &f->path));
    w->count++;
    return BRAID_OK;
}

static braid_status look_at(walk *w, const char *full, const char *below) {
    const char *tool = import_tool_for(below);
    if (!manifest_can_hold(below)) return import_note(w->a, full, "has a control character in its name: rename it");
    if (import_is_image(below)) return add_found(w, below);
    return tool ? import_note(w->a, full, "is of a format that is not read; %s makes one that is", tool) : BRAID_OK;
}

static braid_status walk_folder(walk *w, const char *folder, const char *below, int depth);

static braid_status walk_entry(walk *w, const char *folder, const char *below, const char *name, int depth) {
    char *full = NULL, *part = NULL;
    struct stat info;
    TRY(files_join(folder, name, &full));
    braid_status status = *below ? files_join(below, name, &part) : memory_copy_text(name, &part);
    if (status) {
    } else if (stat(full, &info) != 0) {
        status = import_note(w->a, full, "a link that leads nowhere");
    } else if (S_ISDIR(info.st_mode)) {
        int again = depth == MOST_DEPTH;
        for (int j = 0; j < depth && !again; j++)
            again = w->above[j].device == info.st_dev && w->above[j].inode == info.st_ino;
        w->above[depth < MOST_DEPTH ? depth : 0].device = info.st_dev;
        w->above[depth < MOST_DEPTH ? depth : 0].inode = info.st_ino;
        status = again ? import_note(w->a, full, "a folder within itself, or too deep")
                       : walk_folder(w, full, part, depth + 1);
    } else if (S_ISREG(info.st_mode)) {
        status = look_at(w, full, part);
    }
    memory_free(full);
    memory_free(part);
    return status;
}

/* The folder of the set itself may lie among the images. */
static braid_status find_out(const walk *w, const char *folder, int *is_out) {
    char *real;
    *is_out = 0;
    if (!w->a->out || !strcmp(folder, w->folder)) return BRAID_OK;
    TRY(within_root(folder, &real));
    *is_out = !strcmp(real, w->a->out);
    memory_free(real);
    return BRAID_OK;
}

static braid_status walk_folder(walk *w, const char *folder, const char *below, int depth) {
    folder_list list;
    braid_status status = BRAID_OK;
    int is_out;
    TRY(find_out(w, folder, &is_out));
    if (is_out) return BRAID_OK;
    TRY(folder_read(NULL, folder, &list));
    for (int64_t i = 0; i < list.count && !status; i++) status = walk_entry(w, folder, below, list.names[i], depth);
    folder_free(&list);
    return status;
}

/* ---- Names -------------------------------------------------------------------------------- */

static int same_word(const char *a, size_t length, const char *b) {
    return strlen(b) == length && !strncasecmp(a, b, length);
}

static int is_known(const char *name, size_t length) {
    for (const char *word = KNOWN; *word; word += strcspn(word, " ") + 1)
        if (strcspn(word, " ") == length && !strncasecmp(word, name, length)) return 1;
    return 0;
}

static int name_index(const walk *w, const char *name, size_t length) {
    for (int i = 0; i < w->name_count; i++)
        if (same_word(name, length, w->names[i])) return i;
    return -1;
}

/* The folders of a path, its split apart, and the name without ending. */
static braid_status take_apart(walk *w, found *f) {
    const char *text, *stem;
    TRY(import_keep(w->a, f->path, &text));
    TRY(import_keep(w->a, strrchr(text, '/') ? strrchr(text, '/') + 1 : text, &stem));
    *strrchr((char *)stem, '.') = 0;
    f->stem = stem;
    for (char *part = (char *)text, *slash; (slash = strchr(part, '/')); part = slash + 1) {
        *slash = 0;
        const int split = import_split_of(part);
        if (split != IMPORT_NO_SPLIT && f->split == IMPORT_NO_SPLIT)
            f->split = split;
        else if (f->parts == IMPORT_MOST_PARTS)
            return fail(BRAID_ERROR_DATA, "%s/%s: expected at most %d folders above a file", w->folder, f->path,
                        IMPORT_MOST_PARTS);
        else
            f->part[f->parts++] = part;
    }
    return BRAID_OK;
}

/* A word in front of the stem or behind it, with _, - or . between: where it is, and what is left of the stem. */
typedef struct affix {
    const char *word, *rest;
    size_t word_length, rest_length;
} affix;

static int find_affix(const char *stem, int behind, affix *out) {
    const size_t length = strlen(stem), word = strcspn(stem, "_-.");
    if (!behind) {
        *out = (affix){stem, stem + word + 1, word, length - word - 1};
        return word > 0 && word + 1 < length;
    }
    size_t at = length;
    while (at > 0 && !strchr("_-.", stem[at - 1])) at--;
    *out = (affix){stem + at, stem, length - at, at ? at - 1 : 0};
    return at > 1 && at < length;
}

/* The stem without the name of a stream, whichever; *stream: of the set's, -1 where there is none. */
static void strip(const walk *w, const char *stem, const char **rest, size_t *length, int *stream) {
    *rest = stem;
    *length = strlen(stem);
    *stream = -1;
    for (int behind = 1; behind >= 0; behind--) {
        affix a;
        if (!find_affix(stem, behind, &a)) continue;
        const int index = name_index(w, a.word, a.word_length);
        if (index < 0 && !is_known(a.word, a.word_length)) continue;
        *rest = a.rest;
        *length = a.rest_length;
        *stream = index;
        return;
    }
}

/* ---- Which names are streams --------------------------------------------------------------- */

static braid_status add_name(walk *w, const char *name, size_t length) {
    if (name_index(w, name, length) >= 0) return BRAID_OK;
    if (w->name_count == BRAID_MAX_STREAMS || length == 0 || length >= sizeof w->names[0] ||
        memchr(name, '=', length) || memchr(name, ',', length) || memchr(name, '"', length) ||
        memchr(name, '\\', length))
        return fail(BRAID_ERROR_DATA,
                    "%s: expected at most %d streams with names of 1 to 31 letters, got \"%.*s\"; "
                    "--streams a,b names those to take",
                    w->folder, BRAID_MAX_STREAMS, (int)length, name);
    snprintf(w->names[w->name_count++], sizeof w->names[0], "%.*s", (int)length, name);
    return BRAID_OK;
}

typedef struct level_names {
    const char *name[BRAID_MAX_STREAMS];
    int count, known;
} level_names;

static const char *word_at(const found *f, int level, size_t *length) {
    affix a;
    if (level >= 0) {
        *length = level < f->parts ? strlen(f->part[level]) : 0;
        return level < f->parts ? f->part[level] : NULL;
    }
    const int has = find_affix(f->stem, level == -1, &a);
    *length = has ? a.word_length : 0;
    return has ? a.word : NULL;
}

/* The different names of a level of folders (-1: behind the stem, -2: in front of it); more than a set has streams:
 * count is one too many. */
static void list_level(const walk *w, int level, level_names *out) {
    *out = (level_names){.count = 0};
    for (int64_t k = 0; k < w->count; k++) {
        size_t length;
        int at = 0;
        const char *word = word_at(&w->files[k], level, &length);
        if (!word && level < 0) out->count = BRAID_MAX_STREAMS + 1;
        if (!word && level < 0) return;
        if (!word) continue;
        const int known = is_known(word, length);
        while (at < out->count && at < BRAID_MAX_STREAMS && !same_word(word, length, out->name[at])) at++;
        if (at < out->count) continue;
        if (at < BRAID_MAX_STREAMS) out->name[at] = level < 0 ? NULL : word;
        if (at < BRAID_MAX_STREAMS && level < 0) {
            const char *kept = NULL;
            char text[32];
            snprintf(text, sizeof text, "%.*s", (int)length, word);
            if (length >= sizeof text || import_keep(w->a, text, &kept)) out->count = BRAID_MAX_STREAMS;
            out->name[at] = kept;
        }
        out->count++;
        out->known += known;
        if (out->count > BRAID_MAX_STREAMS) return;
    }
}

static uint64_t hash(uint64_t sum, const char *text, size_t length) {
    for (size_t j = 0; j < length; j++) sum = (sum ^ (unsigned char)text[j]) * UINT64_C(1099511628211);
    return (sum ^ 0xff) * UINT64_C(1099511628211);
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The share of samples that have a file for each name, if a level is that of the streams. */
static braid_status score_level(const walk *w, int level, const level_names *names, double *share) {
    void *memory;
    int64_t groups = 0, whole = 0;
    TRY(memory_alloc((size_t)w->count, sizeof(uint64_t), "the names of files", &memory));
    uint64_t *keys = memory;
    for (int64_t k = 0; k < w->count; k++) {
        const found *f = &w->files[k];
        const char *rest = f->stem;
        size_t length = strlen(rest);
        affix a;
        keys[k] = hash(UINT64_C(14695981039346656037), (char[]){(char)(f->split + 2)}, 1);
        for (int part = 0; part < f->parts; part++)
            if (part != level) keys[k] = hash(keys[k], f->part[part], strlen(f->part[part]));
        if (level < 0 && find_affix(f->stem, level == -1, &a)) {
            rest = a.rest;
            length = a.rest_length;
        }
        keys[k] = hash(keys[k], rest, length);
    }
    qsort(keys, (size_t)w->count, sizeof *keys, by_number);
    for (int64_t k = 0, first = 0; k < w->count; k++) {
        if (k + 1 < w->count && keys[k + 1] == keys[k]) continue;
        whole += k + 1 - first == names->count;
        groups++;
        first = k + 1;
    }
    memory_free(memory);
    *share = groups ? (double)whole / (double)groups : 0;
    return BRAID_OK;
}

static braid_status take_level(walk *w, const level_names *names) {
    for (int i = 0; i < names->count; i++) TRY(add_name(w, names->name[i], strlen(names->name[i])));
    return BRAID_OK;
}

/* Words that are known decide; else whether the files of one name come together. */
static braid_status find_names(walk *w) {
    level_names names, best = {.count = 0}, other = {.count = 0};
    double best_share = 0.5, other_share = 0;
    int deepest = 0;
    for (int64_t k = 0; k < w->count; k++) deepest = w->files[k].parts > deepest ? w->files[k].parts : deepest;
    for (int level = 0; level < deepest; level++) {
        list_level(w, level, &names);
        if (names.count <= BRAID_MAX_STREAMS && names.known && (names.known == names.count || names.known > 1))
            return take_level(w, &names);
    }
    for (int level = -2; level < deepest; level++) {
        double share;
        if (level >= 0 && deepest < 2) break;
        list_level(w, level, &names);
        if (names.count < 2 || names.count > BRAID_MAX_STREAMS) continue;
        TRY(score_level(w, level, &names, &share));
        if (share < best_share || (level < 0 && !names.known && names.name[0][0] >= '0' && names.name[0][0] <= '9'))
            continue;
        other = best;
        other_share = best_share;
        best = names;
        best_share = share;
    }
    if (best.count && other.count && other_share >= best_share)
        return fail(
            BRAID_ERROR_DATA,
            "%s: cannot tell streams from classes: files of the same names lie in folders such as %s and %s, and "
            "in %s and %s; --streams a,b names the streams",
            w->folder, best.name[0], best.name[1], other.name[0], other.name[1]);
    return best.count ? take_level(w, &best) : add_name(w, "image", 5);
}

/* ---- Roles -------------------------------------------------------------------------------- */

/* A file of none of the streams that were asked for: the word that says which one it is of; NULL: there is none. */
static const char *unasked_word(const walk *w, const found *f, size_t *length) {
    affix a;
    for (int part = 0; part < f->parts; part++)
        if (w->levels >> part & 1) {
            *length = strlen(f->part[part]);
            return f->part[part];
        }
    for (int part = 0; part < f->parts; part++) {
        *length = strlen(f->part[part]);
        if (is_known(f->part[part], *length)) return f->part[part];
    }
    for (int behind = 1; behind >= 0; behind--) {
        if (!find_affix(f->stem, behind, &a) || !is_known(a.word, a.word_length)) continue;
        *length = a.word_length;
        return a.word;
    }
    return NULL;
}

/* Is it of a stream that --streams leaves out? Then it is counted. */
static int is_left_out(const walk *w, const found *f) {
    const char *rest;
    size_t length;
    int stream;
    if (!w->asked) return 0;
    strip(w, f->stem, &rest, &length, &stream);
    for (int part = 0; part < f->parts && stream < 0; part++)
        stream = name_index(w, f->part[part], strlen(f->part[part]));
    if (stream >= 0) return 0;
    const char *word = unasked_word(w, f, &length);
    return word && import_leave_out(w->a, word, length, 1);
}

static braid_status note_classless(import *a, char *full) {
    TRY(import_note(a, full, "is of no class: expected it in a folder with the name of its class"));
    if (a->lacks.classless++) return BRAID_OK;
    *strrchr(full, '/') = 0;
    return import_keep(a, full, &a->lacks.folder);
}

/* The class is the first folder that is neither split nor stream; the others are part of the key. */
static braid_status add_role(walk *w, const found *f, int only) {
    char key[4096];
    const char *rest, *label = NULL;
    size_t length, used = 0;
    int affixed, stream = only ? 0 : -1;
    char *full;
    strip(w, f->stem, &rest, &length, &affixed);
    for (int part = 0; part < f->parts; part++) {
        const int index = name_index(w, f->part[part], strlen(f->part[part]));
        if (index >= 0 && stream < 0) {
            stream = index;
            continue;
        }
        if (!label) label = f->part[part];
        used += (size_t)snprintf(key + used, sizeof key - used, "%s/", f->part[part]);
        if (used >= sizeof key) return fail(BRAID_ERROR_DATA, "%s/%s: expected a shorter path", w->folder, f->path);
    }
    if (stream < 0) stream = affixed;
    if (stream < 0 && w->name_count == 1 && !w->asked) stream = 0;
    if ((size_t)snprintf(key + used, sizeof key - used, "%.*s", (int)length, rest) >= sizeof key - used)
        return fail(BRAID_ERROR_DATA, "%s/%s: expected a shorter path", w->folder, f->path);
    TRY(files_join(w->folder, f->path, &full));
    import_file file = {.split = f->split, .label = label};
    braid_status status = import_keep(w->a, full, &file.path);
    if (!status) status = import_keep(w->a, key, &file.key);
    if (!status && stream < 0)
        status = import_note(w->a, full, "is of no stream: neither a folder above it nor its name says which");
    else if (!status && !label)
        status = note_classless(w->a, full);
    else if (!status)
        status = import_stream(w->a, w->names[stream], &file.stream);
    if (!status && stream >= 0 && label) status = import_add_file(w->a, &file);
    memory_free(full);
    return status;
}

/* Where the streams of --streams are. One that is not there is the name of all images, where the folder has no streams
 * that their names tell. */
static braid_status find_asked(walk *w) {
    int has[BRAID_MAX_STREAMS] = {0}, index;
    const char *missing = NULL;
    for (int64_t k = 0; k < w->count; k++) {
        const found *f = &w->files[k];
        const char *rest;
        size_t length;
        strip(w, f->stem, &rest, &length, &index);
        if (index >= 0) has[index] = 1;
        for (int part = 0; part < f->parts; part++) {
            index = name_index(w, f->part[part], strlen(f->part[part]));
            if (index < 0) continue;
            has[index] = 1;
            w->levels |= 1U << part;
            break;
        }
    }
    for (int i = 0; i < w->name_count; i++) {
        if (has[i]) TRY(import_stream(w->a, w->names[i], &index));
        w->asked |= has[i];
        if (!has[i]) missing = w->names[i];
    }
    if (!missing) return BRAID_OK;
    walk other = *w;
    other.name_count = 0;
    braid_status status = find_names(&other);
    if (status == BRAID_ERROR_DATA)
        return fail(BRAID_ERROR_ARGUMENT, "streams: expected names of streams that are there, got \"%s\"; %s", missing,
                    fail_message());
    TRY(status);
    if (other.name_count == 1 && !strcmp(other.names[0], "image")) return BRAID_OK;
    w->asked = 1;
    for (int i = 0; i < other.name_count; i++)
        if (name_index(w, other.names[i], strlen(other.names[i])) < 0)
            import_leave_out(w->a, other.names[i], strlen(other.names[i]), 0);
    return BRAID_OK;
}

static braid_status find_roles(walk *w, const char *stream) {
    const char *asked = stream ? stream : w->a->options->streams;
    if (w->count == 0) return fail(BRAID_ERROR_DATA, "%s: expected images (.png, .jpg, .npy), got none", w->folder);
    for (int64_t k = 0; k < w->count; k++) TRY(take_apart(w, &w->files[k]));
    for (const char *at = asked; at && *at; at += strcspn(at, ","), at += *at == ',')
        TRY(add_name(w, at, strcspn(at, ",")));
    if (!asked) TRY(find_names(w));
    if (asked && !stream) TRY(find_asked(w));
    for (int64_t k = 0; k < w->count; k++)
        if (!is_left_out(w, &w->files[k])) TRY(add_role(w, &w->files[k], stream != NULL));
    return BRAID_OK;
}

braid_status import_folder(import *a, const char *folder, const char *stream) {
    walk w = {.a = a};
    char *real;
    TRY(within_root(folder, &real));
    w.folder = real;
    braid_status status = a->root ? BRAID_OK : memory_copy_text(real, &a->root);
    if (!status) status = walk_folder(&w, real, "", 0);
    if (!status) status = find_roles(&w, stream);
    for (int64_t k = 0; k < w.count; k++) memory_free(w.files[k].path);
    memory_free(w.files);
    memory_free(real);
    return status;
}
