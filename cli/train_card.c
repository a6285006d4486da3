/*
 * The card of a run: what its samples are, as its checkpoints carry it along, beside that of the set that it is given.
 * Both are JSON as braid_data_card spells it; what is looked for in them is found by its name, which no text within
 * them can be, for want of quotes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "train.h"

static void on_text(void *user, const char *key, const char *value) {
    run_card *c = user;
    if (c->saved || strcmp(key, BRAID_DATA_KEY) != 0) return;
    if (braid_data_card_copy(value, &c->saved)) c->saved = NULL; /* no card: there is nothing to compare */
}

void run_card_read(run_card *c, const char *path) {
    if (braid_file_describe(path, on_text, NULL, c, NULL)) return; /* whoever loads it says why */
}

/* The list of classes in a card, ["bathroom",...] in so many bytes; NULL: there is none. */
static const char *find_classes(const char *card, int *bytes) {
    const char *key = strstr(card, "\"classes\":["), *list = key ? strchr(key, '[') : NULL, *end = list;
    for (int quoted = 0; end && *end && (quoted || *end != ']'); end++) {
        quoted ^= *end == '"';
        if (*end == '\\' && end[1]) end++;
    }
    *bytes = list ? (int)(end - list) + (*end == ']') : 0;
    return list;
}

/* What a run has learned so far are the classes that it began with, in their order. */
static int check_classes(const run_card *c, const char *run) {
    int before = 0, now = 0, shown = 200;
    const char *a = find_classes(c->saved, &before), *b = find_classes(c->now, &now);
    if (!a || !b || (before == now && !memcmp(a, b, (size_t)now))) return 0;
    return complain(BRAID_ERROR_ARGUMENT,
                    "%s: expected the classes that the run began with, %.*s, got %.*s; put class_names.txt back as it "
                    "was, or begin a run in another folder",
                    run, before < shown ? before : shown, a, now < shown ? now : shown, b);
}

/* Samples of a split by a card, and a checksum of their labels; 0: it does not tell. */
static int64_t count_samples(const char *card, const char *split, int64_t *labels) {
    char name[32];
    char *end = NULL;
    const char *list = strstr(card, "\"samples\":{");
    snprintf(name, sizeof name, "\"%s\":[", split);
    const char *entry = list ? strstr(list, name) : NULL;
    int64_t count = entry ? strtoll(entry + strlen(name), &end, 10) : 0;
    *labels = end && *end == ',' ? strtoll(end + 1, NULL, 10) : 0;
    return count;
}

/* The best epoch is that of the validation samples that the run began with; other labels are said. How many samples it
 * learns from, and whether it validates at all, is looked at by the trainer. */
static int check_samples(const run_card *c, const char *run, const char *data) {
    for (int split = BRAID_SPLIT_TRAIN; split <= BRAID_SPLIT_VAL; split++) {
        const char *name = braid_split_name((braid_split)split);
        int64_t old_labels, labels, before = count_samples(c->saved, name, &old_labels);
        int64_t now = count_samples(c->now, name, &labels);
        if (before == 0 || now == 0 || (split == BRAID_SPLIT_TRAIN && before != now)) return 0;
        if (before != now)
            return complain(BRAID_ERROR_ARGUMENT,
                            "%s: expected %lld samples in %s, as the run began, got %lld; give it the data that it "
                            "began with, or begin a run in another folder",
                            run, (long long)before, name, (long long)now);
        if (old_labels != labels) complain(0, "%s: the labels of %s are not those that the run began with", data, name);
    }
    return 0;
}

/* The entry of a list of classes that starts at `at`, "bathroom" with its quotes. Returns where the next one starts. */
static const char *next_entry(const char *at, const char *end, const char **entry, int *bytes) {
    while (at < end && *at != '"') at++;
    *entry = at;
    if (at < end) at++;
    for (; at < end && *at != '"'; at++) {
        if (*at == '\\') at++;
    }
    if (at < end) at++;
    *bytes = (int)(at - *entry);
    return at;
}

int card_check_classes(const char *card, const feeding *f, const char *model) {
    char *now = NULL, *before = NULL;
    int before_bytes = 0, now_bytes = 0, code = 0;
    if (!card) return 0;
    if (braid_data_card(f->data, &now)) return complain_lab(BRAID_ERROR_MEMORY);
    braid_status status = braid_data_card_copy(card, &before);
    const char *a = status ? NULL : find_classes(before, &before_bytes), *b = find_classes(now, &now_bytes);
    const char *a_end = a + before_bytes, *b_end = b + now_bytes;
    int other = a && b && (before_bytes != now_bytes || memcmp(a, b, (size_t)now_bytes) != 0);
    for (int c = 0; other && !code; c++) {
        const char *expected, *got;
        int expected_bytes, got_bytes;
        a = next_entry(a, a_end, &expected, &expected_bytes);
        b = next_entry(b, b_end, &got, &got_bytes);
        if (expected_bytes && expected_bytes == got_bytes && !memcmp(expected, got, (size_t)got_bytes)) continue;
        code = complain(BRAID_ERROR_DATA,
                        "%s: expected the classes that %s was trained on, as class %d %.*s, got %.*s; give it a set "
                        "with the same class_names.txt",
                        f->info->folder, model, c, expected_bytes ? expected_bytes : 4,
                        expected_bytes ? expected : "none", got_bytes ? got_bytes : 4, got_bytes ? got : "none");
    }
    if (status) code = complain_lab(status);
    braid_text_destroy(before);
    braid_text_destroy(now);
    return code;
}

int run_card_check(run_card *c, const feeding *f, const char *run) {
    if (braid_data_card(f->data, &c->now)) return complain_lab(BRAID_ERROR_MEMORY);
    if (!c->saved) return 0;
    int code = check_classes(c, run);
    return code ? code : check_samples(c, run, f->info->folder);
}

void run_card_close(run_card *c) {
    braid_text_destroy(c->now);
    braid_text_destroy(c->saved);
    *c = (run_card){0};
}
