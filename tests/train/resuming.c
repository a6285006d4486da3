/*
 * Tests of what may change when a run goes on, and what may not: patience and epochs behind an early stop.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "braid.h"
#include "core/memory.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

/* Nothing is ever so much better than the first epoch. */
static braid_train_options never_better(void) {
    braid_train_options o = small_run_options();
    o.folder = "run";
    o.min_delta = 100;
    o.patience = 2;
    o.epochs = 20;
    return o;
}

/* The epochs that are behind the run when it is over. */
static int64_t runs_to(const braid_train_options *o) {
    small_run r;
    braid_train_event place;
    ok(small_run_open(&r, o));
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_is_done(r.trainer), 1);
    braid_trainer_place(r.trainer, &place);
    small_run_close(&r);
    return place.epoch;
}

static void an_early_stop_is_not_for_ever(void **state) {
    (void)state;
    braid_train_options o = never_better();
    assert_int_equal(runs_to(&o), 4);
    o.resume = 1;
    assert_int_equal(runs_to(&o), 4);
    o.patience = 1;
    assert_int_equal(runs_to(&o), 4);
    o.patience = 5; /* of which three are used up */
    assert_int_equal(runs_to(&o), 7);
    o.epochs = 30; /* counted anew */
    assert_int_equal(runs_to(&o), 13);
    assert_int_equal(runs_to(&o), 13);
    o.patience = 0;
    assert_int_equal(runs_to(&o), 30);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_early_stop_is_not_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
