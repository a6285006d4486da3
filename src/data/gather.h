/*
 * Files that a user names, as the samples of a set: which file is which stream of which sample.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_GATHER_H
#define BRAID_DATA_GATHER_H

#include "data/data.h"

/* Fills `files` of a set whose streams are known from words: FILE, FOLDER, STREAM=FILE or STREAM=FOLDER, or a folder
 * with a folder for each stream. Files of a folder come by name, and only those with one of the kind's endings; those
 * of several streams must have the same names but for their endings. Every stream ends up with as many files. */
braid_status gather_files(braid_data *d, const char *const *words, int count);
void gathered_free(gathered *files, int streams);

#endif
