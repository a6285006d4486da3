/*
 * What a confusion matrix tells.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "braid_train.h"

static double share(int64_t part, int64_t whole) { return whole > 0 ? (double)part / (double)whole : NAN; }

static braid_class_metrics measure_class(const int64_t *counts, int classes, int c) {
    braid_class_metrics m = {.correct = counts[(int64_t)c * classes + c]};
    for (int other = 0; other < classes; other++) {
        m.samples += counts[(int64_t)c * classes + other];
        m.answers += counts[(int64_t)other * classes + c];
    }
    m.precision = share(m.correct, m.answers);
    m.recall = share(m.correct, m.samples);
    m.f1 = share(2 * m.correct, m.answers + m.samples);
    return m;
}

void braid_confusion_measure(const int64_t *counts, int classes, braid_class_metrics *each,
                             braid_confusion_metrics *all) {
    double recalls = 0;
    int present = 0;
    if (!all) return;
    *all = (braid_confusion_metrics){0};
    for (int c = 0; counts && c < classes; c++) {
        braid_class_metrics m = measure_class(counts, classes, c);
        all->samples += m.samples;
        all->correct += m.correct;
        if (m.samples > 0) recalls += m.recall;
        present += m.samples > 0;
        if (each) each[c] = m;
    }
    all->accuracy = share(all->correct, all->samples);
    all->balanced_accuracy = present > 0 ? recalls / present : NAN;
}
