/*
 * Manifests, line by line: a word, then its fields, with tabs between them. The text is cut in place, so that a set of
 * a million samples takes one allocation for all its paths.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/manifest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "data/image.h"
#include "data/lists.h"

#define MOST_FIELDS (BRAID_MAX_STREAMS + 8)
#define FIRST_LINE "braid set"

typedef struct fields {
    char *field[MOST_FIELDS];
    int count;
    int64_t line;
} fields;

static const char *const fits[] = {"stretch", "crop", "pad"};

const char *fit_name(braid_fit fit) { return (unsigned)fit < BRAID_FIT_COUNT ? fits[fit] : NULL; }

const char *braid_fit_name(braid_fit fit) { return fit_name(fit); }

int manifest_can_hold(const char *text) {
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) return 0;
    return *text != 0;
}

/* ---- Filling ------------------------------------------------------------------------------ */

braid_status manifest_add_class(manifest *m, const char *name) {
    if (m->classes == LISTS_MAX_CLASSES)
        return fail(BRAID_ERROR_DATA, "expected at most %d classes", LISTS_MAX_CLASSES);
    TRY(memory_grow((void **)&m->class_names, (size_t)m->classes, &m->class_room, sizeof *m->class_names, "classes"));
    m->class_names[m->classes++] = name;
    return BRAID_OK;
}

braid_status manifest_add_sample(manifest *m, manifest_sample sample, const char *const *paths) {
    const size_t used = (size_t)m->samples;
    TRY(memory_grow((void **)&m->sample, used, &m->sample_room, sizeof *m->sample, "the samples of a set"));
    for (int i = 0; i < m->streams; i++) {
        const size_t at = used * (size_t)m->streams + (size_t)i;
        TRY(memory_grow((void **)&m->paths, at, &m->path_room, sizeof *m->paths, "the files of a set"));
        m->paths[at] = paths[i];
    }
    m->sample[m->samples++] = sample;
    return BRAID_OK;
}

int manifest_find_class(const manifest *m, const char *name) {
    for (int c = 0; c < m->classes; c++)
        if (!strcmp(m->class_names[c], name)) return c;
    return -1;
}

void manifest_free(manifest *m) {
    memory_free(m->text);
    memory_free(m->class_names);
    memory_free(m->sample);
    memory_free(m->paths);
    *m = (manifest){0};
}

/* ---- Reading ------------------------------------------------------------------------------ */

static braid_status refuse(const fields *f, const char *expected) {
    return fail(BRAID_ERROR_DATA, "line %lld: expected %s, got \"%.60s\"", (long long)f->line, expected, f->field[0]);
}

/* Cuts a line at its tabs. 0: it has too many, or a character that no text may have. */
static int cut(char *line, fields *f) {
    f->count = 0;
    for (char *c = line;; c++) {
        if (c == line || c[-1] == 0) {
            if (f->count == MOST_FIELDS) return 0;
            f->field[f->count++] = c;
        }
        if (*c == 0) return 1;
        if (*c == '\t')
            *c = 0;
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            return 0;
    }
}

static int read_number(const char *text, double *out) {
    char *end;
    *out = real_read(text, &end);
    return end != text && *end == 0 && isfinite(*out);
}

static int read_whole(const char *text, int64_t most, int64_t *out) {
    char *end;
    if (*text < '0' || *text > '9') return 0;
    *out = strtoll(text, &end, 10);
    return *end == 0 && *out <= most;
}

static braid_status read_size(manifest *m, const fields *f) {
    int fit = 0;
    if (f->count != 4 || !read_whole(f->field[1], IMAGE_MAX_SIDE, &m->size[0]) ||
        !read_whole(f->field[2], IMAGE_MAX_SIDE, &m->size[1]) ||
        image_check_size("size", m->size[0], m->size[1]) != BRAID_OK)
        return refuse(f, "size HEIGHT WIDTH FIT");
    while (fit < BRAID_FIT_COUNT && strcmp(f->field[3], fits[fit]) != 0) fit++;
    m->fit = (braid_fit)fit;
    return fit < BRAID_FIT_COUNT ? BRAID_OK : refuse(f, "stretch, crop or pad after a size");
}

/* range LOW HIGH UNIT SCALE */
static braid_status read_range(manifest_stream *s, const fields *f, int at) {
    if (at + 5 > f->count || !read_number(f->field[at + 1], &s->low) || !read_number(f->field[at + 2], &s->high) ||
        !read_number(f->field[at + 4], &s->scale) || !(s->high > s->low) || !(s->scale > 0) ||
        !isfinite(s->high - s->low) || strlen(f->field[at + 3]) >= sizeof s->unit)
        return refuse(f, "range LOW HIGH UNIT SCALE with LOW below HIGH");
    snprintf(s->unit, sizeof s->unit, "%s", f->field[at + 3]);
    s->has_range = 1;
    return BRAID_OK;
}

static braid_status read_stream(manifest *m, const fields *f) {
    int64_t channels, bits;
    if (m->samples || m->streams == BRAID_MAX_STREAMS) return refuse(f, "at most 8 streams, before all samples");
    manifest_stream *s = &m->stream[m->streams];
    *s = (manifest_stream){.scale = 1};
    if (f->count < 4 || !f->field[1][0] || strlen(f->field[1]) >= sizeof s->name || strpbrk(f->field[1], "=,\"\\/") ||
        !read_whole(f->field[2], 3, &channels) || !read_whole(f->field[3], 32, &bits) ||
        (channels != 1 && channels != 3) || (bits != 8 && bits != 16 && bits != 32))
        return refuse(f,
                      "stream NAME CHANNELS BITS, the name without = , / \" and \\, 1 or 3 channels, 8, 16 or 32 bits");
    for (int i = 0; i < m->streams; i++)
        if (!strcmp(m->stream[i].name, f->field[1])) return refuse(f, "another name for each stream");
    snprintf(s->name, sizeof s->name, "%s", f->field[1]);
    s->channels = (int)channels;
    s->bits = (int)bits;
    m->streams++;
    for (int at = 4; at < f->count; at++) {
        if (!strcmp(f->field[at], "mask")) {
            s->mask = 1;
        } else if (!strcmp(f->field[at], "range")) {
            TRY(read_range(s, f, at));
            at += 4;
        } else {
            return refuse(f, "range or mask after a stream");
        }
    }
    if (s->bits != 8 && !s->has_range) return refuse(f, "a range for a stream of more than 8 bits");
    return s->mask && !s->has_range ? refuse(f, "a range for a stream with a mask") : BRAID_OK;
}

static braid_status read_class(manifest *m, const fields *f) {
    if (f->count != 2 || !f->field[1][0] || m->samples) return refuse(f, "class NAME, before all samples");
    return manifest_add_class(m, f->field[1]);
}

static braid_status read_sample(manifest *m, const fields *f, int split) {
    int64_t label;
    if (m->streams == 0) return refuse(f, "streams before samples");
    if (f->count != 2 + m->streams || !read_whole(f->field[1], m->classes - 1, &label))
        return refuse(f, "SPLIT CLASS and a file for each stream, the class as a number from 0");
    for (int i = 0; i < m->streams; i++)
        if (!f->field[2 + i][0]) return refuse(f, "a path for each stream");
    const manifest_sample sample = {split, (int32_t)label};
    return manifest_add_sample(m, sample, (const char *const *)&f->field[2]);
}

static braid_status read_line(manifest *m, const fields *f) {
    const char *word = f->field[0];
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++)
        if (!strcmp(word, braid_split_name((braid_split)s))) return read_sample(m, f, s);
    if (!strcmp(word, "stream")) return read_stream(m, f);
    if (!strcmp(word, "class")) return read_class(m, f);
    if (!strcmp(word, "size")) return read_size(m, f);
    if (!strcmp(word, "root") && f->count == 2 && f->field[1][0]) {
        m->root = f->field[1];
        return BRAID_OK;
    }
    return word[0] == '#' || (!word[0] && f->count == 1) ? BRAID_OK : refuse(f, "root, size, stream, class or a split");
}

static braid_status read_lines(manifest *m, char *text, size_t bytes) {
    fields f = {.line = 0};
    for (char *line = text, *end = text + bytes; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line)), *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        *stop = 0;
        if (stop > line && stop[-1] == '\r') stop[-1] = 0;
        f.line++;
        f.field[0] = line;
        int cuts = strlen(line) == (size_t)(stop - line) - (stop > line && !stop[-1] ? 1 : 0) && cut(line, &f);
        if (!cuts) return refuse(&f, "fields without control characters, with tabs between them");
        if (f.line == 1 && (f.count != 2 || strcmp(f.field[0], FIRST_LINE) != 0 || strcmp(f.field[1], "1") != 0))
            return refuse(&f, "\"" FIRST_LINE "\", a tab and the version 1");
        if (f.line > 1) TRY(read_line(m, &f));
        line = next;
    }
    if (f.line == 0) return fail(BRAID_ERROR_DATA, "expected a manifest, got an empty file");
    return m->samples ? BRAID_OK : fail(BRAID_ERROR_DATA, "expected samples, got none");
}

braid_status manifest_read(const char *text, size_t bytes, manifest *out) {
    void *copy;
    *out = (manifest){.root = "."};
    TRY(memory_alloc(bytes + 1, 1, "a manifest", &copy));
    if (bytes) memcpy(copy, text, bytes);
    out->text = copy;
    braid_status status = read_lines(out, copy, bytes);
    if (status) manifest_free(out);
    return status;
}

/* ---- Writing ------------------------------------------------------------------------------ */

braid_status grown_add(grown_text *t, const char *format, ...) {
    va_list arguments;
    for (;;) {
        va_start(arguments, format);
        int wrote = real_format_list(t->text ? t->text + t->bytes : NULL, t->room - t->bytes, format, arguments);
        va_end(arguments);
        if (wrote < 0) return fail(BRAID_ERROR_MEMORY, "a text: could not be printed");
        if (t->room - t->bytes > (size_t)wrote) {
            t->bytes += (size_t)wrote;
            return BRAID_OK;
        }
        void *larger;
        const size_t room = t->room + t->room / 2 + (size_t)wrote + 4096;
        TRY(memory_alloc(room, 1, "a text", &larger));
        if (t->bytes) memcpy(larger, t->text, t->bytes);
        memory_free(t->text);
        t->text = larger;
        t->room = room;
    }
}

static braid_status write_stream(grown_text *t, const manifest_stream *s) {
    TRY(grown_add(t, "stream\t%s\t%d\t%d", s->name, s->channels, s->bits));
    if (s->has_range) TRY(grown_add(t, "\trange\t%.17g\t%.17g\t%s\t%.17g", s->low, s->high, s->unit, s->scale));
    return grown_add(t, s->mask ? "\tmask\n" : "\n");
}

static braid_status write_sample(grown_text *t, const manifest *m, int64_t k) {
    TRY(grown_add(t, "%s\t%d", braid_split_name((braid_split)m->sample[k].split), (int)m->sample[k].label));
    for (int i = 0; i < m->streams; i++) TRY(grown_add(t, "\t%s", m->paths[k * m->streams + i]));
    return grown_add(t, "\n");
}

static braid_status write_all(grown_text *t, const manifest *m) {
    TRY(grown_add(t, FIRST_LINE "\t1\nroot\t%s\n", m->root));
    if (m->size[0])
        TRY(grown_add(t, "size\t%lld\t%lld\t%s\n", (long long)m->size[0], (long long)m->size[1], fit_name(m->fit)));
    for (int i = 0; i < m->streams; i++) TRY(write_stream(t, &m->stream[i]));
    for (int c = 0; c < m->classes; c++) TRY(grown_add(t, "class\t%s\n", m->class_names[c]));
    for (int64_t k = 0; k < m->samples; k++) TRY(write_sample(t, m, k));
    return BRAID_OK;
}

braid_status manifest_write(const manifest *m, char **text, size_t *bytes) {
    grown_text t = {0};
    braid_status status = write_all(&t, m);
    if (status) memory_free(t.text);
    *text = status ? NULL : t.text;
    *bytes = status ? 0 : t.bytes;
    return status;
}
