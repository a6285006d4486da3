/*
 * How wide text is on a terminal. Kernel names and problems are ASCII, but names of devices, files
 * and messages need not be: combining marks take no column, East Asian characters and emoji two.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <string.h>

#include "report/table.h"

#define CONTROL_WIDTH 4 /* of "\\x1b" */

/* The code point at *text, which is moved behind it. A byte that is not UTF-8 counts as itself. */
static uint32_t next_point(const unsigned char **text) {
    const unsigned char *s = *text;
    int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    uint32_t point = more == 3 ? s[0] & 7u : more == 2 ? s[0] & 15u : more == 1 ? s[0] & 31u : s[0];
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            *text = s + 1;
            return s[0];
        }
        point = point << 6 | (s[i] & 63u);
    }
    *text = s + 1 + more;
    return point;
}

static int in_range(uint32_t point, const uint32_t (*ranges)[2], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (point >= ranges[i][0] && point <= ranges[i][1]) return 1;
    return 0;
}

/* Controls but the end of a line and the tab: a terminal would obey them. */
static int is_control(uint32_t point) {
    return (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0);
}

static int point_width(uint32_t point) {
    static const uint32_t none[][2] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const uint32_t wide[][2] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                       {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (is_control(point)) return CONTROL_WIDTH;
    if (in_range(point, none, sizeof none / sizeof none[0])) return 0;
    return in_range(point, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

int text_width(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    int width = 0;
    while (*s) width += point_width(next_point(&s));
    return width;
}

size_t text_fit(const char *text, int columns) {
    const unsigned char *s = (const unsigned char *)text;
    int width = 0;
    while (*s) {
        const unsigned char *next = s;
        width += point_width(next_point(&next));
        if (width > columns) break;
        s = next;
    }
    return (size_t)(s - (const unsigned char *)text);
}

void text_print(const char *text, size_t bytes, FILE *out) {
    const unsigned char *s = (const unsigned char *)text, *end = s + bytes;
    while (s < end) {
        const unsigned char *first = s;
        uint32_t point = next_point(&s);
        if (is_control(point))
            fprintf(out, "\\x%02x", (unsigned)point);
        else
            fwrite(first, 1, (size_t)(s - first), out);
    }
}
