#!/usr/bin/env python3
"""Times PyTorch on this machine's cores on the work that braid's networks are judged by, and tells how many bytes it
keeps for a training step. Prints rows as `braid bench -o json` does, kind "peer".

    bench/peers/torch_cpu.py [--threads N] [--seconds S] [--rounds R] [--only REGEX] [--compile-limit S]
    bench/peers/torch_cpu.py --memory [--batches 1,2,3] [--only REGEX]

Every row is measured in a process of its own, the rows in turn, so many rounds over; the samples of all rounds give the
median and its 95 % interval. A row that cannot be measured says why in `verdict`. Needs PyTorch 2.x and numpy.
compare_networks.py runs it and braid in turn.

SPDX-License-Identifier: MIT
"""
import argparse
import functools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from golden_models import build  # noqa: E402
from peer_memory import kept_bytes  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
VARIANTS = ("eager", "eager_channels_last", "compiled", "compiled_channels_last")
CLASSES = 15


def amp(dtype):
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bf16")


def network(description, images=False):
    torch.manual_seed(1)
    model = build(description)
    model.initialize()
    return model.to(memory_format=torch.channels_last) if images else model


def linet18(batch, height, width, dtype, channels_last):
    """Forward, cross entropy and backward of the three-stream network; the step, and what it keeps out of the count."""
    model = network({"kind": "linet18", "channels": [3, 1, 1], "classes": CLASSES, "init": "seed"}, channels_last)
    streams = [torch.randn(batch, c, height, width) for c in (3, 1, 1)]
    if channels_last:
        streams = [s.contiguous(memory_format=torch.channels_last) for s in streams]
    labels = torch.randint(0, CLASSES, [batch])

    def loss(*inputs):
        with amp(dtype):
            return F.cross_entropy(model(inputs), labels)

    return model, loss, streams


def linet_work(batch, height, width, dtype, variant):
    model, loss, streams = linet18(batch, height, width, dtype, "channels_last" in variant)
    run = torch.compile(loss) if "compiled" in variant else loss

    def step():
        model.zero_grad(set_to_none=True)
        run(*streams).backward()

    return step


def ssae_work(what, batch, dtype, variant):
    """what: forward, or step (forward, MSE, backward, Adam)."""
    model = network({"kind": "ssae"})
    x = torch.randn(batch, 320)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    run = torch.compile(model) if "compiled" in variant else model

    def forward():
        with torch.inference_mode(), amp(dtype):
            run([x])

    def step():
        optimiser.zero_grad(set_to_none=True)
        with amp(dtype):
            loss = F.mse_loss(run([x]), x)
        loss.backward()
        optimiser.step()

    return forward if what == "forward" else step


def lenet_work(batch, dtype, variant):
    model = network({"kind": "lenet86"}, "channels_last" in variant)
    x = torch.randint(0, 256, [batch, 1, 86, 86]).float()
    if "channels_last" in variant:
        x = x.contiguous(memory_format=torch.channels_last)
    run = torch.compile(model) if "compiled" in variant else model

    def forward():
        with torch.inference_mode(), amp(dtype):
            run([x])

    return forward


def layer_work(batch, inputs, outputs, dtype, variant):
    """One linear + ReLU layer, forward and backward with all three gradients."""
    torch.manual_seed(1)
    fc = torch.nn.Linear(inputs, outputs).to(DTYPES[dtype])
    x = torch.randn(batch, inputs, dtype=DTYPES[dtype], requires_grad=True)
    gradient = torch.randn(batch, outputs, dtype=DTYPES[dtype])

    def layer(x):
        return F.relu(fc(x))

    run = torch.compile(layer) if "compiled" in variant else layer

    def step():
        fc.zero_grad(set_to_none=True)
        x.grad = None
        run(x).backward(gradient)

    return step


# problem: (what makes its step, dtypes, variants)
PLAIN = ("eager", "compiled")
WORKS = {
    "linet18_train:{}:n3:b2:hw208x272": (functools.partial(linet_work, 2, 208, 272), ("f32", "bf16"), VARIANTS),
    "linet18_train:{}:n3:b1:hw416x544": (functools.partial(linet_work, 1, 416, 544), ("f32", "bf16"), VARIANTS),
    "ssae_forward:{}:b256": (functools.partial(ssae_work, "forward", 256), ("f32",), PLAIN),
    "ssae_step:{}:b256": (functools.partial(ssae_work, "step", 256), ("f32",), PLAIN),
    "lenet86_forward:{}:b1000": (functools.partial(lenet_work, 1000), ("f32",), VARIANTS),
    "linear_act_fwd_bwd:{}:b1024:c784:k2048:act=relu": (functools.partial(layer_work, 1024, 784, 2048),
                                                        ("f32", "bf16"), PLAIN),
}
# The same, small: to try compare_networks.py.
TINY = {
    "linet18_train:{}:n3:b1:hw33x41": (functools.partial(linet_work, 1, 33, 41), ("f32", "bf16"), VARIANTS[:2]),
    "ssae_forward:{}:b8": (functools.partial(ssae_work, "forward", 8), ("f32",), PLAIN[:1]),
    "ssae_step:{}:b8": (functools.partial(ssae_work, "step", 8), ("f32",), PLAIN[:1]),
    "lenet86_forward:{}:b4": (functools.partial(lenet_work, 4), ("f32",), VARIANTS[:1]),
    "linear_act_fwd_bwd:{}:b8:c32:k16:act=relu": (functools.partial(layer_work, 8, 32, 16), ("f32", "bf16"), PLAIN[:1]),
}


def all_rows(works):
    return [(problem.format(dtype), dtype, variant) for problem, (_, dtypes, variants) in works.items()
            for dtype in dtypes for variant in variants]


def flops_of(step):
    from torch.utils.flop_counter import FlopCounterMode
    counter = FlopCounterMode(display=False)
    with counter:
        step()
    return counter.get_total_flops()


def samples_of(problem, dtype, variant, seconds):
    """In a process of its own: the milliseconds of a step, each of one step or of several short ones; its
    flops; and the share of the threads' time that the process had the cores (well under 1: others had them)."""
    make = next(work[0] for t, work in (WORKS | TINY).items() if t.format(dtype) == problem)
    step = make(dtype, variant)
    flops = flops_of(make(dtype, "eager"))
    start = time.perf_counter()
    warm = 0
    while warm < 3 or (time.perf_counter() - start < 0.5 and warm < 100):
        began = time.perf_counter()
        step()
        last = time.perf_counter() - began
        warm += 1
    count = max(1, math.ceil(2e-3 / last))
    samples, start, start_cpu = [], time.perf_counter(), time.process_time()
    while len(samples) < 5 or time.perf_counter() < start + seconds and len(samples) < 200:
        began = time.perf_counter()
        for _ in range(count):
            step()
        samples.append(1e3 * (time.perf_counter() - began) / count)
    busy = (time.process_time() - start_cpu) / (time.perf_counter() - start) / torch.get_num_threads()
    return samples, flops, busy


def interval(samples):
    """The median and its 95 % interval by order statistics, as braid has it."""
    ordered, n = sorted(samples), len(samples)
    reach = 0.98 * math.sqrt(n)
    low, high = max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))
    return statistics.median(ordered), ordered[low], ordered[high]


def row_of(problem, dtype, variant, samples, flops, verdict):
    row = {"problem": problem, "kernel": f"pytorch_{variant}", "kind": "peer", "device": "cpu", "dtype": dtype,
           "median_ms": None, "low_ms": None, "high_ms": None, "gflops": None, "gbs": None, "roofline": None,
           "ratio": None, "baseline": None, "verdict": verdict, "max_err": None, "layout_copy_bytes": None}
    if samples:
        row["median_ms"], row["low_ms"], row["high_ms"] = interval(samples)
        row["gflops"] = flops / row["median_ms"] * 1e-6
        row["verdict"] = ""
    return row


def measured(key, options):
    """Runs this program for one row. Returns (samples, flops, share of the cores, why not)."""
    command = [sys.executable, __file__, "--one", *key, "--threads", str(options.threads),
               "--seconds", str(options.seconds)]
    limit = options.compile_limit if "compiled" in key[2] else None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return [], 0, 0, f"not within {limit:g} s"
    if done.returncode != 0:
        return [], 0, 0, "failed: " + (done.stderr.strip().split("\n") or [""])[-1][:200]
    told = json.loads(done.stdout.strip().split("\n")[-1])
    return told["samples_ms"], told["flops"], told["busy"], ""


def time_all(options):
    results = {key: ([], 0, "") for key in all_rows(WORKS) if re.search(options.only, " ".join(key))}
    for turn in range(options.rounds):
        for key, (samples, flops, why) in results.items():
            if why:
                continue
            more, flops, busy, why = measured(key, options)
            results[key] = (samples + more, flops, why)
            text = why or f"{interval(more)[0]:10.3f} ms (least {min(more):.3f}, cores {busy:.0%})"
            print(f"round {turn + 1}  {key[0]:52s} {key[2]:24s} {text}", file=sys.stderr, flush=True)
    rows = [row_of(*key, *result) for key, result in results.items()]
    return rows


def memory_all(options):
    """Bytes of a training step of linet18 n3 416x544 at small batches, and the straight line through them at 16."""
    batches = [int(b) for b in options.batches.split(",")]
    report = []
    for dtype in DTYPES:
        for variant in ("eager_channels_last", "compiled_channels_last"):
            if not re.search(options.only, f"{dtype} {variant}"):
                continue
            points = []
            for batch in batches:
                model, loss, streams = linet18(batch, 416, 544, dtype, True)
                torch._dynamo.reset()
                run = torch.compile(loss) if "compiled" in variant else loss
                points.append({"batch": batch} | kept_bytes(model, run, streams))
                print(f"{dtype} {variant} {points[-1]}", file=sys.stderr, flush=True)
            report.append({"problem": f"linet18_train:{dtype}:n3:hw416x544", "variant": variant, "measured": points,
                           "at_batch_16": line_at(points, 16)})
    return report


def line_at(points, batch):
    """What the first and the last point say of another batch, and by how much the points between miss the line."""
    first, last = points[0], points[-1]
    told = {}
    for key in ("peak_bytes", "saved_bytes"):
        if first[key] is None:
            continue
        slope = (last[key] - first[key]) / (last["batch"] - first["batch"])
        misses = [abs(first[key] + slope * (p["batch"] - first["batch"]) - p[key]) / p[key] for p in points]
        told[key] = round(first[key] + slope * (batch - first["batch"]))
        told[key + "_per_sample"] = round(slope)
        told[key + "_worst_miss"] = max(misses)
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=5, help="for each row in each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="", help="rows whose problem, dtype and variant match")
    parser.add_argument("--compile-limit", type=float, default=400, help="seconds for a compiled row")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--batches", default="1,2,3", help="for --memory")
    parser.add_argument("--list", action="store_true", help="print the rows as JSON and time none")
    parser.add_argument("--tiny", action="store_true", help="with --list: the small versions")
    parser.add_argument("--one", nargs=3, metavar=("PROBLEM", "DTYPE", "VARIANT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.one:
        samples, flops, busy = samples_of(*options.one, options.seconds)
        told = interval(samples)
        print(json.dumps({"samples_ms": samples, "interval_ms": told, "flops": flops, "gflops": flops / told[0] * 1e-6,
                          "busy": busy}))
        return
    if options.list:
        print(json.dumps(all_rows(TINY if options.tiny else WORKS)))
        return
    about = {"pytorch": torch.__version__, "threads": options.threads, "date": time.strftime("%Y-%m-%d"),
             "load_average": os.getloadavg()}
    print(json.dumps(about), file=sys.stderr)
    print(json.dumps(memory_all(options) if options.memory else time_all(options), indent=2))


main()
