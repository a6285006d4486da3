/*
 * Remembered choices.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/choices.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/memory.h"
#include "race/wisdom.h"

/* 0 is no problem's key: it marks a free place. */
static uint64_t key_of(const braid_problem *p) {
    char text[BRAID_PROBLEM_TEXT];
    if (braid_problem_print(p, text, sizeof text) != BRAID_OK) return 0;
    return XXH3_64bits(text, strlen(text)) | 1;
}

void choices_remember(braid_context *context, const braid_problem *p, const kernel *k) {
    uint64_t key = key_of(p);
    if (!key) return;
    choice *to = &context->choices[context->next_choice++ % CONTEXT_CHOICES];
    for (int j = 0; j < CONTEXT_CHOICES; j++) {
        if (context->choices[j].key == key) to = &context->choices[j];
    }
    *to = (choice){key, k};
}

static const kernel *from_wisdom(const braid_context *context, const braid_problem *p) {
    race *r = NULL;
    const kernel *found = NULL;
    const fail_kept kept = fail_keep();
    if (memory_alloc(1, sizeof *r, "race", (void **)&r) != BRAID_OK) {
        fail_put_back(&kept);
        return NULL;
    }
    race_list(context, p, r);
    if (wisdom_recall(context, p, r)) {
        int right = 0;
        do {
            race_decide(p, r);
            if (r->winner < 0) break;
            if (race_prove(context, p, &r->racers[r->winner], &right)) {
                fail_put_back(&kept);
                break;
            }
        } while (!right);
        if (right) found = r->racers[r->winner].kernel;
    }
    memory_free(r);
    return found;
}

const kernel *choices_find(void *context, const braid_problem *p) {
    const braid_context *c = context;
    uint64_t key = key_of(p);
    if (c->repro == BRAID_REPRO_THREADS) return NULL;
    for (int j = 0; key && j < CONTEXT_CHOICES; j++) {
        if (c->choices[j].key == key) return c->choices[j].kernel;
    }
    return from_wisdom(c, p);
}

const char *choices_exclude(const void *context, const kernel *k) { return context_excludes(context, k); }
