/*
 * Rates as text and as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/rates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/reals.h"

void rates_of_net(const braid_net *net, rates_groups *groups) {
    int streams = braid_net_stream_count(net);
    for (int i = 0; i < streams; i++) groups->name[i] = braid_net_stream(net, i, NULL);
    groups->name[streams] = "integration";
    groups->name[streams + 1] = "shared";
    groups->count = streams + 2;
}

static braid_status no_group(const char *what, const rates_groups *groups, const char *name, int bytes) {
    char names[256] = "";
    for (int g = 0; g < groups->count; g++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", g ? ", " : "", groups->name[g]);
    }
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected a group of this network (%s), got \"%.*s\"", what, names, bytes,
                name);
}

/* One part of the list, `bytes` long. `named` has a bit for every group that came before, and one for all. */
static braid_status read_part(const char *part, int bytes, const char *what, const rates_groups *groups,
                              unsigned *named, double *values) {
    const char *sign = memchr(part, '=', (size_t)bytes), *number = sign ? sign + 1 : part;
    char *end;
    int first = 0, last = groups->count - 1;
    double value = real_read(number, &end);
    if (end == number || end != part + bytes || !(value >= 0) || !isfinite(value))
        return fail(BRAID_ERROR_ARGUMENT,
                    "%s: expected a number of 0 or more, or GROUP=NUMBER, commas between, got \"%.*s\"", what, bytes,
                    part);
    for (int g = 0; sign && g < groups->count; g++) {
        size_t length = strlen(groups->name[g]);
        if (length == (size_t)(sign - part) && !strncmp(groups->name[g], part, length)) first = last = g;
    }
    if (sign && first != last) return no_group(what, groups, part, (int)(sign - part));
    if (sign ? *named >> first & 1 : *named != 0)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected a number for all first and then every group once, got \"%.*s\"",
                    what, bytes, part);
    *named |= sign ? 1u << first : 1u << groups->count;
    for (int g = first; g <= last; g++) values[g] = value;
    return BRAID_OK;
}

braid_status rates_read(const char *text, const char *what, const rates_groups *groups, double *values) {
    double read[BRAID_MAX_GROUPS];
    unsigned named = 0;
    memcpy(read, values, (size_t)groups->count * sizeof *read);
    for (const char *at = text;; at++) {
        int bytes = (int)strcspn(at, ",");
        TRY(read_part(at, bytes, what, groups, &named, read));
        at += bytes;
        if (!*at) break;
    }
    memcpy(values, read, (size_t)groups->count * sizeof *read);
    return BRAID_OK;
}

void rates_print(const double *values, const rates_groups *groups, char text[RATES_TEXT_BYTES]) {
    char real[REAL_TEXT_BYTES];
    int same = 1;
    for (int g = 1; g < groups->count; g++) same &= values[g] == values[0];
    text[0] = 0;
    for (int g = 0; g < (same ? 1 : groups->count); g++) {
        size_t used = strlen(text);
        real_print(real, sizeof real, values[g]);
        snprintf(text + used, RATES_TEXT_BYTES - used, "%s%s%s%s", g ? "," : "", same ? "" : groups->name[g],
                 same ? "" : "=", real);
    }
}

json_t *rates_save(const braid_rates *rates, int count) {
    json_t *list = json_array();
    for (int g = 0; list && g < count; g++) {
        json_t *one = json_pack("[f, f, b]", rates[g].learning_rate, rates[g].weight_decay, rates[g].active);
        if (json_array_append_new(list, one) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

braid_status rates_load(const json_t *saved, int count, braid_rates *rates) {
    if (json_array_size(saved) != (size_t)count)
        return fail(BRAID_ERROR_MODEL, "rates: expected those of %d groups, got %zu", count, json_array_size(saved));
    for (int g = 0; g < count; g++) {
        const json_t *one = json_array_get(saved, (size_t)g);
        const json_t *rate = json_array_get(one, 0), *decay = json_array_get(one, 1), *active = json_array_get(one, 2);
        rates[g] = (braid_rates){json_number_value(rate), json_number_value(decay), json_is_true(active)};
        if (!json_is_number(rate) || !json_is_number(decay) || !json_is_boolean(active) ||
            !(rates[g].learning_rate >= 0) || !(rates[g].weight_decay >= 0))
            return fail(BRAID_ERROR_MODEL, "rates: expected two numbers of 0 or more and a boolean for group %d", g);
    }
    return BRAID_OK;
}
