/*
 * What BRAID_LOG asks for, on standard error: BRAID_LOG=plan,choose or BRAID_LOG=all.
 * Without it the library prints nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_LOG_H
#define BRAID_CORE_LOG_H

typedef enum log_topic { LOG_PLAN, LOG_CHOOSE, LOG_WISDOM, LOG_DEVICE, LOG_TOPIC_COUNT } log_topic;

int log_enabled(log_topic topic);

/* One line; control characters are escaped. */
__attribute__((format(printf, 2, 3))) void log_write(log_topic topic, const char *format, ...);

#endif
