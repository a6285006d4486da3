/*
 * Suites: text files with one problem on each line, named like the file. They are found next to
 * the program, installed or not, and each line is parsed when the file is read, so that a mistake
 * in line 60 is told before line 1 is measured.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/lab.h"

#define SUITE_MAX_PROBLEMS 100000
#define SUITE_MAX_PATH 4096
#define SUITE_MAX_BYTES (16 << 20)

struct braid_suite {
    char *path;
    char **problems;
    int count;
};

int braid_suite_count(const braid_suite *suite) { return suite ? suite->count : 0; }

const char *braid_suite_problem(const braid_suite *suite, int index) {
    return suite && index >= 0 && index < suite->count ? suite->problems[index] : NULL;
}

const char *braid_suite_path(const braid_suite *suite) { return suite ? suite->path : NULL; }

void braid_suite_destroy(braid_suite *suite) {
    if (!suite) return;
    for (int i = 0; i < suite->count; i++) free(suite->problems[i]);
    free(suite->problems);
    free(suite->path);
    free(suite);
}

/* ---- where suites are --------------------------------------------------------------------- */

/* Calls use(folder) for each folder that may hold suites, until it returns 1. Returns that 1, or 0. */
static int each_folder(int (*use)(const char *folder, void *user), void *user) {
    static const char *const from_program[] = {"../share/braid/suites", "../bench/suites", "../../bench/suites"};
    char program[SUITE_MAX_PATH], folder[2 * SUITE_MAX_PATH];
    const char *list = getenv("BRAID_SUITE_PATH");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)(length < sizeof folder ? length : sizeof folder - 1), list);
        if (length > 0 && use(folder, user)) return 1;
        list += length + (list[length] == ':');
    }
    ssize_t bytes = readlink("/proc/self/exe", program, sizeof program - 1);
    if (bytes <= 0) return 0;
    program[bytes] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof from_program / sizeof from_program[0]; i++) {
        snprintf(folder, sizeof folder, "%s/%s", program, from_program[i]);
        if (use(folder, user)) return 1;
    }
    return 0;
}

typedef struct search {
    const char *name;
    char path[3 * SUITE_MAX_PATH];
} search;

static int holds_suite(const char *folder, void *user) {
    search *s = user;
    snprintf(s->path, sizeof s->path, "%s/%s.txt", folder, s->name);
    return access(s->path, R_OK) == 0;
}

/* The names so far, each behind a space. */
typedef struct name_list {
    char **names;
    size_t count;
    braid_status status;
} name_list;

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void add_name(name_list *list, const char *name, size_t length) {
    for (size_t i = 0; i < list->count; i++)
        if (strlen(list->names[i]) == length && !strncmp(list->names[i], name, length)) return;
    char *copy = strndup(name, length);
    if (!copy)
        list->status = lab_fail(BRAID_ERROR_MEMORY, "no memory for the name of a suite");
    else
        list->status = lab_resize((void **)&list->names, list->count + 1, sizeof *list->names);
    if (list->status)
        free(copy);
    else
        list->names[list->count++] = copy;
}

static int gather_names(const char *folder, void *user) {
    name_list *list = user;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    while (directory && !list->status && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && length > 4 && !strcmp(entry->d_name + length - 4, ".txt"))
            add_name(list, entry->d_name, length - 4);
    }
    if (directory) closedir(directory);
    return list->status != BRAID_OK;
}

/* A device or a pipe would never end. */
static braid_status check_regular(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        return lab_fail(BRAID_ERROR_DATA, "cannot open the suite %s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size > SUITE_MAX_BYTES)
        return lab_fail(BRAID_ERROR_DATA, "suite %s: expected a file of at most %d bytes, got %s", path,
                        SUITE_MAX_BYTES, S_ISREG(info.st_mode) ? "a larger one" : "something else");
    return BRAID_OK;
}

braid_status braid_suite_names(char **names) {
    name_list list = {0};
    lab_text text;
    if (!names) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_suite_names: expected a place for the names, got NULL");
    *names = NULL;
    LAB_TRY(lab_text_begin(&text));
    each_folder(gather_names, &list);
    if (list.count) qsort(list.names, list.count, sizeof *list.names, by_text);
    for (size_t i = 0; i < list.count; i++) {
        fprintf(text.stream, "%s%s", i ? " " : "", list.names[i]);
        free(list.names[i]);
    }
    free(list.names);
    return lab_text_end(&text, list.status, names);
}

static braid_status find_suite(const char *name, search *found) {
    size_t length = strlen(name);
    found->name = name;
    if (strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".txt"))) {
        snprintf(found->path, sizeof found->path, "%s", name);
        return BRAID_OK;
    }
    if (each_folder(holds_suite, found)) return BRAID_OK;
    char *names = NULL;
    LAB_TRY(braid_suite_names(&names));
    lab_fail(BRAID_ERROR_ARGUMENT,
             "no suite \"%s\"; expected one of: %s; or the path of a suite file, or a problem such as "
             "conv2d_fwd:f32:n3:b2:hw26x34:c64:k64:rs3x3:pad1",
             name, *names ? names : "(none was found; set BRAID_SUITE_PATH)");
    free(names);
    return BRAID_ERROR_ARGUMENT;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Cuts the comment and the space around what is left. */
static char *trim(char *line) {
    char *comment = strchr(line, '#');
    if (comment) *comment = 0;
    line += strspn(line, " \t\r\n");
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1])) line[--length] = 0;
    return line;
}

static braid_status add_line(braid_suite *suite, const char *text, int number) {
    braid_problem problem;
    char canonical[BRAID_PROBLEM_TEXT];
    braid_status status = braid_problem_parse(text, &problem);
    if (!status) status = braid_problem_print(&problem, canonical, sizeof canonical);
    if (status) return lab_fail(status, "%s, line %d: %s", suite->path, number, braid_message());
    if (suite->count == SUITE_MAX_PROBLEMS)
        return lab_fail(BRAID_ERROR_DATA, "%s: expected at most %d problems", suite->path, SUITE_MAX_PROBLEMS);
    LAB_TRY(lab_resize((void **)&suite->problems, (size_t)suite->count + 1, sizeof *suite->problems));
    LAB_TRY(lab_copy_text(canonical, &suite->problems[suite->count]));
    suite->count++;
    return BRAID_OK;
}

static braid_status read_lines(braid_suite *suite, FILE *file) {
    char *line = NULL;
    size_t room = 0;
    braid_status status = BRAID_OK;
    for (int number = 1; !status && getline(&line, &room, file) >= 0; number++) {
        const char *text = trim(line);
        if (*text) status = add_line(suite, text, number);
    }
    if (!status && ferror(file))
        status = lab_fail(BRAID_ERROR_DATA, "cannot read %s: %s", suite->path, strerror(errno));
    free(line);
    if (!status && suite->count == 0)
        status = lab_fail(BRAID_ERROR_DATA, "%s: expected a problem on each line, found none", suite->path);
    return status;
}

braid_status braid_suite_read(const char *name, braid_suite **suite) {
    search found;
    braid_suite *s = NULL;
    if (!suite) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_suite_read: expected a place for the suite, got NULL");
    *suite = NULL;
    if (!name || !*name) return lab_fail(BRAID_ERROR_ARGUMENT, "suite: expected a name or a path, got nothing");
    LAB_TRY(find_suite(name, &found));
    LAB_TRY(lab_new(sizeof *s, (void **)&s));
    braid_status status = lab_copy_text(found.path, &s->path);
    if (!status) status = check_regular(found.path);
    FILE *file = status ? NULL : fopen(found.path, "re");
    if (!status && !file)
        status = lab_fail(BRAID_ERROR_DATA, "cannot open the suite %s: %s", found.path, strerror(errno));
    if (!status) status = read_lines(s, file);
    if (file) fclose(file);
    if (status) {
        braid_suite_destroy(s);
        return status;
    }
    *suite = s;
    return BRAID_OK;
}
