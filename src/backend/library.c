/*
 * The search for libraries at run time. The user's own folders come first, so that a bundle or a
 * newer build can be put in front of the distribution's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens `name` in one folder of a path list; the folder has `length` characters. */
static void *open_in(const char *folder, size_t length, const char *name) {
    char path[PATH_MAX];
    int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    if (written < 0 || (size_t)written >= sizeof path) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_in_user_folders(const char *const *names) {
    const char *folder = getenv("BRAID_LIBRARY_PATH");
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        for (int i = 0; length > 0 && length < PATH_MAX && names[i]; i++) {
            const char *slash = strrchr(names[i], '/');
            void *handle = open_in(folder, length, slash ? slash + 1 : names[i]);
            if (handle) return handle;
        }
        folder += length;
        if (*folder == ':') folder++;
    }
    return NULL;
}

void *library_open(const char *const *names) {
    void *handle = open_in_user_folders(names);
    for (int i = 0; !handle && names[i]; i++) handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

int library_symbol(void *handle, const char *name, void *function) {
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

int library_file(void *handle, char *file, size_t bytes) {
    struct link_map *map = NULL;
    char resolved[PATH_MAX];
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return 0;
    const char *found = realpath(map->l_name, resolved) ? resolved : map->l_name;
    size_t length = strlen(found);
    if (length == 0 || length >= bytes) return 0;
    memcpy(file, found, length + 1);
    return 1;
}
