/*
 * Initial values of parameters and states, from the counter RNG: the same seed gives the same network on every
 * machine. Values are drawn in the order of files.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "model/model.h"

#define INITIAL_STREAM UINT64_C(0x494e4954) /* apart from the streams of dropout and data */

#define PART_VALUES 65536 /* that one thread draws */

/* Makes the rows of a [rows][columns] matrix orthonormal, one after the other (Gram and Schmidt, twice each). */
static void orthonormalise(double *a, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++) {
        double *row = a + r * columns, square = 0;
        for (int again = 0; again < 2; again++) {
            for (int64_t q = 0; q < r; q++) {
                const double *other = a + q * columns;
                double dot = 0;
                for (int64_t c = 0; c < columns; c++) dot += row[c] * other[c];
                for (int64_t c = 0; c < columns; c++) row[c] -= dot * other[c];
            }
        }
        for (int64_t c = 0; c < columns; c++) square += row[c] * row[c];
        for (int64_t c = 0; c < columns; c++) row[c] /= sqrt(square);
    }
}

static void draw_orthogonal(rng *r, int64_t rows, int64_t columns, double factor, double *values, double *a) {
    int64_t few = rows < columns ? rows : columns, many = rows < columns ? columns : rows;
    for (int64_t j = 0; j < few * many; j++) a[j] = rng_normal(r);
    orthonormalise(a, few, many);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            values[i * columns + j] = factor * (rows < columns ? a[i * many + j] : a[j * many + i]);
    }
}

int64_t plane_initial_parts(const graph_plane *plane) {
    return plane->init.kind == INIT_ORTHOGONAL ? 1 : plane_elements(plane) / PART_VALUES + 1;
}

void plane_initial(const graph_plane *plane, int index, int64_t part, uint64_t seed, double *values, double *scratch) {
    rng r = {.seed = seed, .stream = INITIAL_STREAM + (uint64_t)index};
    int64_t elements = plane_elements(plane), first = part * PART_VALUES, end = first + PART_VALUES;
    if (plane->kind == PLANE_STATE && plane->is_counter && plane->rank == 1 && elements == 2) {
        values[0] = (double)(rng_u32(&r) >> 1); /* the key of a dropout: its seed; the step follows the training */
        return;
    }
    if (plane->init.kind == INIT_ORTHOGONAL) {
        int64_t columns = 1;
        for (int axis = 1; axis < plane->rank; axis++) columns *= plane->dims[axis];
        draw_orthogonal(&r, plane->dims[0], columns, plane->init.value, values, scratch);
        return;
    }
    r.index = (uint64_t)first * (plane->init.kind == INIT_NORMAL ? 2 : 1); /* numbers that a value takes */
    for (int64_t j = first; j < end && j < elements; j++) {
        switch (plane->init.kind) {
            case INIT_UNIFORM: values[j] = plane->init.value * (2 * rng_uniform(&r) - 1); break;
            case INIT_NORMAL: values[j] = plane->init.value * rng_normal(&r); break;
            default: values[j] = plane->init.value; break;
        }
    }
}
