/*
 * The beginnings of tests, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/given.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/kernel.h"

static void succeed(braid_status status, const char *what) {
    if (status != BRAID_OK) fail_msg("%s: %s", what, braid_message());
}

braid_problem given_problem(const char *text) {
    braid_problem problem = {0};
    succeed(braid_problem_parse(text, &problem), text);
    return problem;
}

braid_context *given_context(const char *cache_dir, const char *disable) {
    braid_context *context = NULL;
    const braid_context_options options = {
        .device = "cpu", .threads = 1, .cache_dir = cache_dir, .disable = disable ? disable : ""};
    succeed(braid_context_create(&options, &context), "context");
    return context;
}

braid_op *given_op(braid_context *context, const char *text) {
    braid_op *op = NULL;
    const braid_problem problem = given_problem(text);
    succeed(braid_op_create(context, &problem, &op), text);
    return op;
}

const char *given_kernel(braid_op_id op, braid_pass pass, const char *vendor) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        int same_vendor = vendor ? k->vendor && strcmp(k->vendor, vendor) == 0 : !k->vendor;
        if (k->op == op && k->pass == pass && k->backend == KERNEL_CPU && same_vendor) return k->name;
    }
    fail_msg("no kernel of %s", vendor ? vendor : "our own");
    return NULL;
}

/* ---- Operands ----------------------------------------------------------------------------- */

given_memory given_operands(braid_context *context, const braid_op *op) {
    given_memory memory = {.context = context, .count = braid_op_operand_count(op)};
    for (int j = 0; j < memory.count; j++) {
        braid_operand_info info;
        succeed(braid_op_operand(op, j, &info), "operand");
        memory.operands[j].name = info.name;
        for (int i = 0; i < info.planes; i++) {
            succeed(braid_memory_create(context, info.bytes[i], &memory.operands[j].plane[i]), info.name);
            memset(memory.operands[j].plane[i], 0, info.bytes[i]);
        }
    }
    return memory;
}

void given_operands_destroy(given_memory *memory) {
    for (int j = 0; j < memory->count; j++) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++) braid_memory_destroy(memory->context, memory->operands[j].plane[i]);
    }
    *memory = (given_memory){0};
}

braid_operand *given_operand(given_memory *memory, const char *name) {
    for (int j = 0; j < memory->count; j++) {
        if (strcmp(memory->operands[j].name, name) == 0) return &memory->operands[j];
    }
    fail_msg("no operand %s", name);
    return NULL;
}

/* ---- Folders ------------------------------------------------------------------------------ */

const char *given_folder(void) {
    static char folder[256];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/braid_test_XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) fail_msg("could not make the folder %s", folder);
    return folder;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

void given_folder_remove(const char *folder) {
    if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) fail_msg("could not remove %s", folder);
}

int given_entries(const char *folder, const char *ending) {
    int count = 0;
    DIR *listing = opendir(folder);
    if (!listing) fail_msg("could not list %s", folder);
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        size_t length = strlen(entry->d_name), end = strlen(ending);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || length < end) continue;
        count += strcmp(entry->d_name + length - end, ending) == 0;
    }
    closedir(listing);
    return count;
}

/* ---- Messages ----------------------------------------------------------------------------- */

static void assert_printable(const char *message) {
    for (const char *at = message; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) fail_msg("control character %d in: %s", c, message);
    }
}

void assert_refused(braid_status got, braid_status expected, const char *words) {
    const char *message = braid_message();
    if (got != expected) {
        fail_msg("expected status %s and \"%s\", got %s: %s", braid_status_name(expected), words,
                 braid_status_name(got), got == BRAID_OK ? "no failure" : message);
    }
    assert_printable(message);
    while (*words) {
        char word[128];
        size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (!strstr(message, word)) fail_msg("expected \"%s\" in the message, got: %s", word, message);
        words += length + (words[length] == '|');
    }
}
