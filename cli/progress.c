/*
 * Progress on standard error, and Ctrl-C, which SIGTERM is the same as. The first lets the current race or training
 * step end and keeps what was done; the second ends the program at once. SIGHUP is as the first: a terminal that is
 * closed sends several of them, so that none ends the program at once. One that is ignored when the program starts
 * (nohup, jobs in the background of a script) stays ignored.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupts;

static void on_interrupt(int number) {
    static const char note[] = "\nbraid: stopping after the current step; Ctrl-C again ends at once\n";
    if (interrupts++) {
        if (number != SIGHUP) _exit(EXIT_INTERRUPTED);
        return;
    }
    if (write(STDERR_FILENO, note, sizeof note - 1) < 0) return;
}

void interrupt_begin(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
        int is_ignored = sigaction(numbers[j], NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!is_ignored) sigaction(numbers[j], &action, NULL);
    }
}

int interrupted(void) { return interrupts != 0; }

static int ask_interrupted(void *unused) {
    (void)unused;
    return interrupted();
}

braid_data_limits limits_of(int64_t max_pixels) {
    return (braid_data_limits){.max_pixels = max_pixels, .stop = ask_interrupted};
}

double clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *p, int total, int quiet) {
    *p = (progress){.total = total, .quiet = quiet, .on_terminal = isatty(STDERR_FILENO), .started_s = clock_s()};
}

void progress_step(progress *p, int index, const char *what) {
    double elapsed = clock_s() - p->started_s;
    double pause = p->on_terminal ? 0.1 : 1;
    if (p->quiet || (index > 0 && elapsed - p->shown_s < pause)) return;
    p->shown_s = elapsed;
    char left[32] = "";
    if (index > 0) snprintf(left, sizeof left, ", about %.0f s left", elapsed / index * (p->total - index));
    if (p->on_terminal)
        fprintf(stderr, "\r\033[K[%d/%d] %.50s (%.0f s%s)", index + 1, p->total, what, elapsed, left);
    else
        fprintf(stderr, "[%d/%d] %s (%.0f s%s)\n", index + 1, p->total, what, elapsed, left);
    fflush(stderr);
}

void progress_clear(const progress *p) {
    if (p->quiet || !p->on_terminal) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
