/*
 * What a run remembers of the options that were typed: lines of name=value in the metadata of its checkpoints. What the
 * trainer keeps itself (length, rates and their schedule) is noted there, and not taken from there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "train_options.h"

#define OF_ONE_CALL " out resume quiet output help epochs steps "
#define OF_THE_TRAINER " rate weight-decay schedule "

static int is_in(const char *name, const char *list) {
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

static void take_options(void *user, const char *key, const char *value) {
    if (!strcmp(key, TRAIN_OPTIONS_KEY)) snprintf(user, TRAIN_OPTIONS_BYTES, "%s", value);
}

void train_options_read(const char *run, char text[TRAIN_OPTIONS_BYTES]) {
    static const char *const names[] = {"last", "last.previous", "best", "best.previous"};
    for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
        char path[4096];
        text[0] = 0;
        snprintf(path, sizeof path, "%s/%s.safetensors", run, names[j]);
        if (!braid_file_describe(path, take_options, NULL, text, NULL)) return;
    }
    text[0] = 0; /* whoever loads a checkpoint says why there is none */
}

/* The line of an option: where its value begins, and how long it is. NULL: there is none. */
static const char *find_line(const char *text, const char *name, size_t *length) {
    size_t bytes = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, name, bytes) != 0 || line[bytes] != '=') continue;
        *length = strcspn(line, "\n") - bytes - 1;
        return line + bytes + 1;
    }
    return NULL;
}

const char *train_options_value(const char *text, const char *name) {
    static char value[256];
    size_t length = 0;
    const char *found = find_line(text, name, &length);
    if (!found || length >= sizeof value) return NULL;
    snprintf(value, sizeof value, "%.*s", (int)length, found);
    return value;
}

static const char *find_given(const arguments *words, const option *o) {
    const char *text = NULL;
    for (int j = 0; j < words->given_count; j++)
        if (words->given[j] == o) text = words->given_text[j];
    return text;
}

/* One line; what is typed again is as it is typed, and an option of another version is passed over. */
static int recall(const verb *v, char *line, train_options *options, arguments *words) {
    size_t length = strcspn(line, "=");
    const option *o = option_find(v, line, length, 0);
    const char *value = line + length + (line[length] == '=');
    if (!o || is_in(o->name, OF_ONE_CALL) || find_given(words, o) || words->given_count == MAX_ARGUMENTS) return 0;
    words->given_text[words->given_count] = value;
    words->given[words->given_count++] = o;
    return is_in(o->name, OF_THE_TRAINER) ? 0 : option_set(v, o, value, options);
}

int train_options_recall(const verb *v, char *text, train_options *options, arguments *words) {
    char *rest = NULL;
    int code = 0;
    for (char *line = strtok_r(text, "\n", &rest); line && !code; line = strtok_r(NULL, "\n", &rest))
        code = recall(v, line, options, words);
    return code;
}

typedef struct printing {
    const arguments *words;
    char *text;
} printing;

static void print_line(const option *o, void *user) {
    const printing *p = user;
    const char *value = find_given(p->words, o);
    size_t used = strlen(p->text), room = TRAIN_OPTIONS_BYTES - used;
    if (!value || is_in(o->name, OF_ONE_CALL) || strchr(value, '\n')) return;
    if (strlen(o->name) + strlen(value) + 3 < room) snprintf(p->text + used, room, "%s=%s\n", o->name, value);
}

void train_options_print(const arguments *words, char text[TRAIN_OPTIONS_BYTES]) {
    printing p = {words, text};
    text[0] = 0;
    options_each(&verb_train, print_line, &p);
}
