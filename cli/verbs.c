/*
 * The list of verbs, and what they say when something fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <string.h>

#include "cli.h"

const verb *const verbs[] = {&verb_doctor,  &verb_demo,  &verb_data,    &verb_train,   &verb_eval,    &verb_predict,
                             &verb_convert, &verb_bench, &verb_compare, &verb_explain, &verb_profile, &verb_tune,
                             &verb_check,   &verb_help,  &verb_version, NULL};

static const char *complaining_verb;

void complain_as(const char *verb_name) { complaining_verb = verb_name; }

int complain(int code, const char *format, ...) {
    char text[4096];
    va_list arguments_list;
    va_start(arguments_list, format);
    vsnprintf(text, sizeof text, format, arguments_list);
    va_end(arguments_list);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\n') *c = '?'; /* what was typed must not steer the terminal */
    output_broken(); /* what was printed comes first; why it could not be is kept */
    fprintf(stderr, "braid%s%s: %s\n", complaining_verb ? " " : "", complaining_verb ? complaining_verb : "", text);
    return code;
}

int complain_braid(braid_status status) { return complain((int)status, "%s", braid_message()); }

int complain_lab(braid_status status) { return complain((int)status, "%s", braid_lab_message()); }

int context_open(const common_options *options, braid_context **context) {
    const braid_context_options wanted = {.device = options->device,
                                          .threads = options->threads,
                                          .repro = (braid_repro)options->repro,
                                          .cache_dir = options->cache_dir,
                                          .disable = options->disable};
    braid_status status = braid_context_create(&wanted, context);
    return status ? complain_braid(status) : 0;
}

const verb *verb_find(const char *name) {
    for (int i = 0; verbs[i]; i++)
        if (!strcmp(verbs[i]->name, name)) return verbs[i];
    return NULL;
}

int verb_unknown(const char *name) {
    char names[256] = "";
    for (int i = 0; verbs[i]; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", verbs[i]->name);
    }
    const char *nearest = nearest_word(name, names, " ");
    if (nearest)
        return complain(BRAID_ERROR_ARGUMENT, "unknown verb \"%s\"; did you mean \"%s\"? Expected one of:%s", name,
                        nearest, names);
    return complain(BRAID_ERROR_ARGUMENT, "unknown verb \"%s\"; expected one of:%s", name, names);
}
