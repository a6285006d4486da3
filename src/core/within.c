/*
 * Where an open file really is, see the header. Links from one place of a folder to another of it are fine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/within.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

braid_status within_root(const char *folder, char **root) {
    char real[PATH_MAX];
    *root = NULL;
    if (!realpath(folder, real)) return fail(BRAID_ERROR_DATA, "%s: there is no such folder", folder);
    return memory_copy_text(real, root);
}

static bool lies_in(const char *root, const char *real) {
    size_t length = strlen(root);
    if (root[length - 1] == '/') length--; /* the folder of all folders */
    return strncmp(real, root, length) == 0 && (real[length] == '/' || real[length] == 0);
}

static void name_descriptor(int fd, char name[WITHIN_NAME]) { snprintf(name, WITHIN_NAME, "/proc/self/fd/%d", fd); }

const char *within_name(int fd, const char *path, char name[WITHIN_NAME]) {
    name_descriptor(fd, name);
    return access(name, F_OK) == 0 ? name : path;
}

/* As the system knows the open file, or, where it does not tell, as its path is now. */
static bool find_real(int fd, const char *path, char real[PATH_MAX]) {
    char name[WITHIN_NAME];
    name_descriptor(fd, name);
    ssize_t length = readlink(name, real, PATH_MAX);
    if (length > 0 && length < PATH_MAX && real[0] == '/') {
        real[length] = 0;
        return true;
    }
    return realpath(path, real) != NULL;
}

/* The last part of a path that is a link, as a path, and what it says. */
static void find_link(const char *path, char link[PATH_MAX], char target[PATH_MAX]) {
    size_t length = strlen(path);
    snprintf(link, PATH_MAX, "%s", path);
    target[0] = 0;
    while (length > 0 && length < PATH_MAX) {
        link[length] = 0;
        ssize_t bytes = readlink(link, target, PATH_MAX - 1);
        target[bytes > 0 ? bytes : 0] = 0;
        if (bytes > 0) return;
        while (length > 0 && link[length] != '/') length--;
    }
}

braid_status within_check(const char *root, int fd, const char *path, braid_status code) {
    char real[PATH_MAX], link[PATH_MAX], target[PATH_MAX];
    if (!root || !find_real(fd, path, real))
        return root ? fail(code, "%s: could not tell where it is", path) : BRAID_OK;
    if (lies_in(root, real)) return BRAID_OK;
    find_link(path, link, target);
    if (!target[0]) return fail(code, "%.1000s: expected a place in %.1000s, got %.1000s", path, root, real);
    if (strcmp(link, path) == 0)
        return fail(code, "%.1000s: expected a place in %.1000s, got a link to %.1000s; put a copy there", path, root,
                    target);
    return fail(code,
                "%.1000s: expected a place in %.1000s, got one through the link %.1000s to %.1000s; put a copy there",
                path, root, link, target);
}
