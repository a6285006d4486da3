/*
 * Tests of looking without learning: what samples are told, any set of streams blanked, and the best epoch restored at
 * the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/train/image_run.h"

#include "tests/support/fail_nth.h"

/* ---- Samples ------------------------------------------------------------------------------ */

/* A perceptron of one layer with weights of our own: logits, answers and probabilities are known. */
static void answers_are_known(void **state) {
    const float weight[3][2] = {{1, 0}, {0, 1}, {0.5, 0.5}}, bias[3] = {0, 0, 0};
    const float rows[4][2] = {{3, 1}, {-1, 2}, {2, 2}, {-2, -4}}; /* the third: three logits are the same */
    const int32_t answers[4] = {0, 1, 0, 0};
    rig r;
    told t;
    braid_train_options o = row_options();
    (void)state;
    fill_set();
    open_rig(&r, "mlp", &(braid_net_options){.layers = {2, 3}}, BRAID_DTYPE_F32, NULL);
    for (int n = 0; n < SAMPLES; n++) { /* [SAMPLES][2], without gaps */
        data.rows[0][2 * n] = rows[n % 4][0];
        data.rows[0][2 * n + 1] = rows[n % 4][1];
        data.labels[n] = n % 3;
    }
    memmove(data.rows[BATCH], data.rows[0] + 2 * (size_t)BATCH, sizeof(float) * 2 * BATCH);
    memmove(data.rows[(size_t)2 * BATCH], data.rows[0] + 4 * (size_t)BATCH, sizeof(float) * 2 * (SAMPLES - 2 * BATCH));
    ok(braid_model_write(r.model, "layers.0.fc.weight", weight, sizeof weight));
    ok(braid_model_write(r.model, "layers.0.fc.bias", bias, sizeof bias));
    ok(braid_trainer_create(r.model, &o, &r.trainer));
    braid_train_metrics m = look(&r, 0, &t);
    assert_int_equal(t.count, SAMPLES);
    int correct = 0;
    for (int n = 0; n < SAMPLES; n++) {
        const braid_train_sample *s = &t.samples[n];
        double x = (double)rows[n % 4][0], y = (double)rows[n % 4][1];
        double sum = exp(x) + exp(y) + exp((x + y) / 2), largest = answers[n % 4] == 0 ? x : y;
        assert_true(s->id == 500 + n && s->file == n / 5);
        assert_true(s->label == n % 3 && s->classes == 3);
        assert_int_equal(s->answer, answers[n % 4]);
        if (!(fabs(s->score - exp(largest) / sum) < 1e-6)) fail_msg("sample %d: probability %g", n, s->score);
        correct += s->answer == s->label;
    }
    assert_true(m.accuracy == (double)correct / SAMPLES);
    close_rig(&r);
}

/* A network of images: the answers have the accuracy that the loss op counted, in every number format. */
static void answers_agree_with_metrics(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F16};
    (void)state;
    fill_set();
    for (int d = 0; d < 3; d++) {
        rig r;
        told t;
        braid_train_options o = image_options();
        open_rig(&r, "linet18", &three, dtypes[d], &o);
        braid_train_metrics m = look(&r, 0, &t), quiet = look(&r, 0, NULL);
        int correct = 0;
        assert_int_equal(t.count, SAMPLES);
        for (int n = 0; n < SAMPLES; n++) {
            correct += t.samples[n].answer == data.labels[n];
            assert_int_equal(t.samples[n].file, t.samples[n].id); /* the source tells no files */
            assert_true(t.samples[n].score >= 1.0 / CLASSES && t.samples[n].score <= 1);
        }
        assert_true(m.accuracy == (double)correct / SAMPLES);
        assert_memory_equal(&m, &quiet, sizeof m);
        close_rig(&r);
    }
}

/* The scores of an autoencoder are its loss, sample by sample; labels are told, though it has no use for them. */
static void errors_are_told(void **state) {
    rig r;
    told t;
    braid_train_options o = row_options();
    double sums[3] = {0}, loss = 0;
    (void)state;
    fill_set();
    open_rig(&r, "ssae", NULL, BRAID_DTYPE_F32, &o);
    braid_train_metrics m = look(&r, 0, &t);
    assert_true(t.count == SAMPLES && isnan(m.accuracy));
    for (int n = 0; n < SAMPLES; n++) {
        assert_true(t.samples[n].answer == -1 && t.samples[n].classes == 0);
        assert_true(t.samples[n].label == n % CLASSES && t.samples[n].file == n / 5);
        sums[n / BATCH] += t.samples[n].score;
    }
    for (int b = 0; b < 3; b++) loss += sums[b] / (b < 2 ? BATCH : SAMPLES - 2 * BATCH) / 3;
    if (!(fabs(loss - m.loss) < 1e-5 * loss)) fail_msg("loss %g, of the scores %g", m.loss, loss);
    close_rig(&r);
}

static void no_number_is_refused(void **state) {
    rig r;
    told t = {.count = 0};
    braid_train_metrics m;
    braid_train_options o = row_options();
    const float weight[2] = {1, NAN}, bias[1] = {0};
    const braid_evaluate_options tells = {.part = BRAID_PART_VALIDATE, .sample = on_sample, .user = &t};
    (void)state;
    fill_set();
    memset(data.labels, 0, sizeof data.labels);
    open_rig(&r, "mlp", &(braid_net_options){.layers = {2, 1}}, BRAID_DTYPE_F32, NULL);
    ok(braid_model_write(r.model, "layers.0.fc.weight", weight, sizeof weight));
    ok(braid_model_write(r.model, "layers.0.fc.bias", bias, sizeof bias));
    ok(braid_trainer_create(r.model, &o, &r.trainer));
    assert_true(isnan(look(&r, 0, NULL).loss));
    assert_int_equal(braid_trainer_evaluate(r.trainer, &tells, &m), BRAID_ERROR_DIVERGED);
    says("sample 500: expected finite outputs");
    assert_int_equal(t.count, 0);
    assert_int_equal(braid_trainer_evaluate(r.trainer, NULL, &m), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_trainer_evaluate(r.trainer, &tells, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_trainer_evaluate(NULL, &tells, &m), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
}

/* Whatever allocation of an evaluation fails, it says so, keeps nothing, and the next one is as it was. */
static void without_memory(void **state) {
    rig r;
    told t;
    braid_train_options o = row_options();
    const braid_evaluate_options tells = {.part = BRAID_PART_VALIDATE, .sample = on_sample, .user = &t};
    braid_train_metrics m, before;
    int failed = 0;
    (void)state;
    fill_set();
    fail_alloc_install();
    open_rig(&r, "ssae", NULL, BRAID_DTYPE_F32, &o);
    before = look(&r, 0, NULL);
    for (int64_t nth = 1;; nth++) {
        int64_t live = memory_live();
        t.count = 0;
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = braid_trainer_evaluate(r.trainer, &tells, &m);
        int64_t failures = fail_alloc_disarm();
        assert_int_equal(memory_live(), live);
        if (failures == 0) break;
        assert_int_equal(status, BRAID_ERROR_MEMORY);
        failed++;
    }
    assert_true(failed >= 6);
    assert_true(m.loss == before.loss && t.count == SAMPLES);
    close_rig(&r);
    fail_alloc_remove();
}

/* ---- Streams ------------------------------------------------------------------------------ */

/* Every set of streams gives its own numbers, which do not depend on what the blanked ones hold; nothing changes. */
static void any_set_of_streams(void **state) {
    rig r;
    braid_train_metrics m[8], again;
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, &o);
    ok(braid_model_save(r.model, "before.safetensors"));
    for (uint32_t blanked = 0; blanked < 8; blanked++) m[blanked] = look(&r, blanked, NULL);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++) assert_true(m[i].loss != m[j].loss);
    for (uint32_t blanked = 1; blanked < 8; blanked++) {
        fill_set();
        for (int i = 0; i < STREAMS; i++)
            if (blanked >> i & 1) memset(data.pixels[i], 77, sizeof data.pixels[i]);
        again = look(&r, blanked, NULL);
        assert_memory_equal(&again, &m[blanked], sizeof again);
    }
    ok(braid_model_save(r.model, "after.safetensors"));
    same_bytes("before.safetensors", "after.safetensors", 1);
    const braid_evaluate_options fourth = {.part = BRAID_PART_VALIDATE, .blanked = 8};
    assert_int_equal(braid_trainer_evaluate(r.trainer, &fourth, &again), BRAID_ERROR_ARGUMENT);
    says("streams from 0 to 2 as bits, got 1 and 0x8");
    close_rig(&r);
}

/* ---- The best epoch ----------------------------------------------------------------------- */

/* A run that becomes worse ends with the model of its best epoch; its last checkpoint is that of the last one. */
static void the_best_is_restored(void **state) {
    rig r;
    braid_train_options o = image_options();
    json_t *columns;
    (void)state;
    fill_set();
    data.fades = 1;
    o.monitor = "val_loss";
    o.learning_rate = 0.02;
    o.schedule = "constant";
    o.patience = 2;
    o.epochs = 20;
    o.folder = "run";
    o.restore_best = 1;
    run_images(&o, &r);
    ok(history_read("run/metrics.jsonl", &columns));
    json_t *stopping = json_object_get(columns, "early_stopping");
    size_t best = (size_t)json_integer_value(json_object_get(stopping, "best_epoch"));
    size_t epochs = json_array_size(json_object_get(columns, "epoch"));
    assert_true(json_is_true(json_object_get(stopping, "stopped_early")) && best + 4 == epochs);
    braid_train_metrics m = look(&r, 0, NULL);
    assert_true(m.loss == number_of(columns, "val_loss", best));
    assert_true(m.loss != number_of(columns, "val_loss", epochs - 1));
    json_decref(columns);
    assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_ARGUMENT);
    says("got the best one");
    ok(braid_trainer_run(r.trainer)); /* there is nothing left to do */
    ok(braid_model_save(r.model, "restored.safetensors"));
    close_rig(&r);
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, NULL);
    ok(braid_model_load(r.model, "run/best.safetensors"));
    ok(braid_model_save(r.model, "best.safetensors"));
    ok(braid_model_load(r.model, "run/last.safetensors"));
    ok(braid_model_save(r.model, "last.safetensors"));
    close_rig(&r);
    same_bytes("restored.safetensors", "best.safetensors", 1);
    same_bytes("restored.safetensors", "last.safetensors", 0);
    o.folder = NULL;
    refuses(&o, "a folder to restore the best epoch from");
}

/* A run that was asked to stop is not over: nothing is restored, and it goes on. */
static void a_stopped_run_is_not_restored(void **state) {
    rig r;
    watch w = {.stop_at = 1};
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    o.epochs = 2;
    o.folder = "run";
    o.restore_best = 1;
    o.stream_epochs = 2;
    o.event = on_event;
    o.user = &w;
    run_images(&o, &r);
    assert_int_equal(braid_trainer_is_done(r.trainer), 0);
    ok(braid_trainer_save(r.trainer));
    w.stop_at = 0;
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_is_done(r.trainer), 1);
    assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
    assert_int_equal(memory_live(), 0);
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_known), cmocka_unit_test(answers_agree_with_metrics),
        cmocka_unit_test(errors_are_told),   cmocka_unit_test(no_number_is_refused),
        cmocka_unit_test(without_memory),    IN_FOLDER(any_set_of_streams),
        IN_FOLDER(the_best_is_restored),     IN_FOLDER(a_stopped_run_is_not_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
