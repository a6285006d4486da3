/*
 * The case list of one op: tests/cases/<op>.txt and random problems, each canonical string once.
 *
 * A line of the file is a problem; "conv2d_*" stands for every pass of the op and a dtype of "*" for all
 * four. Empty lines and what follows a # are ignored.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_CASE_LIST_H
#define BRAID_TESTS_CASE_LIST_H

#include "ops/op.h"

/* In a list of fewer problems, as under the sanitizers, chance decides which passes, dtypes and options there are. */
#define CASE_LIST_ALL_KINDS 200

typedef struct case_list {
    braid_problem *problems;
    char **texts; /* canonical */
    int count, capacity;
    int written; /* how many of them come from the file */
    int *table;  /* open addressing by the hash of the text; -1: free */
    int table_size;
} case_list;

braid_status case_list_create(case_list *list, int capacity);
void case_list_destroy(case_list *list);

/* Adds a problem unless it is there; a full list is an error. */
braid_status case_list_add(case_list *list, const braid_problem *p);

/* Adds what a line of a case file stands for. */
braid_status case_list_add_line(case_list *list, braid_op_id op, const char *line);

braid_status case_list_read(case_list *list, braid_op_id op, const char *path);

/* Keeps `count` problems, evenly spaced, of a list that has more. */
void case_list_thin(case_list *list, int count);

/* Draws until the list holds `count`, every pass in turn and mostly small ones. */
braid_status case_list_draw(case_list *list, braid_op_id op, uint64_t seed, int count);

/* How many have several streams of unequal channels, and how many are masked. */
int case_list_unequal(const case_list *list);
int case_list_masked(const case_list *list);

/* The bytes of all operands of a problem. */
size_t case_bytes(const braid_problem *p);

/* A number that depends on a seed and a text. */
uint64_t case_seed(uint64_t seed, const char *text);

#endif
