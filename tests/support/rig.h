/*
 * A rig: one kernel, one problem and the memory of its operands, filled as the checker fills it, so that a
 * test can look at what a kernel does when single operands change.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_RIG_H
#define BRAID_TESTS_RIG_H

#include "race/image.h"

typedef struct rig {
    braid_problem problem;
    device *device;
    const kernel *kernel;
    image layout;
    unsigned char *block; /* on the host: inputs before a run, outputs after it */
    void *on_device, *state, *workspace;
    size_t workspace_bytes;
} rig;

/* Readies the kernel and fills the block: inputs from the seed, outputs poisoned. Refuses a NULL kernel. */
braid_status rig_create(rig *r, const braid_problem *p, device *d, const kernel *k, image_mode mode, uint64_t seed);

/* Uploads the block, launches and downloads it. May be called again after inputs were changed. */
braid_status rig_run(rig *r);

/* A rig of zeros is fine. */
void rig_destroy(rig *r);

/* Plane i of an operand in the block. */
void *rig_plane(const rig *r, int slot, int i);

/* The planes that the problem has of an operand. */
int rig_planes(const rig *r, int slot);

/* Its shape, and its elements without what lies between the last axis and the pitch. */
void rig_shape(const rig *r, int slot, int i, plane_shape *s);
int64_t rig_elements(const rig *r, int slot, int i);

/* Element `index` (dense) as a double, and back with one rounding. */
double rig_get(const rig *r, int slot, int i, int64_t index);
void rig_set(rig *r, int slot, int i, int64_t index, double value);

/* Sets every element of plane i. */
void rig_set_all(rig *r, int slot, int i, double value);

/* 1 where the first axis of an operand counts the samples. */
int rig_has_samples(const braid_problem *p, int slot);

/* Bytes of one sample of such an operand. */
size_t rig_sample_bytes(const rig *r, int slot, int i);

/* The sum over all planes and elements of the products of two operands of equal shape. */
double rig_inner(const rig *a, int slot_a, const rig *b, int slot_b);

#endif
