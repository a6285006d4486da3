/*
 * Kernels of TF32 on numbers of f32.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/unrounded.h"

#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "tests/emu/once.h"

static void round_inputs(const braid_problem *p, const image *m, char *block) {
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_is_input(op_role(p, slot)) && i < op_of(p)->planes(p, slot); i++) {
            float *data = (float *)(void *)(block + m->offset[slot][i]);
            for (size_t j = 0; j < m->plane_bytes[slot][i] / sizeof *data; j++) data[j] = tf32_from_f32(data[j]);
        }
    }
}

static void compare(const braid_problem *p, const image *m, const char *real, const char *rounded, char *failure,
                    size_t size) {
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_is_output(op_role(p, slot)) && i < op_of(p)->planes(p, slot); i++) {
            if (memcmp(real + m->offset[slot][i], rounded + m->offset[slot][i], m->plane_bytes[slot][i]) != 0)
                snprintf(failure, size, "%s differs where operands are not rounded before", op_operand_name(p, slot));
        }
    }
}

braid_status unrounded_differs(const kernel *k, device *d, const braid_problem *p, char *failure, size_t size) {
    braid_problem plain = *p;
    image m;
    void *real = NULL, *rounded = NULL;
    plain.tf32 = 0; /* whose inputs are real numbers */
    braid_status status = image_lay(p, &m);
    if (!status) status = memory_alloc(m.bytes, 1, "numbers", &real);
    if (!status) status = memory_alloc(m.bytes, 1, "rounded numbers", &rounded);
    if (!status) {
        image_fill(&plain, &m, IMAGE_REAL, 1, real);
        memcpy(rounded, real, m.bytes);
        round_inputs(p, &m, rounded);
        status = run_once(k, d, p, &m, real);
    }
    if (!status) status = run_once(k, d, p, &m, rounded);
    if (!status) compare(p, &m, real, rounded, failure, size);
    memory_free(real);
    memory_free(rounded);
    return status;
}
