/*
 * Large blocks of memory, written and compared by all threads: the operands of a race on a GPU are gigabytes, and one
 * thread would need longer for them than the race itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_BLOCKS_H
#define BRAID_CORE_BLOCKS_H

#include <stddef.h>

void block_set(void *block, unsigned char value, size_t bytes);

/* 1 where two blocks hold the same bytes. */
int block_same(const void *a, const void *b, size_t bytes);

#endif
