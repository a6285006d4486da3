/*
 * What tests of the public interface begin with: a problem from text, a context, an empty folder of the
 * test's own, and assertions on the message of a failure. A step that does not succeed fails the test.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_GIVEN_H
#define BRAID_TESTS_GIVEN_H

#include "braid.h"

/* A problem that the text must name. */
braid_problem given_problem(const char *text);

/* A CPU context with 1 thread (quick on a busy machine). cache_dir "" keeps no wisdom; disable may be NULL. */
braid_context *given_context(const char *cache_dir, const char *disable);

/* An op of the problem that the text names. */
braid_op *given_op(braid_context *context, const char *text);

/* The name of the first CPU kernel of an op and pass of that vendor; NULL: of ours, the reference not counted. */
const char *given_kernel(braid_op_id op, braid_pass pass, const char *vendor);

/* Every operand of an op with memory of its own, zeroed: operand j is named as braid_op_operand(op, j) says. */
typedef struct given_memory {
    braid_context *context;
    braid_operand operands[16];
    int count;
} given_memory;

given_memory given_operands(braid_context *context, const braid_op *op);
void given_operands_destroy(given_memory *memory);

/* The operand of that name; the test fails where there is none. */
braid_operand *given_operand(given_memory *memory, const char *name);

/* A new empty folder below the system's temporary folder, mode 0700; removed with all it holds. */
const char *given_folder(void); /* the same text until the next call */
void given_folder_remove(const char *folder);

/* Entries of a folder whose names end so; "" counts all but . and .. */
int given_entries(const char *folder, const char *ending);

/* The status is the expected one, and the message holds every word ("a|b" separates words) and no control character. */
void assert_refused(braid_status got, braid_status expected, const char *words);

#endif
