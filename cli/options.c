/*
 * Options: --name value, --name=value, -o value and -ovalue, anywhere behind the verb; -- ends them.
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
#define COMMON(member) offsetof(common_options, member)

static const option context_options[] = {
    {"device", 0, OPTION_TEXT, "auto|cpu|cuda:0", "where to run (default: $BRAID_DEVICE, else auto)", COMMON(device)},
    {"threads", 0, OPTION_COUNT, "N", "threads of the CPU (default: $OMP_NUM_THREADS, else all cores)",
     COMMON(threads)},
    {"repro", 0, OPTION_CHOICE, "run|threads", "same bits from run to run (default), or at any number of threads",
     COMMON(repro)},
    {"cache-dir", 0, OPTION_TEXT, "DIR", "folder of the measured choices (default: $BRAID_CACHE_DIR); \"\" keeps none",
     COMMON(cache_dir)},
    {"disable", 0, OPTION_TEXT, "LIST", "candidates to leave out, such as onednn,openblas (default: $BRAID_DISABLE)",
     COMMON(disable)},
    {0}};
#define NETWORK(member) (sizeof(common_options) + offsetof(network_options, member))
_Static_assert(sizeof(common_options) % _Alignof(network_options) == 0,
               "network_options lies right behind common_options");
static const option network_options_list[] = {
    {"batch", 0, OPTION_COUNT, "B", "samples at a time", NETWORK(batch)},
    {"size", 0, OPTION_TEXT, "HxW", "height and width of the images", NETWORK(size)},
    {"dtype", 0, OPTION_CHOICE, "f32|bf16|f16|f64|tf32",
     "number format of compute; tf32 is f32 whose products may round (default: f32)", NETWORK(dtype)},
    {"streams", 0, OPTION_TEXT, "N|NAME,...",
     "input streams of a linet, or names of those of a linet or mcresnet (default: 3; train: those of the set)",
     NETWORK(streams)},
    {"channels", 0, OPTION_TEXT, "C,C,...", "channels of every input stream (default: 3,1,1,...)", NETWORK(channels)},
    {"classes", 0, OPTION_COUNT, "K", "classes (default: 15; lenet86: 10)", NETWORK(classes)},
    {"width", 0, OPTION_REAL, "F", "factor on all channels of a linet or mcresnet (default: 1)", NETWORK(width)},
    {"dropout", 0, OPTION_SHARE, "P", "rate of dropout before the classifier", NETWORK(dropout)},
    {"zero-init", 0, OPTION_FLAG, NULL, "every residual block begins as its shortcut", NETWORK(zero_init)},
    {"dilate", 0, OPTION_TEXT, "A,B,C", "1 where dilation replaces the stride of layer2, 3, 4 (default: 0,0,0)",
     NETWORK(dilate)},
    {"init", 0, OPTION_TEXT, "head|seed", "how a linet begins (default: head)", NETWORK(init)},
    {"fusion", 0, OPTION_CHOICE, "concat|weighted|gated", "how an mcresnet joins its streams (default: concat)",
     NETWORK(fusion)},
    {"layers", 0, OPTION_TEXT, "C,...,K",
     "widths of an mlp, from its input to its output (train: of the set, 256 between)", NETWORK(layers)},
    {"seed", 0, OPTION_SEED, "S", "of the initial parameters (default: 0)", NETWORK(seed)},
    {0}};
static const option format_options[] = {
    {"output", 'o', OPTION_CHOICE, "table|csv|json|md", "format of what is printed (default: table)", COMMON(format)},
    {0}};
static const option talk_options[] = {{"quiet", 'q', OPTION_FLAG, NULL, "no progress on standard error", COMMON(quiet)},
                                      {0}};
static const option detail_options[] = {{"verbose", 'v', OPTION_FLAG, NULL, "more detail", COMMON(verbose)}, {0}};
static const option help_options[] = {{"help", 'h', OPTION_FLAG, NULL, "this text", COMMON(help)}, {0}};

void options_each(const verb *v, void (*visit)(const option *o, void *user), void *user) {
    const option *const lists[] = {v->options,
                                   v->common & COMMON_NETWORK ? network_options_list : NULL,
                                   v->common & COMMON_FORMAT ? format_options : NULL,
                                   v->common & COMMON_CONTEXT ? context_options : NULL,
                                   v->common & COMMON_TALK ? talk_options : NULL,
                                   v->common & COMMON_DETAIL ? detail_options : NULL,
                                   help_options};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const option *o = lists[i]; o && o->name; o++) visit(o, user);
}

typedef struct lookup {
    const char *name;
    size_t length; /* of the name, up to a = */
    char letter;
    const option *found;
    char names[1024]; /* all of them, each behind a space */
} lookup;

static void look(const option *o, void *user) {
    lookup *l = user;
    size_t used = strlen(l->names);
    snprintf(l->names + used, sizeof l->names - used, " --%s", o->name);
    if (l->letter ? o->letter == l->letter : strlen(o->name) == l->length && !strncmp(o->name, l->name, l->length))
        l->found = o;
}

static int unknown_option(const verb *v, const char *typed, const lookup *l) {
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(typed, "="), typed);
    const char *nearest = nearest_word(word, l->names, " ");
    if (nearest)
        return complain(BRAID_ERROR_ARGUMENT, "unknown option %s; did you mean %s? (braid %s --help lists them)", word,
                        nearest, v->name);
    return complain(BRAID_ERROR_ARGUMENT, "unknown option %s; expected one of:%s", word, l->names);
}

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

static int parse_choice(const option *o, const char *text, int *out) {
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
    return bad_value(o, o->value, text);
}

static int set_value(const option *o, const char *text, void *values) {
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
        case OPTION_CHOICE: return parse_choice(o, text, variable);
    }
    return 0;
}

/* One option at argv[*index], which is moved to the last word it used. */
static int parse_option(const verb *v, int argc, char **argv, int *index, void *values, arguments *words) {
    const char *typed = argv[*index], *value = NULL;
    int is_long = typed[1] == '-';
    lookup l = {.name = typed + 2, .letter = is_long ? 0 : typed[1], .length = is_long ? strcspn(typed + 2, "=") : 0};
    options_each(v, look, &l);
    const option *o = l.found;
    if (!o) return unknown_option(v, typed, &l);
    if (words->given_count < MAX_ARGUMENTS) words->given[words->given_count++] = o;
    if (is_long && typed[2 + l.length] == '=')
        value = typed + 2 + l.length + 1;
    else if (!is_long && typed[2])
        value = typed + 2;
    if (o->kind == OPTION_FLAG)
        return value ? complain(BRAID_ERROR_ARGUMENT, "%s takes no value, got \"%s\"", typed, value)
                     : set_value(o, NULL, values);
    if (!value) {
        if (*index + 1 >= argc)
            return complain(BRAID_ERROR_ARGUMENT, "%s: expected %s behind it, got nothing", typed, o->value);
        value = argv[++*index];
    }
    return set_value(o, value, values);
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
    if (v->common & COMMON_NETWORK) *(double *)((char *)values + NETWORK(dropout)) = NETWORK_NOT_GIVEN;
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
