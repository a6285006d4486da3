#!/usr/bin/env python3
"""Times PyTorch on an NVIDIA GPU on the work that braid's networks are judged by: whole networks as they usually run
(eager, channels last), replayed as one CUDA graph, and compiled; the single convolutions of LINet's layers; and linear
layers with ReLU, forward (fwd) and with all gradients (all).

    bench/peers/torch_cuda.py [--only REGEX] [--seconds S] [--compile] [--kernels] [--csv FILE] [--list]

Prints a table and, with --csv, writes the same rows to a file. The methods:
  eager     as written, in channels last; the GPU waits for Python
  graph     the same, captured once by torch.cuda.graph and replayed
  compiled  torch.compile(mode="max-autotune"), whose own graphs end before the optimiser: minutes (with --compile)
  compiled_graph  torch.compile as it comes, captured as a whole, optimiser included: about one minute (--compile)
  grouped   a convolution of all streams as one call with groups, in a graph (the streams lie packed already)
  each      one call for each stream, in a graph
  graph_beyond  a linear layer with ReLU in a graph that passes over copies which exceed the cache
Times are those of the GPU between two events, a sample for every so many runs, the median and its 95 % interval. The
single convolutions pass over copies of their tensors that exceed the cache. cuDNN tries its algorithms first
(benchmark mode); products are of TF32 where a row says tf32, and there alone. Needs PyTorch 2.x.

SPDX-License-Identifier: MIT
"""
import argparse
import csv
import functools
import math
import re
import statistics
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from golden_models import build  # noqa: E402

CLASSES, SIZE = 15, (416, 544)
BEYOND_CACHE = 256 << 20
HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}
FIELDS = ("work", "method", "dtype", "median_ms", "low_ms", "high_ms", "tflops", "peak_mib", "kernels", "note")


# ---- Timing ----------------------------------------------------------------------------------------------------------

def interval(samples):
    """The median and its 95 % interval by order statistics, as braid has it."""
    ordered, n = sorted(samples), len(samples)
    reach = 0.98 * math.sqrt(n)
    low, high = max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))
    return statistics.median(ordered), ordered[low], ordered[high]


def gpu_ms(run, count):
    """Milliseconds of one run, between two events around `count` of them."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / count


def samples_of(run, seconds):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    count = max(1, math.ceil(2 / gpu_ms(run, 2)))
    samples, start = [], time.perf_counter()
    while len(samples) < 7 or time.perf_counter() < start + seconds and len(samples) < 200:
        samples.append(gpu_ms(run, count))
    return samples


def captured(run):
    """`run` as one CUDA graph; what it allocates stays in the graph's own pool."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def kernel_count(run):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        run()
        torch.cuda.synchronize()
    return sum(event.count for event in seen.key_averages() if event.device_type == torch.autograd.DeviceType.CUDA)


# ---- Networks --------------------------------------------------------------------------------------------------------

def amp(dtype):
    return torch.autocast("cuda", dtype=HALVES.get(dtype, torch.float16), enabled=dtype in HALVES, cache_enabled=False)


def network(description):
    """A module on the GPU in channels last."""
    torch.manual_seed(1)
    model = build(description)
    model.initialize()
    return model.cuda().to(memory_format=torch.channels_last)


def compiled_by(model, method):
    modes = {"compiled": "max-autotune", "compiled_graph": "default"}
    return torch.compile(model, mode=modes[method]) if method in modes else model


def images(batch, channels, size, dtype=torch.float32):
    return [torch.randn(batch, c, *size, device="cuda", dtype=dtype).contiguous(memory_format=torch.channels_last)
            for c in channels]


def training(model, inputs, loss_of, dtype, optimiser=None):
    """Forward, loss and backward, then the optimiser's step where there is one."""
    def step():
        for p in model.parameters():
            p.grad = None
        with amp(dtype):
            loss = loss_of(model(inputs))
        loss.backward()
        if optimiser:
            optimiser.step()

    return step


def forward(model, inputs, dtype):
    def run():
        with torch.no_grad(), amp(dtype):
            model(inputs)

    return run


def resnet(kind, channels, batch, what, dtype, method):
    """A linet or an mcresnet; inference in pure half precision, training in autocast."""
    description = {"kind": kind, "channels": channels, "classes": CLASSES} | ({"init": "seed"} if "li" in kind else {})
    model = network(description)
    if what == "forward":
        pure = HALVES.get(dtype, torch.float32)
        return forward(compiled_by(model.eval().to(pure), method), images(batch, channels, SIZE, pure), "")
    labels = torch.randint(0, CLASSES, [batch], device="cuda")
    run = compiled_by(model, method)
    adamw = torch.optim.AdamW(model.parameters(), lr=1e-9, fused=True, capturable=True) if what == "step" else None
    return training(run, images(batch, channels, SIZE), lambda y: F.cross_entropy(y.float(), labels), dtype, adamw)


def rows(kind, width, batch, what, dtype, method):
    """A network on rows of numbers: the mean squared error where it gives its input back, else cross entropy."""
    model = network({"kind": kind})
    if kind == "lenet86":
        inputs = images(batch, [1], (86, 86))
    else:
        inputs = [torch.randn(batch, width, device="cuda")]
    run = compiled_by(model, method)
    if what == "forward":
        return forward(run, inputs, dtype)
    if kind.startswith("ssae"):
        loss = functools.partial(F.mse_loss, target=inputs[0])
    else:
        with torch.no_grad():
            classes = model(inputs).shape[1]
        labels = torch.randint(0, classes, [batch], device="cuda")
        loss = lambda y: F.cross_entropy(y.float(), labels)  # noqa: E731
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-9, fused=True, capturable=True)
    return training(run, inputs, lambda y: loss(y), dtype, optimiser)


# work: (what makes it, {dtype: methods})
COMPILED = ("compiled", "compiled_graph")
GRAPH = ("graph",)
STREAMS = {"linet": [3, 1, 1], "mcresnet": [3, 1]}


def resnet_works():
    """Whole steps, and steps without the optimiser (train)."""
    for kind, batch, what, methods in (
            ("linet18", 16, "train", {"f16": ("eager", "graph") + COMPILED}),
            ("linet18", 16, "step", {"f16": GRAPH + COMPILED, "bf16": GRAPH}),
            ("linet18", 16, "forward", {"f16": GRAPH + COMPILED, "bf16": GRAPH, "tf32": GRAPH}),
            ("mcresnet18", 32, "forward", {"f16": GRAPH + COMPILED, "bf16": GRAPH, "tf32": GRAPH}),
            ("mcresnet18", 128, "forward", {"f16": GRAPH + COMPILED}),
            ("mcresnet18", 32, "train", {"f16": GRAPH + COMPILED}),
            ("mcresnet18", 32, "step", {"f16": GRAPH + COMPILED}),
            ("linet50", 16, "step", {"f16": GRAPH}),
            ("mcresnet50", 32, "step", {"f16": GRAPH})):
        channels = STREAMS[kind.rstrip("0123456789")]
        make = functools.partial(resnet, kind, channels, batch, what)
        yield f"{kind}_{what}:n{len(channels)}:b{batch}:hw416x544", (make, methods)


def network_works():
    works = dict(resnet_works())
    small = (("lenet86", 0, 1000), ("lenet86", 0, 10000), ("ssae", 320, 256), ("ssae", 320, 8192),
             ("mlp-784-2048x4-1000", 784, 1024), ("mlp-784-256x2-10", 784, 64))
    for kind, width, batch in small:
        for what in ("forward", "step"):
            make = functools.partial(rows, kind, width, batch, what)
            works[f"{kind}_{what}:b{batch}"] = (make, {"f32": GRAPH, "f16": GRAPH})
    return works


# ---- Convolutions ----------------------------------------------------------------------------------------------------

# name: (inputs of each stream, outputs, input size, filter, stride)
LAYERS = {"stem": ([3, 1, 1], 64, (416, 544), 7, 2), "layer1": ([64] * 3, 64, (104, 136), 3, 1),
          "layer2.0": ([64] * 3, 128, (104, 136), 3, 2), "layer2.down": ([64] * 3, 128, (104, 136), 1, 2),
          "layer2": ([128] * 3, 128, (52, 68), 3, 1), "layer3.0": ([128] * 3, 256, (52, 68), 3, 2),
          "layer3.down": ([128] * 3, 256, (52, 68), 1, 2), "layer3": ([256] * 3, 256, (26, 34), 3, 1),
          "layer4.0": ([256] * 3, 512, (26, 34), 3, 2), "layer4.down": ([256] * 3, 512, (26, 34), 1, 2),
          "layer4": ([512] * 3, 512, (13, 17), 3, 1)}
PASSES = ("fwd", "bwd_data", "bwd_weight")


def convolution(x, w, g, what, stride, groups):
    padding = w.shape[2] // 2
    if what == "fwd":
        return torch.ops.aten.convolution(x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups)
    mask = [what == "bwd_data", what == "bwd_weight", False]
    return torch.ops.aten.convolution_backward(g, x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0],
                                               groups, mask)


def layer_tensors(layer, batch, dtype, grouped):
    """[(x, w, g)] of one call with groups, or of a call for each stream."""
    channels, outputs, size, filter_size, stride = LAYERS[layer]
    out = [math.ceil(s / stride) for s in size]
    calls = [(sum(channels), len(channels))] if grouped else [(c, 1) for c in channels]
    return [(images(batch, [c], size, dtype)[0],
             images(outputs * n, [c // n], (filter_size, filter_size), dtype)[0],
             images(batch, [outputs * n], out, dtype)[0]) for c, n in calls]


def layer_work(layer, what, batch, dtype, grouped):
    """All streams of a layer, over as many copies as exceed the cache: (run, copies, flops of one)."""
    channels, outputs, size, filter_size, stride = LAYERS[layer]
    first = layer_tensors(layer, batch, HALVES[dtype], grouped)
    bytes_each = sum(t.numel() * t.element_size() for call in first for t in call)
    copies = min(16, max(2, math.ceil(BEYOND_CACHE / bytes_each)))
    sets = [first] + [layer_tensors(layer, batch, HALVES[dtype], grouped) for _ in range(copies - 1)]

    def run():
        for calls in sets:
            for x, w, g in calls:
                convolution(x, w, g, what, stride, len(channels) if grouped else 1)

    pixels = batch * math.ceil(size[0] / stride) * math.ceil(size[1] / stride)
    return run, copies, 2 * pixels * outputs * filter_size ** 2 * sum(channels)


def layer_rows(dtypes=("f16",)):
    for layer, (channels, *_rest) in LAYERS.items():
        for what in PASSES:
            if layer == "stem" and what == "bwd_data":
                continue
            for dtype in dtypes:
                for method in ("grouped", "each"):
                    if method == "each" or len(set(channels)) == 1:
                        yield f"conv2d_{what}:{layer}:n3:b16", method, dtype


# ---- Linear layers ---------------------------------------------------------------------------------------------------

# batch, in, out
LINEAR_SIZES = ((8192, 4096, 4096), (4096, 1024, 4096), (1024, 784, 2048), (3000, 1111, 777), (256, 256, 512))
LINEAR_WORKS = {f"linear_act_{what}:b{b}:c{c}:k{k}": (what, b, c, k)
                for b, c, k in LINEAR_SIZES for what in ("fwd", "all")}


def linear_work(work, dtype, beyond):
    """relu(x w + b), or that and its three gradients; over copies that exceed the cache, or always the same tensors:
    (run, copies, flops of one)."""
    what, batch, inputs, outputs = LINEAR_WORKS[work]
    made = {"device": "cuda", "dtype": HALVES.get(dtype, torch.float32)}
    values = batch * inputs + inputs * outputs + 2 * batch * outputs
    copies = min(64, 1 + math.ceil(BEYOND_CACHE / (values * made["dtype"].itemsize))) if beyond else 1
    sets = [(torch.randn(batch, inputs, **made, requires_grad=True),
             torch.randn(outputs, inputs, **made, requires_grad=True),
             torch.randn(outputs, **made, requires_grad=True), torch.randn(batch, outputs, **made))
            for _ in range(copies)]

    def run():
        for x, w, b, g in sets:
            y = F.relu(F.linear(x, w, b))
            if what == "all":
                torch.autograd.grad(y, (x, w, b), g)

    return run, copies, 2 * batch * inputs * outputs * (3 if what == "all" else 1)


def linear_rows():
    for work in LINEAR_WORKS:
        for dtype in ("bf16", "f16", "tf32", "f32"):
            for method in ("eager", "graph", "graph_beyond"):
                yield work, method, dtype


# ---- Rows ------------------------------------------------------------------------------------------------------------

def flops_of(run):
    from torch.utils.flop_counter import FlopCounterMode
    counter = FlopCounterMode(display=False)
    with counter:
        run()
    return counter.get_total_flops()


def network_row(work, method, dtype, options):
    make = network_works()[work][0]
    run = make(dtype, method)
    flops = flops_of(make(dtype, "eager"))
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    timed = captured(run) if "graph" in method else run
    for _ in range(3):
        timed()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_reserved() - before
    return samples_of(timed, options.seconds), flops, peak, kernel_count(timed) if options.kernels else None


def conv_row(work, method, dtype, options):
    what, layer = re.match(r"conv2d_(\w+):([\w.]+):", work).groups()
    run, copies, flops = layer_work(layer, what, 16, dtype, method == "grouped")
    samples = samples_of(captured(run), options.seconds / 4)
    return [s / copies for s in samples], flops, None, None


def linear_row(work, method, dtype, options):
    run, copies, flops = linear_work(work, dtype, method == "graph_beyond")
    samples = samples_of(run if method == "eager" else captured(run), options.seconds / 4)
    return [s / copies for s in samples], flops, None, None


def row_of(key, options):
    work, method, dtype = key
    row = dict.fromkeys(FIELDS) | {"work": work, "method": method, "dtype": dtype, "note": ""}
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    try:
        measure = {"conv2d": conv_row, "linear": linear_row}.get(work.split("_")[0], network_row)
        samples, flops, peak, row["kernels"] = measure(*key, options)
        row["median_ms"], row["low_ms"], row["high_ms"] = interval(samples)
        row["tflops"] = flops / row["median_ms"] * 1e-9
        row["peak_mib"] = peak / 2 ** 20 if peak else None
    except (RuntimeError, ValueError) as error:
        row["note"] = "failed: " + str(error).strip().split("\n")[0][:120]
    torch._dynamo.reset()
    torch.cuda.empty_cache()
    return row


def all_rows(options):
    for work, (_, methods) in network_works().items():
        for dtype in methods:
            for method in methods[dtype]:
                if method not in COMPILED or options.compile:
                    yield work, method, dtype
    yield from layer_rows()
    yield from linear_rows()


def text_of(value):
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose work, method and dtype match")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each row, a quarter for a convolution")
    parser.add_argument("--compile", action="store_true", help="the compiled rows, too: minutes each")
    parser.add_argument("--kernels", action="store_true", help="count the kernels of a run by the profiler")
    parser.add_argument("--csv", help="write the rows to a file, too")
    parser.add_argument("--list", action="store_true", help="name the rows and time none")
    options = parser.parse_args()
    keys = [key for key in all_rows(options) if re.search(options.only, " ".join(key))]
    if options.list:
        print("\n".join(" ".join(key) for key in keys))
        return
    torch.backends.cudnn.benchmark = True
    print(f"# PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}, "
          f"{time.strftime('%Y-%m-%d')}")
    widths = (44, 14, 6, 10, 10, 10, 8, 9, 8, 0)
    print("  ".join(f.ljust(w) for f, w in zip(FIELDS, widths)).rstrip(), flush=True)
    done = []
    for key in keys:
        done.append(row_of(key, options))
        print("  ".join(text_of(done[-1][f]).ljust(w) for f, w in zip(FIELDS, widths)).rstrip(), flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows({f: text_of(row[f]) for f in FIELDS} for row in done)


main()
