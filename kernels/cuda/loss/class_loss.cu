/*
 * softmax_xent and focal: the loss of every sample, their mean, and the gradient. The equations are in
 * kernels/ref/softmax_xent_*.c and kernels/ref/focal_*.c. A row of logits belongs to some lanes of a block; all sums
 * are made in double, for logits are few.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/loss/class_loss.h"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/rows.cuh"

/* The row of this thread, and its softmax about the largest logit. */
struct class_row {
    int64_t row, label; /* label -1: ignored, or beyond the batch */
    int32_t lane;
    double largest, sum, others; /* others: without the class of the label */
};

static __device__ __forceinline__ double class_weight(const class_loss_args &args, int64_t c) {
    return args.weights ? (double)args.weights[c] : 1;
}

static __device__ __forceinline__ int64_t class_label(const class_loss_args &args, int64_t row) {
    const int32_t label = row < args.batch ? args.labels[row] : -1;
    return label >= 0 && label < args.classes ? label : -1;
}

template <class number>
static __device__ __forceinline__ class_row class_row_of(const class_loss_args &args, int64_t block, double *shared) {
    class_row r;
    const number *x;
    r.row = block * (BLOCK_THREADS / args.lanes) + (int32_t)threadIdx.x / args.lanes;
    r.lane = (int32_t)threadIdx.x % args.lanes;
    r.label = class_label(args, r.row);
    x = (const number *)args.x + (r.label < 0 ? 0 : r.row) * args.pitch;
    double largest = -INFINITY, sum = 0, others = 0;
    for (int64_t c = r.lane; c < args.classes && r.label >= 0; c += args.lanes)
        largest = row_larger((double)load(x + c), largest);
    r.largest = row_largest(shared, largest, args.lanes);
    for (int64_t c = r.lane; c < args.classes && r.label >= 0; c += args.lanes) {
        const double exponential = exp((double)load(x + c) - r.largest);
        sum += exponential;
        if (c != r.label) others += exponential;
    }
    r.sum = row_sum(shared, sum, args.lanes);
    r.others = row_sum(shared, others, args.lanes);
    return r;
}

/* What every sample of a block of rows adds; the lanes of a row know it. */
template <class number>
static __device__ __forceinline__ class_share class_share_of(const class_loss_args &args, int64_t block,
                                                             double *shared) {
    const class_row r = class_row_of<number>(args, block, shared);
    const number *x = (const number *)args.x + (r.label < 0 ? 0 : r.row) * args.pitch;
    const double own = r.label < 0 ? 0 : (double)load(x + r.label);
    double smooth = 0, wrong = 0;
    for (int64_t c = r.lane; c < args.classes && r.label >= 0; c += args.lanes) {
        const double value = (double)load(x + c);
        if (args.smoothing > 0) smooth += class_weight(args, c) * (r.largest - value + log(r.sum));
        if (isnan(value) || value > own || (value == own && c < r.label)) wrong = 1;
    }
    smooth = row_sum(shared, smooth, args.lanes);
    wrong = row_sum(shared, wrong, args.lanes);
    class_share share = {0, 0, 0};
    if (r.label < 0) return share;
    const double entropy = r.largest - own + log(r.sum), weight = class_weight(args, r.label);
    share.right = wrong == 0 ? 1 : 0;
    share.weight = args.focal ? 1 : weight;
    share.loss = args.focal ? args.alpha * pow(r.others / r.sum, args.gamma) * entropy
                            : (1 - args.smoothing) * weight * entropy + args.smoothing / (double)args.classes * smooth;
    return share;
}

/* The mean of what the threads of the only block have. */
static __device__ __forceinline__ void write_mean(const class_loss_args &args, const class_share &mine,
                                                  double *shared) {
    const double loss = row_sum(shared, mine.loss, BLOCK_THREADS);
    const double weight = row_sum(shared, mine.weight, BLOCK_THREADS);
    const double right = row_sum(shared, mine.right, BLOCK_THREADS);
    if (threadIdx.x != 0) return;
    *args.loss = weight == 0 ? 0 : (float)(loss / weight);
    *args.correct = (int64_t)right;
}

static __device__ __forceinline__ void include(class_share *sum, const class_share &share) {
    sum->loss += share.loss;
    sum->weight += share.weight;
    sum->right += share.right;
}

/* The forward pass: one block that goes through few rows and makes their mean, or the first of two launches. */
template <class number>
static __device__ __forceinline__ void class_loss_rows(const class_loss_args &args, double *shared) {
    const int32_t rows = BLOCK_THREADS / args.lanes, lane = (int32_t)threadIdx.x % args.lanes;
    if (!args.alone) {
        const class_share share = class_share_of<number>(args, blockIdx.x, shared);
        const int64_t row = (int64_t)blockIdx.x * rows + (int32_t)threadIdx.x / args.lanes;
        if (lane == 0 && row < args.batch) args.workspace[row] = share;
        return;
    }
    class_share mine = {0, 0, 0};
    for (int64_t block = 0; block * rows < args.batch; block++) {
        const class_share share = class_share_of<number>(args, block, shared);
        if (lane == 0) include(&mine, share);
    }
    write_mean(args, mine, shared);
}

/* The second launch: one block. */
ENTRY(class_loss_mean, (BLOCK_THREADS), class_loss_args, __shared__ double shared[BLOCK_THREADS];
      class_share mine = {0, 0, 0};
      for (int64_t row = threadIdx.x; row < args.batch; row += BLOCK_THREADS) include(&mine, args.workspace[row]);
      write_mean(args, mine, shared))

template <class number>
static __device__ __forceinline__ void class_loss_gradient(const class_loss_args &args, double *shared) {
    double weight = 0, all = 0;
    for (int64_t row = threadIdx.x; row < args.batch; row += BLOCK_THREADS) {
        const int64_t label = class_label(args, row);
        if (label >= 0) weight += args.focal ? 1 : class_weight(args, label);
    }
    for (int64_t c = threadIdx.x; c < args.classes && args.smoothing > 0; c += BLOCK_THREADS)
        all += class_weight(args, c);
    weight = row_sum(shared, weight, BLOCK_THREADS);
    all = row_sum(shared, all, BLOCK_THREADS);

    const class_row r = class_row_of<number>(args, blockIdx.x, shared);
    if (r.row >= args.batch) return;
    const number *x = (const number *)args.x + r.row * args.pitch;
    const bool live = r.label >= 0 && weight != 0;
    const double scale = live ? (double)*args.loss / weight : 0, share = args.smoothing / (double)args.classes;
    double own = live ? (1 - args.smoothing) * class_weight(args, r.label) : 0;
    if (args.focal && live) {
        const double missing = r.others / r.sum, entropy = r.largest - (double)load(x + r.label) + log(r.sum);
        own = missing == 0
                  ? 0
                  : args.alpha * pow(missing, args.gamma) * (1 + args.gamma * exp(-entropy) * entropy / missing);
    }
    for (int64_t c = r.lane; c < args.pitch; c += args.lanes) {
        double value = 0;
        if (live && c < args.classes) {
            const double probability = exp((double)load(x + c) - r.largest) / r.sum;
            value = c == r.label ? -own * r.others / r.sum : own * probability;
            if (args.smoothing > 0) value += share * all * probability - share * class_weight(args, c);
            value *= scale;
        }
        store((number *)args.dx + r.row * args.pitch + c, (float)value);
    }
}

ENTRY_FORMATS(class_loss_rows, (BLOCK_THREADS), class_loss_args, __shared__ double shared[BLOCK_THREADS];
              class_loss_rows<number>(args, shared))
ENTRY_FORMATS(class_loss_gradient, (BLOCK_THREADS), class_loss_args, __shared__ double shared[BLOCK_THREADS];
              class_loss_gradient<number>(args, shared))
