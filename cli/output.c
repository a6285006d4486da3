/*
 * Standard output that cannot lose data silently: a full disk or a closed descriptor ends in exit
 * code 7, a reader that left ends quietly.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

static int write_error;     /* errno of the first failed write to standard output */
static int output_is_ended; /* 1: standard output is closed */

void output_begin(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file over the limit of the shell is an error like a full disk */
    /* A file that is opened later must not become descriptor 0, 1 or 2. Output gets one that refuses. */
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0) _exit(BRAID_ERROR_DISK);
}

/* Why a write failed that left no errno behind: a pipe without a reader says so when it is asked. */
static int ask_descriptor(void) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && output.revents & (POLLERR | POLLHUP) ? EPIPE : EIO;
}

static void note_error(int failed) {
    if (failed && !write_error) write_error = errno ? errno : ask_descriptor();
}

int output_broken(void) {
    if (output_is_ended) return write_error != 0;
    errno = 0;
    note_error(fflush(stdout) != 0 || ferror(stdout));
    return write_error != 0;
}

int output_end(int code) {
    output_broken();
    errno = 0;
    note_error(fclose(stdout) != 0);
    output_is_ended = 1;
    int is_gone = write_error == EPIPE || (write_error == EIO && interrupted()); /* the reader, or the terminal */
    if (!write_error || is_gone) return code;
    return complain(BRAID_ERROR_DISK, "cannot write to standard output: %s", strerror(write_error));
}

static int terminal_width(void) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (columns && atoi(columns) > 0) return atoi(columns);
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

braid_print_options output_options(braid_format format) {
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    int terminal = isatty(STDOUT_FILENO);
    int colour = terminal && !(no_colour && *no_colour) && !(term && !strcmp(term, "dumb"));
    return (braid_print_options){.format = format, .width = terminal ? terminal_width() : 0, .colour = colour};
}

static int print_text(braid_status status, char *text) {
    if (status) return complain_lab(status);
    errno = 0;
    note_error(fputs(text, stdout) < 0);
    braid_text_destroy(text);
    return 0;
}

int output_report(braid_report *report, braid_format format) {
    char *text = NULL;
    if (!report) return 0;
    braid_print_options options = output_options(format);
    braid_status status = braid_report_print(report, &options, &text);
    int code = print_text(status, text);
    braid_report_destroy(report);
    return code;
}

int output_save(const char *path, const char *text) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    if (slash && !folder) return complain(BRAID_ERROR_MEMORY, "no memory for the path %s", path);
    braid_status status = braid_text_save(folder ? folder : ".", slash ? slash + 1 : path, text);
    free(folder);
    return status ? complain_lab(status) : 0;
}

int output_table(braid_table *table, const braid_print_options *options) {
    char *text = NULL;
    if (!table) return 0;
    braid_status status = braid_table_print(table, options, &text);
    int code = print_text(status, text);
    braid_table_destroy(table);
    return code;
}
