/*
 * The search for libraries at run time. The user's own folders come first, so that a bundle or a
 * newer build can be put in front of the distribution's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/files.h"
#include "core/memory.h"

#define MOST_HEADERS 64    /* program headers of a library */
#define MOST_NOTE 4096     /* bytes of a segment of notes */
#define PIECE_BYTES 262144 /* of a file that is hashed */

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

/* The folder above bin/ of the first python3 on $PATH; "" where there is none. A relative folder, such as the one that
 * we happen to be in, is none: what lies there was not installed by anybody. */
static void find_python(char prefix[PATH_MAX]) {
    const char *folder = getenv("PATH");
    prefix[0] = '\0';
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        int written = snprintf(prefix, PATH_MAX, "%.*s/python3", (int)length, folder);
        if (*folder == '/' && written > 0 && written < PATH_MAX && access(prefix, X_OK) == 0) {
            snprintf(prefix, PATH_MAX, "%.*s/..", (int)length, folder);
            return;
        }
        prefix[0] = '\0';
        folder += length;
        if (*folder == ':') folder++;
    }
}

static int is_absolute(const char *folder) { return folder && *folder == '/'; }

void *library_open_cuda(const char *const *names) {
    static const char *const toolkit[] = {"/lib64", "/lib", "/targets/*-linux/lib"};
    static const char python[] = "/lib/python3*/site-packages/nvidia/*/lib";
    char beside_python[PATH_MAX];
    find_python(beside_python);
    const char *const toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    const char *const pythons[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), beside_python};
    void *handle = library_open(names);
    for (size_t i = 0; !handle && i < sizeof toolkits / sizeof toolkits[0]; i++) {
        for (size_t j = 0; !handle && is_absolute(toolkits[i]) && j < sizeof toolkit / sizeof toolkit[0]; j++)
            handle = open_matching(toolkits[i], toolkit[j], names);
    }
    for (size_t i = 0; !handle && i < sizeof pythons / sizeof pythons[0]; i++) {
        if (is_absolute(pythons[i])) handle = open_matching(pythons[i], python, names);
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

/* ---- Which file it is ----------------------------------------------------------------------- */

/* The build id in a segment of notes. 0: there is none. */
static uint64_t build_id_in(const unsigned char *notes, size_t bytes) {
    size_t at = 0;
    while (bytes - at > sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        size_t name = ((size_t)head.n_namesz + 3) & ~(size_t)3, data = ((size_t)head.n_descsz + 3) & ~(size_t)3;
        if (name > bytes - at || data > bytes - at - name) return 0;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(notes + at, "GNU", 4) == 0 && data > 0)
            return XXH3_64bits(notes + at + name, head.n_descsz) | 1;
        at += name + data;
    }
    return 0;
}

static uint64_t read_build_id(const files_input *in) {
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    unsigned char notes[MOST_NOTE];
    uint64_t found = 0;
    if (in->bytes < sizeof head || files_input_read(in, 0, &head, sizeof head)) return 0;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return 0;
    if (head.e_phentsize != sizeof segment || head.e_phnum > MOST_HEADERS) return 0;
    for (size_t i = 0, at = head.e_phoff; i < head.e_phnum && !found; i++, at += sizeof segment) {
        if (files_input_read(in, at, &segment, sizeof segment)) return 0;
        if (segment.p_type != PT_NOTE || segment.p_filesz > sizeof notes) continue;
        if (files_input_read(in, segment.p_offset, notes, segment.p_filesz)) continue;
        found = build_id_in(notes, segment.p_filesz);
    }
    return found;
}

static uint64_t hash_content(const files_input *in) {
    XXH3_state_t state;
    unsigned char *piece;
    if (memory_alloc(PIECE_BYTES, 1, "a piece of a library", (void **)&piece)) return 0;
    XXH3_64bits_reset(&state);
    for (size_t at = 0, part; at < in->bytes; at += part) {
        part = in->bytes - at < PIECE_BYTES ? in->bytes - at : PIECE_BYTES;
        if (files_input_read(in, at, piece, part)) break;
        XXH3_64bits_update(&state, piece, part);
    }
    memory_free(piece);
    return XXH3_64bits_digest(&state) | 1;
}

uint64_t library_fingerprint(const char *path) {
    files_input in;
    const fail_kept kept = fail_keep();
    uint64_t found = 0;
    if (path && files_input_open(&in, path, BRAID_ERROR_DEVICE) == BRAID_OK) {
        found = read_build_id(&in);
        if (!found) found = hash_content(&in);
        files_input_close(&in);
    }
    fail_put_back(&kept);
    return found;
}

uint64_t library_fingerprint_parts(const char *path, const char *pattern) {
    char all[PATH_MAX];
    glob_t found;
    uint64_t parts = 0;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!slash) return 0;
    int written = snprintf(all, sizeof all, "%.*s/%s", (int)(slash - path), path, pattern);
    if (written < 0 || (size_t)written >= sizeof all || glob(all, 0, NULL, &found) != 0) return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat info;
        if (lstat(found.gl_pathv[i], &info) != 0 || S_ISLNK(info.st_mode)) continue; /* another name of one of them */
        const uint64_t one[2] = {parts, library_fingerprint(found.gl_pathv[i])};
        parts = XXH3_64bits(one, sizeof one);
    }
    globfree(&found);
    return parts;
}
