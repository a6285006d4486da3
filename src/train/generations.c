/*
 * Two generations. A save gives the newest file a second, temporary name, replaces the newest atomically, and
 * then renames the second name to the older generation: at every moment two different whole files have their
 * names, or one in a run's first save. Where the file system has no hard links, the newest is renamed to the older
 * generation first, and is found there if the save is killed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/generations.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/temporaries.h"

#define INFIX ".previous"
#define MESSAGE_BYTES 512 /* of a reason within a message */

/* last.safetensors -> last.previous.safetensors */
static braid_status previous_name(const char *newest, char **previous) {
    size_t room;
    void *memory;
    const char *slash = strrchr(newest, '/'), *base = slash ? slash + 1 : newest;
    const char *dot = strrchr(base, '.');
    size_t stem = dot && dot > base ? (size_t)(dot - newest) : strlen(newest);
    if (!size_add(strlen(newest), sizeof INFIX, &room))
        return fail(BRAID_ERROR_MEMORY, "path: expected a length that fits in 64 bits");
    TRY(memory_alloc(room, 1, "a path", &memory));
    *previous = memory;
    snprintf(*previous, room, "%.*s%s%s", (int)stem, newest, INFIX, newest + stem);
    return BRAID_OK;
}

braid_status generations_open(generations *g, const char *folder, const char *name, generations_check *check,
                              void *user) {
    int removed;
    *g = (generations){.check = check, .user = user};
    TRY(files_join(folder, name, &g->newest));
    braid_status status = previous_name(g->newest, &g->previous);
    const fail_kept before = fail_keep();
    if (status == BRAID_OK) status = temporaries_sweep(folder, &removed);
    if (status == BRAID_ERROR_DISK) { /* what cannot be swept stays */
        fail_put_back(&before);
        status = BRAID_OK;
    }
    if (status != BRAID_OK) generations_close(g);
    return status;
}

void generations_close(generations *g) {
    memory_free(g->newest);
    memory_free(g->previous);
    *g = (generations){0};
}

/* ---- Finding ------------------------------------------------------------------------------ */

/* One that cannot be told of counts as there: it is opened, and the reason told. */
static bool is_there(const char *path) { return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR); }

/* *good: the file is there and whole; else the message says why not. Fails only where that cannot be told. */
static braid_status look(const generations *g, const char *path, bool *good) {
    *good = false;
    if (!is_there(path)) {
        fail(BRAID_ERROR_MODEL, "%s: there is no such file", path);
        return BRAID_OK;
    }
    braid_status status = g->check(path, g->user);
    *good = status == BRAID_OK;
    return status == BRAID_ERROR_MODEL || status == BRAID_ERROR_DATA ? BRAID_OK : status;
}

braid_status generations_find(generations *g, const char **path, bool *fell_back) {
    bool good;
    char why[MESSAGE_BYTES];
    const fail_kept before = fail_keep();
    *path = NULL;
    *fell_back = false;
    TRY(look(g, g->newest, &g->known_good));
    if (g->known_good) {
        *path = g->newest;
        return BRAID_OK;
    }
    if (!is_there(g->newest) && !is_there(g->previous)) {
        fail_put_back(&before);
        return BRAID_OK;
    }
    snprintf(why, sizeof why, "%s", braid_message());
    TRY(look(g, g->previous, &good));
    if (!good)
        return fail(BRAID_ERROR_MODEL, "expected a whole file in one of two generations, got: %s; and: %s", why,
                    braid_message());
    *path = g->previous;
    *fell_back = true;
    return fail(BRAID_OK, "%s; went back to %s", why, g->previous);
}

/* ---- Saving ------------------------------------------------------------------------------- */

/* Where the newest is while it is replaced. */
typedef struct kept {
    char *aside; /* a second name of it, NULL: none */
    bool moved;  /* it was renamed to the older generation, for want of second names */
} kept;

static braid_status keep_newest(generations *g, kept *k) {
    bool refused;
    const fail_kept before = fail_keep();
    if (!g->known_good) TRY(look(g, g->newest, &g->known_good));
    if (!g->known_good) {
        fail_put_back(&before);
        return BRAID_OK;
    }
    TRY(files_link_aside(g->newest, &k->aside, &refused));
    if (!refused) return BRAID_OK;
    k->moved = true; /* also where the rename is done, and only the sync that ends it failed */
    return files_rename(g->newest, g->previous);
}

/* After a failed write: the newest is what it was. Both calls may fail without harm, so the message stays. */
static void put_back(const generations *g, const kept *k) {
    char why[MESSAGE_BYTES];
    snprintf(why, sizeof why, "%s", braid_message());
    braid_status status = k->aside ? files_remove(k->aside) : BRAID_OK;
    if (k->moved && !is_there(g->newest)) status = files_rename(g->previous, g->newest);
    if (status != BRAID_OK) fail(status, "%s", why);
}

/* Two names of one file stay when one is renamed to the other; so the temporary one is removed in any case. */
static braid_status become_previous(const generations *g, const kept *k) {
    char why[MESSAGE_BYTES];
    if (!k->aside) return BRAID_OK;
    braid_status status = files_rename(k->aside, g->previous);
    snprintf(why, sizeof why, "%s", braid_message());
    files_remove(k->aside); /* one that stays is swept at the next start */
    if (status == BRAID_OK) return BRAID_OK;
    return fail(status, "%s: the new file is in place, but the one before it may not be kept: %s", g->newest, why);
}

braid_status generations_save(generations *g, generations_write *put, void *user) {
    kept k = {0};
    braid_status status = keep_newest(g, &k);
    if (status == BRAID_OK) status = put(g->newest, user);
    if (status == BRAID_OK) {
        g->known_good = true;
        status = become_previous(g, &k);
    } else {
        put_back(g, &k);
    }
    memory_free(k.aside);
    return status;
}
