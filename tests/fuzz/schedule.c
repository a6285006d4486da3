/*
 * Fuzz target: the reader of schedules. Any text is refused in words or gives a schedule; its own text gives the same
 * one, and its rates are numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/mutate.h"
#include "train/schedule.h"

static void must_be_sound(const schedule *s) {
    char *text, *again;
    schedule back;
    schedule_state state = {0};
    MUTATE_MUST(schedule_print(s, &text) == BRAID_OK);
    MUTATE_MUST(schedule_parse(text, &s->run, &back) == BRAID_OK);
    MUTATE_MUST(schedule_print(&back, &again) == BRAID_OK && strcmp(text, again) == 0);
    for (int64_t step = 0; step < 40; step += 3) {
        double rate = schedule_rate(s, &state, step, (int)(step % s->run.groups), 0.1);
        MUTATE_MUST(isfinite(rate) && rate >= 0);
        schedule_observe(s, &state, step / s->run.steps_per_epoch, step % 2 ? 1 : NAN);
    }
    memory_free(text);
    memory_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char text[5000];
    schedule s;
    size_t length = bytes < sizeof text ? bytes : sizeof text - 1;
    memcpy(text, data, length);
    text[length] = 0;
    braid_status status = schedule_parse(text, &(schedule_run){3, 10, 3}, &s);
    if (status == BRAID_OK)
        must_be_sound(&s);
    else
        MUTATE_MUST(status == BRAID_ERROR_ARGUMENT && strstr(braid_message(), "expected"));
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "constant",
    "cosine:t_max=95:eta_min=3e-7,5e-7,9e-8:warmup=5:start_factor=0.2",
    "cosine_restarts:t_0=4:t_mult=2:eta_min=1e-4:each=step",
    "one_cycle:peak=2.5:pct=0.5:div=4:final_div=100",
    "step:size=5:gamma=0.3:each=epoch",
    "plateau:factor=0.3:patience=1:threshold=1e-3:cooldown=2:min_lr=1e-9:maximize=1",
    NULL,
};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 100000); }
#endif
