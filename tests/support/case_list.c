/*
 * Reading and drawing the case list.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/case_list.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "ops/op.h"

uint64_t case_seed(uint64_t seed, const char *text) {
    uint64_t hash = 14695981039346656037u ^ seed; /* FNV-1a */
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

braid_status case_list_create(case_list *list, int capacity) {
    *list = (case_list){.capacity = capacity, .table_size = 4 * capacity};
    braid_status status = memory_alloc((size_t)capacity, sizeof *list->problems, "case list", (void **)&list->problems);
    if (!status) status = memory_calloc((size_t)capacity, sizeof *list->texts, "case list", (void **)&list->texts);
    if (!status) {
        status = memory_alloc((size_t)list->table_size, sizeof *list->table, "case list", (void **)&list->table);
    }
    if (status) {
        case_list_destroy(list);
        return status;
    }
    for (int i = 0; i < list->table_size; i++) list->table[i] = -1;
    return BRAID_OK;
}

void case_list_destroy(case_list *list) {
    for (int i = 0; i < list->count; i++) memory_free(list->texts[i]);
    memory_free(list->problems);
    memory_free(list->texts);
    memory_free(list->table);
    *list = (case_list){0};
}

/* The entry of a text in the table, or the free one where it belongs. */
static int find(const case_list *list, const char *text) {
    int at = (int)(case_seed(0, text) % (uint64_t)list->table_size);
    while (list->table[at] >= 0 && strcmp(list->texts[list->table[at]], text) != 0) at = (at + 1) % list->table_size;
    return at;
}

braid_status case_list_add(case_list *list, const braid_problem *p) {
    char text[BRAID_PROBLEM_TEXT];
    TRY(braid_problem_print(p, text, sizeof text));
    int at = find(list, text);
    if (list->table[at] >= 0) return BRAID_OK;
    if (list->count == list->capacity) {
        return fail(BRAID_ERROR_ARGUMENT, "case list: expected at most %d problems, got more", list->capacity);
    }
    TRY(memory_copy_text(text, &list->texts[list->count]));
    list->problems[list->count] = *p;
    list->table[at] = list->count++;
    return BRAID_OK;
}

/* ---- The file ------------------------------------------------------------------------------ */

static braid_status add_text(case_list *list, braid_op_id op, const char *text) {
    braid_problem p;
    TRY(braid_problem_parse(text, &p));
    if (p.op != op) {
        return fail(BRAID_ERROR_ARGUMENT, "case list: expected problems of %s, got \"%.64s\"", braid_op_id_name(op),
                    text);
    }
    return case_list_add(list, &p);
}

/* One text for each of the four dtypes where the dtype is "*". */
static braid_status add_dtypes(case_list *list, braid_op_id op, const char *text) {
    const char *star = strstr(text, ":*");
    if (!star) return add_text(list, op, text);
    for (int dtype = BRAID_DTYPE_F32; dtype <= BRAID_DTYPE_F64; dtype++) {
        char one[BRAID_PROBLEM_TEXT];
        snprintf(one, sizeof one, "%.*s:%s%s", (int)(star - text), text, braid_dtype_name((braid_dtype)dtype),
                 star + 2);
        TRY(add_text(list, op, one));
    }
    return BRAID_OK;
}

braid_status case_list_add_line(case_list *list, braid_op_id op, const char *line) {
    const char *star = strstr(line, "_*");
    if (!star) return add_dtypes(list, op, line);
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
        char one[BRAID_PROBLEM_TEXT];
        if (!braid_pass_name(op, (braid_pass)pass)) continue;
        snprintf(one, sizeof one, "%.*s_%s%s", (int)(star - line), line, braid_pass_name(op, (braid_pass)pass),
                 star + 2);
        TRY(add_dtypes(list, op, one));
    }
    return BRAID_OK;
}

braid_status case_list_read(case_list *list, braid_op_id op, const char *path) {
    char line[BRAID_PROBLEM_TEXT];
    FILE *file = fopen(path, "r");
    if (!file) {
        return fail(BRAID_ERROR_DATA, "case list: expected to read %s; run this from the root of the source tree",
                    path);
    }
    braid_status status = BRAID_OK;
    while (status == BRAID_OK && fgets(line, sizeof line, file)) {
        line[strcspn(line, "# \t\n")] = '\0';
        if (line[0]) status = case_list_add_line(list, op, line);
    }
    fclose(file);
    list->written = list->count;
    return status;
}

void case_list_thin(case_list *list, int count) {
    int had = list->count, kept = 0;
    if (had <= count) return;
    for (int j = 0; j < had; j++) {
        if ((int64_t)j * count / had >= kept) {
            list->problems[kept] = list->problems[j];
            list->texts[kept++] = list->texts[j];
        } else {
            memory_free(list->texts[j]);
        }
    }
    list->count = list->written = kept;
    for (int i = 0; i < list->table_size; i++) list->table[i] = -1;
    for (int j = 0; j < kept; j++) list->table[find(list, list->texts[j])] = j;
}

/* ---- Random problems ----------------------------------------------------------------------- */

#define LARGE_BYTES 32768
#define LARGE_KEPT 8

size_t case_bytes(const braid_problem *p) {
    size_t bytes = 0;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        braid_operand_info info = {0};
        if (op_role(p, slot) == ROLE_NONE || op_operand_info(p, slot, &info) != BRAID_OK) continue;
        for (int i = 0; i < info.planes; i++) bytes += info.bytes[i];
    }
    return bytes;
}

/* Large problems show little more than small ones and would take most of the time: one of eight stays. */
static int is_kept(const braid_problem *p, int *large) {
    return case_bytes(p) <= LARGE_BYTES || (*large)++ % LARGE_KEPT == 0;
}

braid_status case_list_draw(case_list *list, braid_op_id op, uint64_t seed, int count) {
    const op_info *o = op_find(op);
    int large = 0;
    for (uint64_t draw = 0; list->count < count; draw++) {
        braid_pass pass = (braid_pass)(draw % BRAID_PASS_COUNT);
        braid_problem p;
        if (draw > 100 * (uint64_t)count) {
            return fail(BRAID_ERROR_CHECK, "case list: expected %d distinct problems of %s, got %d of %llu draws",
                        count, o->name, list->count, (unsigned long long)draw);
        }
        if (!(o->passes & (1u << pass))) continue;
        TRY(braid_problem_draw(op, pass, seed * 1000003u + draw, &p));
        if (is_kept(&p, &large)) TRY(case_list_add(list, &p));
    }
    return BRAID_OK;
}

/* ---- The mix ------------------------------------------------------------------------------- */

int case_list_unequal(const case_list *list) {
    int count = 0;
    for (int j = 0; j < list->count; j++) {
        const braid_problem *p = &list->problems[j];
        int unequal = 0;
        for (int i = 1; i < p->streams; i++) {
            unequal |= p->in_channels[i] != p->in_channels[0] || p->out_channels[i] != p->out_channels[0];
        }
        count += unequal;
    }
    return count;
}

int case_list_masked(const case_list *list) {
    int count = 0;
    for (int j = 0; j < list->count; j++) count += list->problems[j].mask;
    return count;
}
