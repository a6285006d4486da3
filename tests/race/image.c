/*
 * Tests of operand blocks: places, contents by kind of operand, the same bits at any number of threads,
 * and every sort of damage seen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "race/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/threads.h"
#include "tests/support/given.h"

#define DRAWS 10 /* of each op and pass */

/* One drawn problem with its block, filled. */
typedef struct block {
    braid_problem p;
    image layout;
    unsigned char *bytes;
} block;

static block make_block(const braid_problem *p, image_mode mode, uint64_t seed) {
    void *memory = NULL;
    block b = {.p = *p};
    assert_int_equal(image_lay(p, &b.layout), BRAID_OK);
    assert_int_equal(memory_alloc_device(b.layout.bytes, "block", &memory), BRAID_OK);
    b.bytes = memory;
    memset(b.bytes, 0x3c, b.layout.bytes);
    image_fill(p, &b.layout, mode, seed, b.bytes);
    return b;
}

static void free_block(block *b) { memory_free(b->bytes); }

/* Calls visit with every drawn problem of every op and pass. */
static void each_draw(void (*visit)(const braid_problem *p, uint64_t seed)) {
    for (int id = 0; id < BRAID_OP_COUNT; id++) {
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            for (uint64_t seed = 0; seed < DRAWS && braid_pass_name((braid_op_id)id, (braid_pass)pass); seed++) {
                braid_problem p;
                assert_int_equal(braid_problem_draw((braid_op_id)id, (braid_pass)pass, seed, &p), BRAID_OK);
                visit(&p, seed);
            }
        }
    }
    assert_int_equal(memory_live(), 0);
}

/* The numbers that are drawn for a race, over and over, are those of a check. */
static int repeats_of(const braid_problem *p, uint64_t seed) {
    block whole = make_block(p, IMAGE_REAL, seed);
    int repeats = 0;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_is_input(op_role(p, slot)) && i < op_of(p)->planes(p, slot); i++) {
            const unsigned char *plane = whole.bytes + whole.layout.offset[slot][i];
            size_t bytes = whole.layout.plane_bytes[slot][i], drawn = 0;
            void *values = NULL;
            assert_int_equal(image_draw(p, &whole.layout, slot, i, seed, &values, &drawn), BRAID_OK);
            assert_true(drawn <= bytes && (drawn || !bytes));
            for (size_t at = 0; at < bytes; at += drawn)
                assert_memory_equal(plane + at, values, drawn < bytes - at ? drawn : bytes - at);
            repeats += drawn < bytes;
            memory_free(values);
        }
    }
    free_block(&whole);
    return repeats;
}

static void drawn_once(const braid_problem *p, uint64_t seed) { (void)repeats_of(p, seed); }

static void a_race_draws_the_numbers_of_a_check(void **state) {
    (void)state;
    each_draw(drawn_once);
    static const struct {
        const char *problem;
        int repeats; /* planes */
    } large[] = {{"act_fwd:f16:n2:b1:hw32x32:c5,3:cp8,8", 2},
                 {"act_fwd:b1:hw1x1021:c5", 0},
                 {"add:b1:hw1x1022:c5", 2},
                 {"clip_norm:c65521", 0},
                 {"clip_norm:c200000", 1},
                 {"linear_fwd:b2:c70000:k3", 0}};
    for (size_t j = 0; j < sizeof large / sizeof large[0]; j++) {
        braid_problem p = given_problem(large[j].problem);
        assert_int_equal(repeats_of(&p, 7), large[j].repeats);
    }
    assert_int_equal(memory_live(), 0);
}

/* ---- Places ------------------------------------------------------------------------------- */

static void places_of(const braid_problem *p, uint64_t seed) {
    image layout;
    buffers b;
    size_t end = 0;
    (void)seed;
    assert_int_equal(image_lay(p, &layout), BRAID_OK);
    image_buffers(p, &layout, (void *)(uintptr_t)MEMORY_DEVICE_ALIGNMENT, &b);
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        int exists = slot < op_operand_count(op_of(p)) && op_role(p, slot) != ROLE_NONE;
        int planes = exists ? op_of(p)->planes(p, slot) : 0;
        for (int i = 0; i < BRAID_MAX_PLANES; i++) {
            if (i >= planes) {
                assert_null(b.plane[slot][i]);
                continue;
            }
            assert_int_equal(layout.offset[slot][i] % MEMORY_DEVICE_ALIGNMENT, 0);
            assert_true(layout.offset[slot][i] >= end + RED_ZONE_BYTES); /* in order, apart, a red zone between */
            end = layout.offset[slot][i] + layout.plane_bytes[slot][i];
            assert_true((uintptr_t)b.plane[slot][i] == MEMORY_DEVICE_ALIGNMENT + layout.offset[slot][i]);
        }
    }
    assert_true(layout.bytes >= end + RED_ZONE_BYTES);
    assert_null(b.workspace);
}

static void planes_lie_apart(void **state) {
    (void)state;
    each_draw(places_of);
}

/* ---- Contents ----------------------------------------------------------------------------- */

static int is_power(double value) { return value == 0.5 || value == 1 || value == 2; }

static void assert_value(operand_fill fill, image_mode mode, double value) {
    assert_true(isfinite(value));
    if (fill == FILL_COUNTER) assert_true(value >= 0 && value <= 9 && value == floor(value));
    if (fill == FILL_POSITIVE) assert_true(mode == IMAGE_EXACT ? is_power(value) : value >= 0.5 && value <= 1.5);
    if (fill == FILL_SIGNED && mode == IMAGE_EXACT) assert_true(fabs(value) <= 4 && value == floor(value));
}

static void assert_input(const block *b, int slot, int i, image_mode mode) {
    plane_shape s;
    const operand_fill fill = op_of(&b->p)->operands[slot].fill;
    const unsigned char *data = b->bytes + b->layout.offset[slot][i];
    op_of(&b->p)->shape(&b->p, slot, i, &s);
    if (fill == FILL_MASK) {
        int64_t active = mask_active((const uint32_t *)(const void *)data, b->p.batch);
        int64_t pixels = op_of(&b->p)->fields & FIELD_BIT(hw) ? b->p.size[0] * b->p.size[1] : 1;
        assert_true(active != 1 || pixels > 1 || b->p.batch == 1); /* a single value has no variance */
        if (op_of(&b->p)->check_active) assert_int_equal(op_of(&b->p)->check_active(&b->p, i, active), BRAID_OK);
        return;
    }
    const int64_t elements = (int64_t)(b->layout.plane_bytes[slot][i] / dtype_bytes(s.dtype));
    for (int64_t j = 0; j < elements; j++) {
        double value = dtype_load(data, s.dtype, j);
        if (j % s.pitch < s.dims[s.rank - 1])
            assert_value(fill, mode, value);
        else
            assert_true(value == 0); /* lanes between the channels and the pitch */
    }
}

static void contents_of(const braid_problem *p, uint64_t seed) {
    for (image_mode mode = IMAGE_REAL; mode <= IMAGE_EXACT; mode++) {
        block b = make_block(p, mode, seed);
        for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
            for (int i = 0; op_role(p, slot) != ROLE_NONE && i < op_of(p)->planes(p, slot); i++) {
                if (op_is_input(op_role(p, slot))) {
                    assert_input(&b, slot, i, mode);
                    continue;
                }
                const unsigned char *data = b.bytes + b.layout.offset[slot][i];
                for (size_t j = 0; j < b.layout.plane_bytes[slot][i]; j++) assert_true(data[j] == POISON_BYTE);
            }
        }
        free_block(&b);
    }
}

static void inputs_are_drawn_and_outputs_poisoned(void **state) {
    (void)state;
    each_draw(contents_of);
}

/* The statistics of integrate_bn_stats are those of its output, of which a stride may leave one pixel. */
static void masks_leave_two_values(void **state) {
    braid_problem p;
    (void)state;
    assert_int_equal(braid_problem_parse("integrate_bn_stats:f32:n1:b4:hw2x2:c8:st2:mask1:zo3", &p), BRAID_OK);
    for (uint64_t seed = 0; seed < 40; seed++) contents_of(&p, seed);
}

static void same_bits_of(const braid_problem *p, uint64_t seed) {
    static const int threads[] = {2, 3, 7};
    threads_set(1);
    block one = make_block(p, IMAGE_REAL, seed);
    for (size_t j = 0; j < sizeof threads / sizeof threads[0] && seed < 3; j++) {
        threads_set(threads[j]);
        block many = make_block(p, IMAGE_REAL, seed);
        assert_memory_equal(one.bytes, many.bytes, one.layout.bytes);
        free_block(&many);
    }
    threads_set(1);
    block other = make_block(p, IMAGE_REAL, seed + 1000000);
    assert_true(memcmp(one.bytes, other.bytes, one.layout.bytes) != 0);
    free_block(&one);
    free_block(&other);
}

static void a_block_is_a_function_of_its_seed(void **state) {
    (void)state;
    each_draw(same_bits_of);
}

static void truth_of(const braid_problem *p, uint64_t seed) {
    block b = make_block(p, IMAGE_REAL, seed);
    buffers truth;
    void *memory = NULL;
    assert_int_equal(image_truth(p, &b.layout, b.bytes, &truth, &memory), BRAID_OK);
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_role(p, slot) != ROLE_NONE && i < op_of(p)->planes(p, slot); i++) {
            plane_shape s;
            void *data = b.bytes + b.layout.offset[slot][i];
            op_of(p)->shape(p, slot, i, &s);
            if (!op_is_input(op_role(p, slot))) {
                assert_null(truth.plane[slot][i]);
            } else if (!dtype_is_compute(s.dtype)) {
                assert_ptr_equal(truth.plane[slot][i], data);
            } else {
                const double *doubles = truth.plane[slot][i];
                const size_t elements = b.layout.plane_bytes[slot][i] / dtype_bytes(s.dtype);
                for (size_t j = 0; j < elements; j++) assert_true(doubles[j] == dtype_load(data, s.dtype, (int64_t)j));
            }
        }
    }
    memory_free(memory);
    free_block(&b);
}

static void the_truth_sees_what_the_kernel_sees(void **state) {
    (void)state;
    each_draw(truth_of);
}

/* ---- Damage ------------------------------------------------------------------------------- */

static void assert_damage(const block *before, const unsigned char *after, const char *words) {
    const char *damage = image_damage(&before->p, &before->layout, before->bytes, after);
    if (!words && damage) fail_msg("expected no damage, got: %s", damage);
    if (words && (!damage || !strstr(damage, words)))
        fail_msg("expected \"%s\", got: %s", words, damage ? damage : "nothing");
}

/* Spoils one byte of the block, looks, and mends it. */
static void spoil(const block *before, unsigned char *after, size_t at, const char *words) {
    after[at] ^= 0x40;
    assert_damage(before, after, words);
    after[at] ^= 0x40;
}

static void damage_of(const braid_problem *p, uint64_t seed) {
    block before = make_block(p, IMAGE_REAL, seed), after = make_block(p, IMAGE_REAL, seed);
    const image *m = &before.layout;
    char words[64];
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) { /* zeros are written outputs */
        for (int i = 0; op_is_output(op_role(p, slot)) && i < op_of(p)->planes(p, slot); i++) {
            memset(after.bytes + m->offset[slot][i], 0, m->plane_bytes[slot][i]);
        }
    }
    assert_damage(&before, after.bytes, NULL);
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        const operand_role role = op_role(p, slot);
        for (int i = 0; role != ROLE_NONE && i < op_of(p)->planes(p, slot); i++) {
            const size_t begin = m->offset[slot][i], bytes = m->plane_bytes[slot][i];
            spoil(&before, after.bytes, begin - 1, "wrote before");
            spoil(&before, after.bytes, begin - RED_ZONE_BYTES, "wrote before");
            spoil(&before, after.bytes, begin + bytes, "wrote b"); /* before the next or beyond the last */
            snprintf(words, sizeof words, "%s of stream %d", op_operand_name(p, slot), i);
            if (op_is_output(role)) {
                plane_shape s;
                op_of(p)->shape(p, slot, i, &s);
                const size_t last = bytes - dtype_bytes(s.dtype);
                memset(after.bytes + begin + last, POISON_BYTE, dtype_bytes(s.dtype));
                assert_damage(&before, after.bytes, words);
                memset(after.bytes + begin + last, 0, dtype_bytes(s.dtype));
                if (s.pitch > s.dims[s.rank - 1]) spoil(&before, after.bytes, begin + bytes - 1, "beyond its channels");
            } else {
                spoil(&before, after.bytes, begin, words);
                spoil(&before, after.bytes, begin + bytes - 1, "changed its input");
            }
        }
    }
    spoil(&before, after.bytes, m->bytes - 1, "beyond the last");
    assert_damage(&before, after.bytes, NULL);
    free_block(&before);
    free_block(&after);
}

static void every_damage_is_seen(void **state) {
    (void)state;
    each_draw(damage_of);
}

static void a_batch_of_nothing_has_no_elements(void **state) {
    const braid_problem p = given_problem("conv2d_fwd:n2:b0:hw4:c2,3:k2,2:rs3:bias1:mask1");
    block b = make_block(&p, IMAGE_EXACT, 1);
    (void)state;
    assert_int_equal(b.layout.plane_bytes[CONV2D_X][1], 0);
    assert_int_equal(b.layout.plane_bytes[CONV2D_MASK][0], 0);
    assert_true(b.layout.plane_bytes[CONV2D_W][1] > 0);
    assert_damage(&b, b.bytes, NULL);
    free_block(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_draws_the_numbers_of_a_check),
        cmocka_unit_test(planes_lie_apart),
        cmocka_unit_test(inputs_are_drawn_and_outputs_poisoned),
        cmocka_unit_test(masks_leave_two_values),
        cmocka_unit_test(a_block_is_a_function_of_its_seed),
        cmocka_unit_test(the_truth_sees_what_the_kernel_sees),
        cmocka_unit_test(every_damage_is_seen),
        cmocka_unit_test(a_batch_of_nothing_has_no_elements),
    };
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
