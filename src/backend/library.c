/*
 * The search for libraries at run time. The user's own folders come first, so that a bundle or a
 * newer build can be put in front of the distribution's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Opens the first file that matches `prefix` + `pattern` + one of the names; the pattern may hold stars. */
static void *open_matching(const char *prefix, const char *pattern, const char *const *names) {
    void *handle = NULL;
    for (int i = 0; !handle && names[i]; i++) {
        char path[PATH_MAX];
        glob_t found;
        int written = snprintf(path, sizeof path, "%s%s/%s", prefix, pattern, names[i]);
        if (written < 0 || (size_t)written >= sizeof path || glob(path, 0, NULL, &found) != 0) continue;
        for (size_t j = 0; !handle && j < found.gl_pathc; j++)
            handle = dlopen(found.gl_pathv[j], RTLD_NOW | RTLD_LOCAL);
        globfree(&found);
    }
    return handle;
}

/* The folder above bin/ of the first python3 on $PATH; "" where there is none. */
static void find_python(char prefix[PATH_MAX]) {
    const char *folder = getenv("PATH");
    prefix[0] = '\0';
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        int written = snprintf(prefix, PATH_MAX, "%.*s/python3", (int)length, folder);
        if (length > 0 && written > 0 && written < PATH_MAX && access(prefix, X_OK) == 0) {
            snprintf(prefix, PATH_MAX, "%.*s/..", (int)length, folder);
            return;
        }
        prefix[0] = '\0';
        folder += length;
        if (*folder == ':') folder++;
    }
}

void *library_open_cuda(const char *const *names) {
    static const char *const toolkit[] = {"/lib64", "/lib", "/targets/*-linux/lib"};
    static const char python[] = "/lib/python3*/site-packages/nvidia/*/lib";
    char beside_python[PATH_MAX];
    find_python(beside_python);
    const char *const toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    const char *const pythons[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), beside_python};
    void *handle = library_open(names);
    for (size_t i = 0; !handle && i < sizeof toolkits / sizeof toolkits[0]; i++) {
        for (size_t j = 0; !handle && toolkits[i] && *toolkits[i] && j < sizeof toolkit / sizeof toolkit[0]; j++)
            handle = open_matching(toolkits[i], toolkit[j], names);
    }
    for (size_t i = 0; !handle && i < sizeof pythons / sizeof pythons[0]; i++) {
        if (pythons[i] && *pythons[i]) handle = open_matching(pythons[i], python, names);
    }
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
