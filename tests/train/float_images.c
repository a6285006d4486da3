/*
 * Images of floats: they mean what the same images mean as bytes, in every number format, and a value that is missing
 * is the mean.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/train/image_run.h"

static float floats[STREAMS][SAMPLES][SIDE * SIDE];

static braid_status next_floats(void *user, braid_part part, braid_train_batch *batch) {
    set *s = user;
    const int64_t first = s->at < SAMPLES ? s->at : 0;
    braid_status status = next_images(user, part, batch);
    for (int i = 0; i < STREAMS; i++) batch->streams[i] = floats[i][first];
    return status;
}

static void fill_floats(void) {
    fill_set();
    for (int i = 0; i < STREAMS; i++)
        for (int n = 0; n < SAMPLES; n++)
            for (int j = 0; j < SIDE * SIDE; j++) floats[i][n][j] = (float)data.pixels[i][n][j] / 255;
}

static double loss_of(const braid_train_options *o, braid_dtype dtype) {
    rig r;
    told t;
    open_rig(&r, "linet18", &three, dtype, o);
    const double loss = look(&r, 0, &t).loss;
    assert_int_equal(t.count, SAMPLES);
    close_rig(&r);
    return loss;
}

static braid_train_options float_options(void) {
    braid_train_options o = image_options();
    o.input = BRAID_DTYPE_F32;
    o.source.next = next_floats;
    return o;
}

static void floats_are_as_bytes(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F16};
    static const double near[] = {1e-5, 2e-2, 2e-3}; /* roundings of the two ways */
    (void)state;
    fill_floats();
    for (int d = 0; d < 3; d++) {
        const braid_train_options bytes = image_options(), numbers = float_options();
        const double expected = loss_of(&bytes, dtypes[d]), got = loss_of(&numbers, dtypes[d]);
        if (!(fabs(got - expected) < near[d])) fail_msg("expected a loss of %.9g, got %.9g", expected, got);
    }
}

/* NaN in one place, the mean in the other: the same loss, bit for bit; another value there gives another. */
static void what_is_missing_is_the_mean(void **state) {
    const braid_train_options o = float_options();
    double loss[3];
    (void)state;
    for (int way = 0; way < 3; way++) {
        fill_floats();
        for (int n = 0; n < SAMPLES; n++) floats[1][n][n] = way == 0 ? NAN : way == 1 ? 0.4F : 1;
        loss[way] = loss_of(&o, BRAID_DTYPE_F32);
    }
    assert_true(fabs(loss[0] - loss[1]) < 1e-6); /* 0.4 is no float: it is the mean but for 1e-8 */
    assert_true(fabs(loss[0] - loss[2]) > 1e-5);
}

static void they_are_learned_from(void **state) {
    braid_train_options o = float_options();
    rig r;
    told t;
    (void)state;
    fill_floats();
    o.epochs = 11;
    o.learning_rate = 0.01;
    o.schedule = "constant";
    o.modality_dropout = 0;
    run_images(&o, &r);
    assert_true(look(&r, 0, &t).accuracy > 0.6);
    close_rig(&r);
    o.augment = 1;
    refuses(&o, "expected samples that are images of bytes, got f32");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_as_bytes),
        cmocka_unit_test(what_is_missing_is_the_mean),
        cmocka_unit_test(they_are_learned_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
