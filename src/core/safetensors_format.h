/*
 * What the reader and the writer of safetensors share: the header as it was parsed, and the checksum of
 * all that it says. Not for use outside of core/safetensors*.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_SAFETENSORS_FORMAT_H
#define BRAID_CORE_SAFETENSORS_FORMAT_H

#include <stdbool.h>

#include "core/safetensors.h"

#define SAFETENSORS_METADATA "__metadata__"
#define SAFETENSORS_CHECKSUM_START "xxh3:" /* then 16 digits for the header and 16 for each tensor, in order */
#define SAFETENSORS_DIGITS 16

typedef struct safetensors_pair {
    const char *key, *value;
} safetensors_pair;

typedef struct safetensors_header {
    safetensors_entry *entries;        /* in the order of their data */
    const safetensors_entry **by_name; /* sorted */
    size_t count;
    safetensors_pair *pairs; /* sorted by key */
    size_t pair_count;
} safetensors_header;

/*
 * Reads the text of a header that is followed by `data_bytes` bytes of data. Texts are decoded in place,
 * and the header borrows them. Memory is a small multiple of the text, whatever it holds. `what` names
 * the file in messages. On failure nothing is left to release.
 */
braid_status safetensors_header_read(char *text, size_t bytes, size_t data_bytes, const char *what,
                                     safetensors_header *header);
void safetensors_header_release(safetensors_header *header);

/* Length of the UTF-8 character at `at`, 1 to 4, or 0 where there is none that is whole and valid. */
int safetensors_utf8(const unsigned char *at, const unsigned char *end);

/* Refuses what cannot be a tensor's name or a key: none, too long, with control characters. */
braid_status safetensors_check_name(const char *name, const char *what, const char *kind, braid_status code);

/* Bytes of a tensor; false when they do not fit in 64 bits, dimensions of 0 counted as 1. */
bool safetensors_bytes(const safetensors_entry *entry, size_t *bytes);

/* Order of metadata, for qsort and bsearch. */
int safetensors_compare_pairs(const void *a, const void *b);

/* The checksum of everything in a header but the checksums: the pairs in the order of their keys, then the entries
 * in the order of their data. Begins with a hash of 0. */
uint64_t safetensors_hash_pair(uint64_t hash, const safetensors_pair *pair);
uint64_t safetensors_hash_entry(uint64_t hash, const safetensors_entry *entry);

#endif
