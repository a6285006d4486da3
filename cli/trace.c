/*
 * A profile as a Chrome trace: an array of complete events, times in microseconds, one row for each segment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES (BRAID_PROBLEM_TEXT + 512)

/* One call that begins at `start` microseconds. Names of kernels and problems need no escapes. */
static size_t print_event(const braid_step_info *info, double start, double seconds, char *text, size_t room) {
    char problem[BRAID_PROBLEM_TEXT] = "";
    if (braid_problem_print(info->problem, problem, sizeof problem)) return 0;
    int wrote = snprintf(text, room,
                         "{\"name\":\"%s%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
                         "\"args\":{\"problem\":\"%s\",\"bytes\":%.0f,\"flops\":%.0f,\"launches\":%d}},\n",
                         info->kernel, info->is_pack ? " pack" : "", step_segment_name(info), (int)info->segment, start,
                         1e6 * seconds, problem, info->is_pack ? 0 : info->race->bytes,
                         info->is_pack ? 0 : info->race->flops, info->launches);
    return wrote > 0 && (size_t)wrote < room ? (size_t)wrote : 0;
}

static void print_trace(const plan_work *work, const plan_figures *figures, char *text, size_t room) {
    static const char *const rows[] = {"forward", "backward", "update"};
    double start = 0;
    size_t used = 0;
    for (int j = 0; j < braid_plan_step_count(work->plan); j++) {
        braid_step_info info;
        if (braid_plan_step(work->plan, j, &info) || figures->seconds[j] <= 0) continue;
        used += print_event(&info, start, figures->seconds[j], text + used, room - used);
        start += 1e6 * figures->seconds[j];
    }
    for (int row = 0; row < 3; row++) {
        int wrote =
            snprintf(text + used, room - used,
                     "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":\"%s\"}}%s\n",
                     1 << row, rows[row], row < 2 ? "," : "]}");
        if (wrote > 0) used += (size_t)wrote;
    }
}

int trace_save(const plan_work *work, const plan_figures *figures, const char *file) {
    static const char head[] = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    size_t room = ((size_t)braid_plan_step_count(work->plan) + 4) * EVENT_BYTES;
    char *text = calloc(room, 1);
    if (!text) return complain(BRAID_ERROR_MEMORY, "no memory for the trace");
    memcpy(text, head, sizeof head);
    print_trace(work, figures, text + sizeof head - 1, room - sizeof head);
    int code = output_save(file, text);
    free(text);
    return code;
}
