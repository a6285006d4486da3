/*
 * Models and plans under bad treatment: sizes and names that cannot be meant, every allocation failing in turn, model
 * files with tensors missing, extra, of another shape or damaged. What comes is a message that says what was expected;
 * nothing leaks, and a model that could not be loaded is as it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/safetensors.h"
#include "tests/support/fail_nth.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/scratch.h"
#include "tests/support/trial.h"

#define ESTIMATE .choice = {.effort = BRAID_EFFORT_ESTIMATE}

/* ---- Requests ------------------------------------------------------------------------------- */

static void assert_no_plan(braid_model *model, const braid_plan_request *request, const char *words) {
    braid_plan *plan = (braid_plan *)(uintptr_t)1;
    int64_t live = memory_live();
    assert_refused(braid_plan_create(model, request, &plan), BRAID_ERROR_ARGUMENT, words);
    assert_null(plan);
    assert_int_equal(memory_live(), live);
}

#define REFUSED(model, words, ...) assert_no_plan(model, &(braid_plan_request){__VA_ARGS__}, words)

static void requests_are_checked(void **state) {
    const trial_setup images = {.kind = "lenet86", .request = {.batch = 1, .size = {86, 86}}},
                      rows = {.kind = "mlp", .net = {.layers = {9, 8, 7}}, .request = {.batch = 2}};
    (void)state;
    trial t = trial_open(&images), r = trial_open(&rows);
    REFUSED(t.model, "expected a height and a width for the images of|got 0x0", .batch = 1);
    REFUSED(t.model, "expected a height and a width|got 86x0", .batch = 1, .size = {86, 0});
    REFUSED(t.model, "expected a batch of 1 or more, got -3", .batch = -3, .size = {86, 86});
    REFUSED(t.model, "conv2d|expected", .batch = 1, .size = {5, 86});
    REFUSED(t.model, "expected|1296", .batch = 1, .size = {90, 94});
    REFUSED(t.model, "an effort from 0 to 2", .batch = 1, .size = {86, 86}, .choice = {.effort = (braid_effort)7});
    REFUSED(r.model, "phase, a loss and an optimiser", .phase = (braid_phase)9);
    REFUSED(r.model, "phase, a loss and an optimiser", .loss = BRAID_LOSS_COUNT);
    REFUSED(r.model, "phase, a loss and an optimiser", .optimiser = (braid_optimiser)-1);
    REFUSED(r.model, "no optimiser with phase eval", .phase = BRAID_PHASE_EVAL, .optimiser = BRAID_OPTIMISER_SGD);
    assert_no_plan(NULL, &(braid_plan_request){0}, "expected a model, got NULL");
    assert_refused(braid_plan_create(r.model, NULL, NULL), BRAID_ERROR_ARGUMENT, "expected a place for the plan");
    trial_close(&t);
    trial_close(&r);
}

static void a_model_is_checked(void **state) {
    braid_context *context = given_context("", NULL);
    braid_net *net = given_net("mlp", &(braid_net_options){.layers = {9, 8, 7}}), *empty = given_net(NULL, NULL);
    braid_model *model = NULL;
    (void)state;
    assert_refused(braid_model_create(context, net, NULL, NULL), BRAID_ERROR_ARGUMENT, "place for the model");
    assert_refused(braid_model_create(NULL, net, NULL, &model), BRAID_ERROR_ARGUMENT, "expected a context");
    assert_refused(
        braid_model_create(context, net, &(braid_model_options){.dtype = BRAID_DTYPE_BF16, .tf32 = 1}, &model),
        BRAID_ERROR_ARGUMENT, "tf32 with dtype f32|bf16");
    assert_refused(braid_model_create(context, net, &(braid_model_options){.dtype = BRAID_DTYPE_U8}, &model),
                   BRAID_ERROR_ARGUMENT, "expected f32, bf16, f16 or f64");
    assert_refused(braid_model_create(context, empty, NULL, &model), BRAID_ERROR_ARGUMENT, "expected");
    assert_null(model);
    OK(braid_model_create(context, net, NULL, &model));
    float numbers[72];
    assert_refused(braid_model_read(model, "layers.0.fc.weight", numbers, 4), BRAID_ERROR_ARGUMENT,
                   "expected 288 bytes for layers.0.fc.weight, got 4");
    assert_refused(braid_model_write(model, "layers.9.fc.weight", numbers, 4), BRAID_ERROR_ARGUMENT,
                   "expected a tensor of the network|layers.9.fc.weight");
    assert_refused(braid_model_read(model, NULL, numbers, 4), BRAID_ERROR_ARGUMENT, "NULL");
    assert_refused(braid_model_read(model, "layers.0.fc.weight", NULL, 288), BRAID_ERROR_ARGUMENT, "got NULL");
    braid_model_destroy(model);
    braid_model_destroy(NULL);
    braid_net_destroy(net);
    braid_net_destroy(empty);
    braid_context_destroy(context);
}

static void tensors_of_a_plan_are_checked(void **state) {
    const trial_setup s = {.kind = "mlp", .net = {.layers = {9, 8, 7}}, .request = {.batch = 2, ESTIMATE}};
    float numbers[64] = {0};
    braid_operand_info info;
    void *memory;
    (void)state;
    trial t = trial_open(&s);
    assert_refused(braid_plan_set_input(t.plan, "rgb", numbers, 72), BRAID_ERROR_ARGUMENT, "expected a stream|\"rgb\"");
    assert_refused(braid_plan_set_input(t.plan, "features", numbers, 71), BRAID_ERROR_ARGUMENT,
                   "expected 72 bytes of f32 for features, got 71");
    assert_refused(braid_plan_set_input(t.plan, "features", NULL, 72), BRAID_ERROR_ARGUMENT, "got 0");
    assert_refused(braid_plan_write(t.plan, "labels", numbers, 4), BRAID_ERROR_ARGUMENT,
                   "expected 8 bytes for labels, got 4");
    assert_refused(braid_plan_read(t.plan, "target", numbers, 4), BRAID_ERROR_ARGUMENT, "labels|got \"target\"");
    assert_refused(braid_plan_read(t.plan, "norm", numbers, 4), BRAID_ERROR_ARGUMENT, "got \"norm\"");
    assert_refused(braid_plan_get_output(t.plan, numbers, 4), BRAID_ERROR_ARGUMENT, "room for 56 bytes, got 4");
    assert_refused(braid_plan_gradient(t.plan, "layers.0.fc.bias", numbers, 4), BRAID_ERROR_ARGUMENT,
                   "32 bytes, got layers.0.fc.bias and 4");
    assert_refused(braid_plan_set_rates(t.plan, 0, &(braid_rates){0}), BRAID_ERROR_ARGUMENT, "with an optimiser");
    assert_int_equal(braid_plan_group_count(t.plan), 0);
    assert_refused(braid_plan_step(t.plan, -1, &(braid_step_info){0}), BRAID_ERROR_ARGUMENT, "a step from 0");
    OK(braid_plan_tensor(t.plan, "features", &info, &memory));
    assert_true(info.rank == 2 && info.dims[0][0] == 2 && info.dims[0][1] == 9 && info.role == BRAID_ROLE_IN);
    OK(braid_plan_tensor(t.plan, "loss", &info, &memory));
    assert_true(info.bytes[0] == 4 && info.role == BRAID_ROLE_OUT);
    trial_close(&t);
    trial_setup updated = s;
    updated.request.optimiser = BRAID_OPTIMISER_ADAM;
    t = trial_open(&updated);
    assert_refused(braid_plan_set_rates(t.plan, 3, &(braid_rates){0}), BRAID_ERROR_ARGUMENT,
                   "a group from 0 to 2, got 3");
    assert_refused(braid_plan_set_rates(t.plan, 0, NULL), BRAID_ERROR_ARGUMENT, "got NULL");
    OK(braid_plan_tensor(t.plan, "norm", &info, &memory));
    trial_close(&t);
}

/* ---- Allocations ---------------------------------------------------------------------------- */

/* A small network of two streams with a mix, normalisation, dropout and a classifier. */
static void build_small(braid_net *net) {
    braid_value x = braid_net_join(net, braid_net_input(net, "a", 2), braid_net_input(net, "b", 1));
    braid_value r = braid_net_layer(net, "conv", x,
                                    &(braid_problem){.op = BRAID_OP_CONV2D, .out_channels = {4, 4}, .filter = {3, 3}});
    braid_value z = braid_net_integrate(net, "mix", r, (braid_value){0}, &(braid_problem){.integrated_out = 4});
    z = braid_net_layer(net, "bn", z, &(braid_problem){.op = BRAID_OP_BATCHNORM});
    z = braid_net_layer(net, NULL, z, &(braid_problem){.op = BRAID_OP_ACT});
    z = braid_net_layer(net, NULL, z, &(braid_problem){.op = BRAID_OP_AVGPOOL});
    z = braid_net_layer(net, NULL, z, &(braid_problem){.op = BRAID_OP_DROPOUT, .rate = 0.5});
    braid_net_output(net, braid_net_layer(net, "fc", z, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {3}}));
}

static braid_dtype starved_dtype;

static braid_status make_plan(void) {
    const braid_context_options options = {.device = "cpu", .threads = 1, .cache_dir = "", .disable = ""};
    const braid_plan_request request = {
        .batch = 2, .size = {6, 5}, .mask = 1, .optimiser = BRAID_OPTIMISER_ADAMW, ESTIMATE};
    braid_context *context = NULL;
    braid_net *net = NULL;
    braid_model *model = NULL;
    braid_plan *plan = NULL;
    braid_status status = braid_context_create(&options, &context);
    if (!status) status = braid_net_create(NULL, NULL, &net);
    if (!status) build_small(net);
    if (!status) status = braid_model_create(context, net, &(braid_model_options){.dtype = starved_dtype}, &model);
    if (!status) status = braid_plan_create(model, &request, &plan);
    if (!status) status = braid_plan_run(plan, FORWARD | BACKWARD | UPDATE);
    if (!status)
        status =
            braid_model_read(model, "conv.weight.0", (double[72]){0}, starved_dtype == BRAID_DTYPE_F64 ? 576 : 288);
    braid_plan_destroy(plan);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    return status;
}

/* Fails one allocation after the other, once or from there on; returns how many there were. Few may fail without harm:
 * what a chain asks wisdom for has a way round. */
static int64_t starve(fail_mode mode, int64_t *harmless) {
    for (int64_t nth = 1;; nth++) {
        fail_alloc_arm(nth, mode);
        braid_status status = make_plan();
        int64_t failures = fail_alloc_disarm();
        if (memory_live() != 0) fail_msg("allocation %lld failed, and something leaked", (long long)nth);
        if (!failures) {
            assert_int_equal(status, BRAID_OK);
            return nth - 1;
        }
        *harmless += status == BRAID_OK;
        if (status != BRAID_OK) assert_refused(status, BRAID_ERROR_MEMORY, "no memory");
    }
}

static void every_allocation_fails(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F64};
    (void)state;
    for (int d = 0; d < 3; d++) {
        int64_t harmless = 0;
        starved_dtype = dtypes[d];
        OK(make_plan()); /* libraries are loaded, once and for all */
        fail_alloc_install();
        int64_t once = starve(FAIL_ONCE, &harmless), from_then_on = starve(FAIL_PERSISTENT, &harmless);
        fail_alloc_remove();
        assert_true(once > 100 && from_then_on > 100 && harmless < once / 10);
    }
}

/* ---- Model files ---------------------------------------------------------------------------- */

typedef enum harm {
    NO_HARM,
    MISSING,
    EXTRA,
    SHAPE,
    RANK,
    INTEGERS,
    NO_COUNTERS, /* allowed: they begin at 0 */
    HALVES,      /* allowed: f16 and bf16 are numbers too */
    OLD_HEADS,   /* allowed: heads that only training used */
} harm;

/* Writes a file of the network's tensors, all numbers 0.25, with some harm done to one of them. */
static void write_file(const braid_net *net, const char *path, harm what, const char *whose) {
    static unsigned char data[1 << 16];
    safetensors_writer *writer = NULL;
    OK(safetensors_writer_create(&writer));
    for (int j = 0; j < braid_net_tensor_count(net); j++) {
        braid_tensor_info info;
        OK(braid_net_tensor(net, j, &info));
        int hit = strcmp(info.name, whose) == 0, is_counter = info.dtype == BRAID_DTYPE_I64;
        if ((hit && what == MISSING) || (is_counter && what == NO_COUNTERS)) continue;
        safetensors_tensor t = {.name = info.name, .dtype = info.dtype, .rank = info.rank, .data = data};
        for (int axis = 0; axis < info.rank; axis++) t.dims[axis] = info.dims[axis];
        if (hit && what == SHAPE) t.dims[0]++;
        if (hit && what == RANK) t.dims[t.rank++] = 1;
        if (hit && what == INTEGERS) t.dtype = BRAID_DTYPE_I32;
        if (!is_counter && what == HALVES) t.dtype = j % 2 ? BRAID_DTYPE_BF16 : BRAID_DTYPE_F16;
        OK(safetensors_writer_add(writer, &t));
    }
    for (size_t j = 0; j < sizeof data / 4; j++) dtype_store(data, BRAID_DTYPE_F32, (int64_t)j, 0.25);
    const safetensors_tensor more = {
        .name = what == OLD_HEADS ? "fc_streams.0.weight" : "more", .rank = 0, .data = data};
    if (what == EXTRA || what == OLD_HEADS) OK(safetensors_writer_add(writer, &more));
    OK(safetensors_writer_write(writer, path));
    safetensors_writer_destroy(writer);
}

static void assert_not_loaded(const trial *t, const char *path, const char *words) {
    uint64_t before = trial_hash(t);
    int64_t live = memory_live();
    assert_refused(braid_model_load(t->model, path), BRAID_ERROR_MODEL, words);
    assert_true(trial_hash(t) == before);
    assert_int_equal(memory_live(), live);
}

static void files_that_do_not_fit(void **state) {
    const trial_setup s = {
        .kind = "linet18", .net = {.streams = 1, .width = 1.0 / 64}, .request = {.size = {70, 70}, .batch = 2}};
    scratch folder;
    (void)state;
    trial t = trial_open(&s);
    scratch_begin(&folder);
    const char *path = scratch_path(&folder, "bad.safetensors"), *last = "fc.weight";
    write_file(t.net, path, MISSING, last);
    assert_not_loaded(&t, path, "missing 1 (fc.weight); |nothing was loaded");
    write_file(t.net, path, EXTRA, last);
    assert_not_loaded(&t, path, "network; extra 1 (more)");
    write_file(t.net, path, SHAPE, last);
    assert_not_loaded(&t, path, "of another shape 1 (fc.weight F32 16x8)");
    write_file(t.net, path, RANK, last);
    assert_not_loaded(&t, path, "of another shape 1 (fc.weight F32 15x8x1)");
    write_file(t.net, path, INTEGERS, last);
    assert_not_loaded(&t, path, "of another shape 1 (fc.weight I32");
    write_file(t.net, path, SHAPE, "bn1.num_batches_tracked");
    OK(braid_model_load(t.model, path)); /* a counter has no axes to differ in */
    write_file(t.net, path, NO_HARM, "");
    OK(braid_model_load(t.model, path));
    scratch_end(&folder);
    trial_close(&t);
}

/* A bit of the last tensor flips, or the file ends early: found before the first number is changed. */
static void damaged_files(void **state) {
    const trial_setup s = {.kind = "mlp", .net = {.layers = {9, 8, 7}}, .request = {.batch = 2}};
    scratch folder;
    char *data = NULL;
    size_t bytes;
    (void)state;
    trial t = trial_open(&s);
    scratch_begin(&folder);
    const char *path = scratch_path(&folder, "damaged.safetensors");
    trial_shake(&t, 1, 0);
    OK(braid_model_save(t.model, path));
    trial_shake(&t, 2, 0);
    OK(files_read(path, 1 << 20, BRAID_ERROR_MODEL, &data, &bytes));
    for (size_t at = 1; at <= 3; at++) {
        data[bytes - 16 * at] ^= 1;
        OK(files_replace(path, data, bytes));
        assert_not_loaded(&t, path, "checksum");
        data[bytes - 16 * at] ^= 1;
    }
    for (size_t cut = 0; cut < bytes; cut += bytes / 7) {
        OK(files_replace(path, data, cut));
        assert_not_loaded(&t, path, "expected");
    }
    assert_not_loaded(&t, "no_such_file.safetensors", "no_such_file");
    assert_refused(braid_model_load(NULL, path), BRAID_ERROR_ARGUMENT, "got NULL");
    assert_refused(braid_model_save(t.model, "no/such/folder/x"), BRAID_ERROR_DISK, "no/such/folder");
    memory_free(data);
    scratch_end(&folder);
    trial_close(&t);
}

static void files_that_fit_otherwise(void **state) {
    const trial_setup s = {
        .kind = "linet18", .net = {.streams = 1, .width = 1.0 / 64}, .request = {.size = {70, 70}, .batch = 2}};
    scratch folder;
    (void)state;
    trial t = trial_open(&s);
    braid_net *net = NULL;
    scratch_begin(&folder);
    const char *path = scratch_path(&folder, "other.safetensors");
    double seven[1] = {7};
    trial_write(&t, "bn1.num_batches_tracked", seven, 1);
    write_file(t.net, path, NO_COUNTERS, "");
    OK(braid_model_load(t.model, path));
    assert_true(trial_read_one(&t, "bn1.num_batches_tracked") == 0);
    assert_true(trial_read_one(&t, "fc.weight") == 0.25);
    write_file(t.net, path, OLD_HEADS, "");
    OK(braid_model_load(t.model, path));
    write_file(t.net, path, HALVES, "");
    OK(braid_model_load(t.model, path));
    assert_refused(braid_net_from_file(path, &net), BRAID_ERROR_MODEL, "expected the description of a network");
    assert_null(net);
    scratch_end(&folder);
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_checked),          cmocka_unit_test(a_model_is_checked),
        cmocka_unit_test(tensors_of_a_plan_are_checked), cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(files_that_do_not_fit),         cmocka_unit_test(damaged_files),
        cmocka_unit_test(files_that_fit_otherwise),
    };
    return cmocka_run_group_tests_name("plan/network_faults", tests, NULL, NULL);
}
