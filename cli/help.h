/*
 * The text of help in its forms: for people, as man pages, as a Markdown page and as a completion for bash. All are
 * made from the tables that the parser reads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_HELP_H
#define BRAID_CLI_HELP_H

#include "cli.h"

/* Two columns of text for the front page: exit codes and what they mean, variables of the environment. */
typedef struct help_row {
    const char *name, *meaning; /* NULL ends a list */
} help_row;
extern const help_row help_exits[], help_environment[];

extern const char help_intro[];    /* what braid is */
extern const char help_problems[]; /* what a problem is, with examples */

/* Calls `paragraph` for each paragraph of a text whose lines were broken by hand, joined into one line. */
void help_paragraphs(const char *text, void (*paragraph)(const char *line, FILE *out), FILE *out);

/* Calls `line` for each line of a text. */
void help_lines(const char *text, void (*line)(const char *line, FILE *out), FILE *out);

void help_markdown(FILE *out);           /* docs/cli_reference.md */
void help_man(const verb *v, FILE *out); /* braid-VERB.1; NULL: braid.1 */
void help_bash(FILE *out);               /* the completion */

#endif
