/*
 * Tests of stores past the caches: on a device that claims to have no cache every output is too large for it, and
 * the kernels that pass over pixels must give the same bits as on the real one, with planes that are aligned and with
 * planes that are not, dense and with gaps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/rng.h"
#include "kernels/kernel.h"

enum { PLANE_BYTES = 1 << 16, WORKSPACE_BYTES = 1 << 14 };

static size_t no_cache(const device *d) {
    (void)d;
    return 0;
}

/* Values of the dtype in every operand, vectors of floats included: any bits that are no NaN do. Drawn once. */
static void fill(void *to, braid_dtype dtype) {
    static _Alignas(256) uint8_t values[BRAID_DTYPE_COUNT][PLANE_BYTES];
    static int drawn[BRAID_DTYPE_COUNT];
    rng r = {7, 1, 0};
    for (size_t i = 0; !drawn[dtype] && i < PLANE_BYTES / dtype_bytes(dtype); i++) {
        dtype_store(values[dtype], dtype, (int64_t)i, (double)rng_between(&r, -9, 9) / 4);
    }
    drawn[dtype] = 1;
    memcpy(to, values[dtype], PLANE_BYTES);
}

/* The first output of a launch, `shift` bytes behind an aligned address, in `out`. */
static void run(const kernel *k, const braid_problem *p, device *d, size_t shift, uint8_t *out) {
    static _Alignas(256) uint8_t planes[OP_MAX_OPERANDS][PLANE_BYTES + 256], workspace[WORKSPACE_BYTES];
    buffers b = {.workspace = workspace};
    int written = -1;
    size_t bytes = 0;
    void *state = NULL;
    for (int slot = 0; slot < OP_MAX_OPERANDS && op_of(p)->operands[slot].name; slot++) {
        plane_shape shape;
        if (op_role(p, slot) == ROLE_NONE) continue;
        op_of(p)->shape(p, slot, 0, &shape);
        b.plane[slot][0] = planes[slot] + shift;
        fill(b.plane[slot][0], shape.dtype);
        if (op_is_output(op_role(p, slot)) && written < 0) written = slot;
    }
    if (k->functions->create) assert_int_equal(k->functions->create(p, d, &state, &bytes), BRAID_OK);
    assert_true(bytes <= WORKSPACE_BYTES && written >= 0);
    assert_int_equal(kernel_launch(k->functions, p, d, state, &b), BRAID_OK);
    memcpy(out, b.plane[written][0], PLANE_BYTES);
    if (k->functions->destroy) k->functions->destroy(d, state);
}

static void compare(const char *text, device *real) {
    static uint8_t expected[PLANE_BYTES], got[PLANE_BYTES];
    backend cacheless = *real->backend;
    braid_problem p;
    int compared = 0;
    assert_int_equal(braid_problem_parse(text, &p), BRAID_OK);
    assert_int_equal(braid_problem_check(&p), BRAID_OK);
    cacheless.cache_bytes = no_cache;
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *k = kernel_at(i);
        if (k->backend != KERNEL_CPU || k->vendor || kernel_refuses(k, &p, real)) continue;
        for (size_t shift = 0; shift <= 32; shift += 4) {
            device other = *real;
            run(k, &p, real, shift, expected);
            other.backend = &cacheless;
            run(k, &p, &other, shift, got);
            assert_memory_equal(got, expected, PLANE_BYTES);
            compared++;
        }
    }
    assert_true(compared > 0);
}

static void outputs_past_the_caches_have_the_same_bits(void **state) {
    static const char *const formats[] = {"act_fwd:%s:b2:hw9x7:c%s",      "act_bwd_data:%s:b2:hw9x7:c%s",
                                          "add:%s:b2:hw9x7:c%s",          "bn_apply:%s:b2:hw9x7:c%s",
                                          "bn_bwd_apply:%s:b2:hw9x7:c%s", "cast:%s:b2:hw9x7:c%s:to=f32",
                                          "cast:%s:b2:hw9x7:c%s:to=bf16", "cast:%s:b2:hw9x7:c%s:to=f16"};
    static const char *const dtypes[] = {"f32", "bf16", "f16"};
    static const char *const channels[] = {"64", "32", "48", "16", "5:cp8", "60:cp64"};
    device *d = NULL;
    (void)state;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++) {
            for (size_t c = 0; c < sizeof channels / sizeof channels[0]; c++) {
                char text[96];
                snprintf(text, sizeof text, formats[f], dtypes[t], channels[c]);
                compare(text, d);
            }
        }
    }
    d->backend->close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_past_the_caches_have_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
