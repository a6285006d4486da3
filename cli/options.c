/*
 * Options: --name value, --name=value, -o value and -ovalue, anywhere after the verb; -- ends them.
 * A message names what came, what was expected and the nearest option.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MOST_READERS 256 /* of a loader */

/* ---- What may have been meant --------------------------------------------------------------- */

/* Words that are no options anywhere, and what stands for them. */
static const struct {
    const char *typed, *name, *meant;
} meanings[] = {{"gpu", "device", "--device cuda:0"}, {"cuda", "device", "--device cuda:0"},
                {"cpu", "device", "--device cpu"},    {"fp16", "dtype", "--dtype f16"},
                {"f16", "dtype", "--dtype f16"},      {"bf16", "dtype", "--dtype bf16"},
                {"amp", "dtype", "--dtype bf16"},     {"json", "output", "-o json"},
                {"csv", "output", "-o csv"},          {"md", "output", "-o md"},
                {"markdown", "output", "-o md"}};

static const char *find_meaning(const verb *v, const char *name) {
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const char *known = meanings[i].name;
        if (!strcmp(name, meanings[i].typed) && option_find(v, known, strlen(known), 0)) return meanings[i].meant;
    }
    return NULL;
}

/* The other verbs that have an option, "train, demo"; "": none has. */
static void find_owners(const char *name, char letter, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; verbs[i] && used < size; i++) {
        if (option_find(verbs[i], name, strlen(name), letter))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", verbs[i]->name);
    }
}

typedef struct name_list {
    const verb *verb;
    char text[4096]; /* each after a space */
} name_list;

static void add_name(const option *o, void *user) {
    name_list *list = user;
    char aliases[128];
    size_t used = strlen(list->text);
    if (o->kind == OPTION_HEADING) return;
    option_aliases(list->verb, o, aliases, sizeof aliases);
    snprintf(list->text + used, sizeof list->text - used, " --%s%s%s", o->name, aliases[0] ? " " : "", aliases);
}

static int unknown_option(const verb *v, const char *typed) {
    char word[64], owners[256];
    name_list all = {.verb = v};
    int is_long = typed[1] == '-';
    snprintf(word, sizeof word, "%.*s", (int)strcspn(typed, "="), typed);
    const char *meaning = is_long ? find_meaning(v, word + 2) : NULL;
    if (meaning) return complain(BRAID_ERROR_ARGUMENT, "unknown option %s; did you mean %s?", word, meaning);
    find_owners(is_long ? word + 2 : "", is_long ? 0 : typed[1], owners, sizeof owners);
    if (owners[0])
        return complain(BRAID_ERROR_ARGUMENT,
                        "unknown option %s: it belongs to %s; braid %s --help lists the options of %s", word, owners,
                        v->name, v->name);
    options_each(v, add_name, &all);
    const char *nearest = nearest_word(word, all.text, " ,");
    if (nearest)
        return complain(BRAID_ERROR_ARGUMENT, "unknown option %s; did you mean %s? (braid %s --help lists them)", word,
                        nearest, v->name);
    return complain(BRAID_ERROR_ARGUMENT, "unknown option %s; expected one of:%s", word, all.text);
}

/* ---- Values --------------------------------------------------------------------------------- */

static int bad_value(const option *o, const char *expected, const char *text) {
    return complain(BRAID_ERROR_ARGUMENT, "--%s: expected %s, got \"%s\"", o->name, expected, text);
}

static int parse_whole(const option *o, const char *text, int *out) {
    int least = o->kind != OPTION_WHOLE, most = o->kind == OPTION_STEPS ? 1000000000 : 1000000;
    char expected[64];
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    snprintf(expected, sizeof expected, "a whole number from %d to %d", least, most);
    if (end == text || *end || errno || value < least || value > most) return bad_value(o, expected, text);
    *out = (int)value;
    return 0;
}

static int parse_seed(const option *o, const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (end == text || *end || errno || strchr(text, '-')) return bad_value(o, "a whole number from 0 to 2^64-1", text);
    *out = value;
    return 0;
}

/* What a number of a kind may be. */
typedef struct real_range {
    double most;
    int from_zero; /* 0 itself may be meant */
    const char *expected;
} real_range;

static real_range range_of(option_kind kind) {
    if (kind == OPTION_SHARE) return (real_range){1, 1, "a number from 0 to 1"};
    if (kind == OPTION_AMOUNT) return (real_range){1e30, 1, "a number from 0 to 1e30"};
    return (real_range){86400, 0, "a number above 0, up to 86400"};
}

static int parse_real(const option *o, const char *text, double *out) {
    real_range range = range_of(o->kind);
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < 0 || (value <= 0 && !range.from_zero) || value > range.most)
        return bad_value(o, range.expected, text);
    *out = value;
    return 0;
}

static int parse_choice(const verb *v, const option *o, const char *text, int *out) {
    int index = 0;
    for (const char *word = o->value; *word; index++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && !strncmp(word, text, length)) {
            *out = index;
            return 0;
        }
        word += length + (word[length] == '|');
    }
    const char *nearest = nearest_word(text, o->value, "|");
    if (nearest)
        return complain(BRAID_ERROR_ARGUMENT, "--%s: expected %s, got \"%s\"; did you mean %s?", o->name, o->value,
                        text, nearest);
    if (!strcmp(o->name, "output") && option_find(v, "out", 3, 0))
        return complain(BRAID_ERROR_ARGUMENT,
                        "-o, --output: expected the format %s, got \"%s\"; did you mean --out %s?", o->value, text,
                        text);
    return bad_value(o, o->value, text);
}

int option_set(const verb *v, const option *o, const char *text, void *values) {
    void *variable = (char *)values + o->offset;
    switch (o->kind) {
        case OPTION_FLAG: *(int *)variable = 1; return 0;
        case OPTION_TEXT: *(const char **)variable = text; return 0;
        case OPTION_WHOLE:
        case OPTION_COUNT:
        case OPTION_STEPS: return parse_whole(o, text, variable);
        case OPTION_SEED: return parse_seed(o, text, variable);
        case OPTION_REAL:
        case OPTION_SHARE:
        case OPTION_AMOUNT: return parse_real(o, text, variable);
        case OPTION_CHOICE: return parse_choice(v, o, text, variable);
        case OPTION_HEADING: return 0;
    }
    return 0;
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* The option that a word spells, with its value where that stands in the same word; NULL: it is none of the verb's. */
static const option *read_option(const verb *v, const char *typed, const char **value) {
    int is_long = typed[1] == '-';
    size_t length = is_long ? strcspn(typed + 2, "=") : 0;
    const option *o = is_long ? option_find(v, typed + 2, length, 0) : option_find(v, "", 0, typed[1]);
    *value = NULL;
    if (is_long && typed[2 + length] == '=') *value = typed + 2 + length + 1;
    if (!is_long && typed[2]) *value = typed + 2;
    return o;
}

/* The next word as the value of an option: not the end, and no option itself. */
static int take_value(const verb *v, const option *o, const char *typed, const char *next, const char **value) {
    const char *unused;
    int is_option = next && next[0] == '-' && next[1] == '-' && next[2] && read_option(v, next, &unused);
    *value = next;
    if (next && !is_option) return 0;
    return complain(BRAID_ERROR_ARGUMENT, "%s: expected %s after it, got %s%s", typed, o->value,
                    next ? "the option " : "nothing", next ? next : "");
}

/* One option at argv[*index], which is moved to the last word it used. */
static int parse_option(const verb *v, int argc, char **argv, int *index, void *values, arguments *words) {
    const char *typed = argv[*index], *value;
    const option *o = read_option(v, typed, &value);
    if (!o) return unknown_option(v, typed);
    if (o->kind == OPTION_FLAG && value)
        return complain(BRAID_ERROR_ARGUMENT, "%s takes no value, got \"%s\"", typed, value);
    if (o->kind != OPTION_FLAG && !value) {
        int code = take_value(v, o, typed, *index + 1 < argc ? argv[*index + 1] : NULL, &value);
        if (code) return code;
        ++*index;
    }
    if (words->given_count < MAX_ARGUMENTS) {
        words->given_text[words->given_count] = value ? value : "";
        words->given[words->given_count++] = o;
    }
    return option_set(v, o, value, values);
}

int options_refuse(const arguments *words, const char *names, const char *why) {
    for (int j = 0; j < words->given_count; j++) {
        const char *name = words->given[j]->name;
        size_t length = strlen(name);
        for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ')
            if (strcspn(at, " ") == length && !strncmp(at, name, length))
                return complain(BRAID_ERROR_ARGUMENT, "--%s: %s", name, why);
    }
    return 0;
}

int options_readers(int readers) {
    if (readers <= MOST_READERS) return 0;
    return complain(BRAID_ERROR_ARGUMENT, "--readers: expected 1 to %d threads that read, got %d", MOST_READERS,
                    readers);
}

static int count_arguments(const verb *v, const arguments *words) {
    if (words->count == 0 && v->least > 0)
        return complain(BRAID_ERROR_ARGUMENT, "expected %s, got nothing (braid %s --help)", v->arguments, v->name);
    if (words->count < v->least)
        return complain(BRAID_ERROR_ARGUMENT, "expected %s, got \"%s\" alone (braid %s --help)", v->arguments,
                        words->word[words->count - 1], v->name);
    if (words->count > v->most && v->most == 0)
        return complain(BRAID_ERROR_ARGUMENT, "expected no argument, got \"%s\"", words->word[0]);
    if (words->count > v->most)
        return complain(BRAID_ERROR_ARGUMENT, "expected at most %d argument%s (%s), got \"%s\" too", v->most,
                        v->most == 1 ? "" : "s", v->arguments, words->word[v->most]);
    return 0;
}

int options_parse(const verb *v, int argc, char **argv, void *values, arguments *words) {
    common_options *common = values;
    int only_words = 0;
    if (v->common & COMMON_NETWORK) ((network_options *)(void *)(common + 1))->dropout = NETWORK_NOT_GIVEN;
    words->count = words->given_count = 0;
    for (int i = 0; i < argc; i++) {
        if (!only_words && !strcmp(argv[i], "--")) {
            only_words = 1;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
            int code = parse_option(v, argc, argv, &i, values, words);
            if (code || common->help) return code;
        } else if (words->count < MAX_ARGUMENTS) {
            words->word[words->count++] = argv[i];
        } else {
            return complain(BRAID_ERROR_ARGUMENT, "expected at most %d arguments; put more problems into a suite file",
                            MAX_ARGUMENTS);
        }
    }
    return count_arguments(v, words);
}
