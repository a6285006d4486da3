/*
 * What the description of a network tells, as JSON that libbraid wrote: the fields in which that of a run differs from
 * what was typed, and how many outputs there are.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "train_options.h"

/* A field of the description of a network, its name and value in so many bytes; NULL: there is none of that name. No
 * text in a description has quotes within. */
static const char *find_field(const char *description, const char *name, size_t *bytes) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *value = strstr(description, key), *end = value;
    for (int quoted = 0, deep = 0; end && *end && (quoted || deep || (*end != ',' && *end != '}')); end++) {
        quoted ^= *end == '"';
        if (!quoted) deep += (*end == '[') - (*end == ']');
    }
    *bytes = value ? (size_t)(end - value) : 0;
    return value;
}

train_difference train_find_difference(const network_options *typed, const char *saved, const char *now) {
    const struct {
        const char *name;
        int given;
    } fields[] = {{"streams", typed->streams != NULL}, {"channels", typed->channels != NULL},
                  {"classes", typed->classes > 0},     {"width", typed->width > 0},
                  {"dropout", typed->dropout >= 0},    {"zero_init_residual", typed->zero_init},
                  {"dilate", typed->dilate != NULL},   {"init", typed->init != NULL},
                  {"fusion", typed->fusion > 0},       {"layers", typed->layers != NULL}};
    for (size_t j = 0; j < sizeof fields / sizeof fields[0]; j++) {
        train_difference d;
        d.saved = find_field(saved, fields[j].name, &d.saved_bytes);
        d.now = find_field(now, fields[j].name, &d.now_bytes);
        if (!fields[j].given || !d.saved || !d.now) continue;
        if (d.saved_bytes != d.now_bytes || memcmp(d.saved, d.now, d.now_bytes) != 0) return d;
    }
    return (train_difference){0};
}
