/*
 * "Did you mean ...?": the word with the fewest letters to change, where they are few.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli.h"

#define LONGEST 64

/* Letters to insert, delete, replace or swap with a neighbour to make one word of the other. */
static int distance(const char *a, const char *b) {
    int rows[3][LONGEST + 1], na = (int)strlen(a), nb = (int)strlen(b);
    for (int j = 0; j <= nb; j++) rows[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[na % 3][nb];
}

const char *nearest_word(const char *typed, const char *list, const char *separators) {
    static char nearest[LONGEST + 1];
    size_t typed_length = strlen(typed);
    int least = typed_length > 5 ? 3 : typed_length > 2 ? 2 : 1;
    char word[LONGEST + 1];
    int found = 0;
    if (typed_length > LONGEST) return NULL;
    for (const char *next = list + strspn(list, separators); *next; next += strspn(next, separators)) {
        size_t length = strcspn(next, separators);
        if (length <= LONGEST) {
            snprintf(word, sizeof word, "%.*s", (int)length, next);
            int prefix = typed_length >= 3 && !strncmp(word, typed, typed_length),
                d = prefix ? 1 : distance(typed, word);
            if (d < least || (d == least && !found)) {
                least = d;
                found = 1;
                memcpy(nearest, word, sizeof nearest);
            }
        }
        next += length;
    }
    return found ? nearest : NULL;
}
