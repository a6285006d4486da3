/*
 * The log. BRAID_LOG is read once, at the first question, and each line goes out in one call, so that
 * lines of several threads do not mix.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/log.h"
#include "core/reals.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 1024
#define LINE_BYTES (32 + 4 * TEXT_BYTES) /* prefix, and every byte escaped */

static const char *const topic_names[LOG_TOPIC_COUNT] = {
    [LOG_PLAN] = "plan", [LOG_CHOOSE] = "choose", [LOG_WISDOM] = "wisdom", [LOG_DEVICE] = "device"};

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static unsigned enabled_topics; /* a bit each */

/* Bytes of the control character that begins here: ASCII's, or one of the C1 set in UTF-8. 0: it is none. */
static int control_bytes(const unsigned char *byte) {
    if (*byte < 0x20 || *byte == 0x7f) return 1;
    return *byte == 0xc2 && byte[1] >= 0x80 && byte[1] <= 0x9f ? 2 : 0;
}

static void write_line(const char *topic, const char *text) {
    char line[LINE_BYTES];
    size_t length = (size_t)snprintf(line, sizeof line, "braid %s: ", topic);
    int escaped = 0; /* bytes still to be escaped */
    for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++) {
        if (escaped == 0) escaped = control_bytes(byte);
        if (escaped > 0) {
            length += (size_t)snprintf(line + length, sizeof line - length, "\\x%02x", (unsigned)*byte);
            escaped--;
        } else {
            line[length++] = (char)*byte;
        }
    }
    line[length++] = '\n';
    fwrite(line, 1, length, stderr);
    fflush(stderr);
}

/* The bits of one word of BRAID_LOG; 0 for an unknown one. */
static unsigned topic_bits(const char *word, size_t length) {
    if (length == 3 && strncmp(word, "all", 3) == 0) return (1u << LOG_TOPIC_COUNT) - 1;
    for (unsigned topic = 0; topic < LOG_TOPIC_COUNT; topic++)
        if (strlen(topic_names[topic]) == length && strncmp(word, topic_names[topic], length) == 0) return 1u << topic;
    return 0;
}

static void read_environment(void) {
    const char *text = getenv("BRAID_LOG");
    while (text && *text) {
        size_t length = strcspn(text, ", ");
        unsigned bits = topic_bits(text, length);
        enabled_topics |= bits;
        if (length > 0 && bits == 0) {
            char note[TEXT_BYTES];
            snprintf(note, sizeof note, "BRAID_LOG: expected plan, choose, wisdom, device or all, got \"%.*s\"",
                     length < 64 ? (int)length : 64, text);
            write_line("log", note);
        }
        text += length + (text[length] != 0);
    }
}

int log_enabled(log_topic topic) {
    pthread_once(&read_once, read_environment);
    return (int)topic >= 0 && (int)topic < LOG_TOPIC_COUNT && ((enabled_topics >> topic) & 1u) != 0;
}

void log_write(log_topic topic, const char *format, ...) {
    char text[TEXT_BYTES];
    va_list arguments;
    if (!log_enabled(topic)) return;
    va_start(arguments, format);
    int length = real_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if (length >= TEXT_BYTES) memcpy(text + TEXT_BYTES - 4, "...", 4);
    write_line(topic_names[topic], text);
}
