/*
 * Where a path leads, also one that is not there yet.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

int path_is_same(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The path itself where it is there, else the nearest folder above it that is. */
static int find_place(const char *path, char real[PATH_MAX]) {
    char above[PATH_MAX];
    if (snprintf(above, sizeof above, "%s", path) >= (int)sizeof above) return 0;
    while (!realpath(above, real)) {
        char *slash = strrchr(above, '/');
        if (!slash && !strcmp(above, ".")) return 0;
        if (!slash)
            memcpy(above, ".", sizeof ".");
        else
            slash[slash == above] = 0; /* "/" stays */
        if (slash == above && !realpath(above, real)) return 0;
    }
    return 1;
}

int path_is_inside(const char *path, const char *folder) {
    struct stat info;
    char real[PATH_MAX];
    if (!folder || stat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || !find_place(path, real)) return 0;
    while (real[0]) {
        if (path_is_same(real, folder)) return 1;
        *strrchr(real, '/') = 0;
    }
    return path_is_same("/", folder);
}
