/*
 * npy, NumPy's file of one array. The header is a Python literal; only the one dictionary that NumPy writes is
 * understood, and objects (pickles) are refused.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_NPY_H
#define BRAID_DATA_NPY_H

#include "core/status.h"

#define NPY_MAX_RANK 8

typedef enum npy_type { NPY_U8, NPY_U16, NPY_I32, NPY_I64, NPY_F16, NPY_F32, NPY_F64, NPY_TYPE_COUNT } npy_type;

typedef struct npy {
    npy_type type;
    int rank;
    int64_t dims[NPY_MAX_RANK];
    const void *data; /* into the file; not aligned */
    size_t bytes;
} npy;

/* The file must be little-endian, in C order, and exactly as long as its shape says. Borrows the data. */
braid_status npy_read(const void *data, size_t bytes, npy *out);

#endif
