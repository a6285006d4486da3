/*
 * Model files: safetensors, read and written. A file is eight bytes with the length of a JSON header, the
 * header (for each tensor a dtype, a shape and where its data lies; a few texts under "__metadata__"), and
 * the data, little-endian, in C order. Nothing in a file is trusted, and nothing of it is run.
 *
 * A file that braid writes carries checksums of its header and of every tensor ("braid.checksum" in the
 * metadata), which are verified when they are there, and a mark ("braid.written") that says that they must be: a
 * flipped bit in the key of the checksums does not switch them off. Damaged files are BRAID_ERROR_MODEL.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_SAFETENSORS_H
#define BRAID_CORE_SAFETENSORS_H

#include "core/status.h"

#define SAFETENSORS_MAX_RANK 8
#define SAFETENSORS_MAX_NAME 1023             /* bytes of a tensor's name and of a metadata key */
#define SAFETENSORS_MAX_TENSORS 1000000       /* and as many metadata pairs */
#define SAFETENSORS_MAX_HEADER 100000000      /* bytes, as the reference implementation has it */
#define SAFETENSORS_CHECKSUM "braid.checksum" /* metadata that the write adds and the read verifies */
#define SAFETENSORS_MARK "braid.written"      /* metadata that the write adds: there must be checksums */
#define SAFETENSORS_NET "braid.net"           /* metadata: the network, as braid_net_describe tells it */

/* One tensor of a file. A rank of 0 is a scalar; a dimension of 0 a tensor without data. */
typedef struct safetensors_entry {
    const char *name; /* UTF-8 without control characters */
    braid_dtype dtype;
    int rank;
    int64_t dims[SAFETENSORS_MAX_RANK]; /* slowest first */
    size_t begin, end;                  /* bytes, counted from the end of the header */
} safetensors_entry;

/* Is it a key of the metadata that the write adds by itself? */
int safetensors_is_own_key(const char *key);

/* "F32" for BRAID_DTYPE_F32; NULL for a value out of range. */
const char *safetensors_dtype_name(braid_dtype dtype);

/* ---- Reading ------------------------------------------------------------------------------ */

typedef struct safetensors safetensors;

/* Reads and checks the header of a file that stays open, or of one in memory, which is borrowed. */
braid_status safetensors_open(const char *path, safetensors **file);
braid_status safetensors_open_memory(const void *data, size_t bytes, safetensors **file);
void safetensors_close(safetensors *file); /* NULL is fine */

/* The tensors in the order of their data; borrowed from the file. find gives NULL where there is no such name. */
size_t safetensors_count(const safetensors *file);
const safetensors_entry *safetensors_at(const safetensors *file, size_t index);
const safetensors_entry *safetensors_find(const safetensors *file, const char *name);

/* A text of the metadata, or NULL; all of them by index, in the order of their keys. Borrowed from the file. */
const char *safetensors_metadata(const safetensors *file, const char *key);
size_t safetensors_metadata_count(const safetensors *file);
const char *safetensors_metadata_at(const safetensors *file, size_t index, const char **key);

/* 1: the file has checksums, and safetensors_read verifies what it reads. */
int safetensors_has_checksums(const safetensors *file);

/* All data of one of the file's tensors: end - begin bytes. */
braid_status safetensors_read(const safetensors *file, const safetensors_entry *entry, void *to);

/* Reads one tensor's data in small pieces and keeps nothing: is all of it there, and does its checksum match? */
braid_status safetensors_verify(const safetensors *file, const safetensors_entry *entry);

/* ---- Writing ------------------------------------------------------------------------------ */

typedef struct safetensors_writer safetensors_writer;

/* Gives `bytes` bytes of a tensor from `offset` on; asked for in order, each byte once. */
typedef braid_status safetensors_source(void *user, size_t offset, void *to, size_t bytes);

/* A tensor to be written. The name is copied; data or user is borrowed until the write. */
typedef struct safetensors_tensor {
    const char *name;
    braid_dtype dtype;
    int rank;
    int64_t dims[SAFETENSORS_MAX_RANK];
    const void *data; /* NULL: the source gives the data, or there is none */
    safetensors_source *source;
    void *user;
} safetensors_tensor;

braid_status safetensors_writer_create(safetensors_writer **writer);
void safetensors_writer_destroy(safetensors_writer *writer); /* NULL is fine */
braid_status safetensors_writer_add(safetensors_writer *writer, const safetensors_tensor *tensor);

/* Copies both texts. Every key once. */
braid_status safetensors_writer_metadata(safetensors_writer *writer, const char *key, const char *value);

/* Replaces the file atomically (core/files) with the tensors in the order of the reference implementation: wide
 * dtypes first, then by name. The data is never in memory as a whole. BRAID_ERROR_DISK where it cannot be written. */
braid_status safetensors_writer_write(safetensors_writer *writer, const char *path);

#endif
