#!/usr/bin/env python3
"""Times the convolutions of LINet on the CPU, our kernels in f32 and bf16 against oneDNN in f32, and prints a table.

    bench/peers/compare_convolutions.py [--braid build/braid] [--threads N] [--seconds S] [--rounds R] [--only REGEX]

A problem's race in f32 and its race in bf16 follow each other in one call of `braid bench`, so many rounds over; in
each race the candidates run in turn, weights are packed inside the time, and the operands exceed the caches. A row's
time is the median of its rounds' medians, and its interval spans the intervals of all rounds. The ratio is oneDNN's
time in f32 over that of our fastest kernel. At the end stand the geometric mean and the least ratio of every pass and
number format.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import math
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import kernel_list  # noqa: E402

SHAPES = (
    "n3:b2:hw104x136:c64:k64:rs3x3:pad1",
    "n3:b2:hw52x68:c128:k128:rs3x3:pad1",
    "n3:b2:hw26x34:c256:k256:rs3x3:pad1",
    "n3:b2:hw13x17:c512:k512:rs3x3:pad1",
    "n3:b2:hw416x544:c3,1,1:k64:rs7x7:st2:pad3",
)
PASSES = ("conv2d_fwd", "conv2d_bwd_data", "conv2d_bwd_weight")
DTYPES = ("f32", "bf16")
# Kernels that are never the fastest where AVX-512 is.
LEFT_OUT = [kernel.name for kernel in kernel_list.kernels((ROOT / "kernels" / "kernels.def").read_text())
            if kernel.op in PASSES and re.search(r"__cpu_\w+_(portable|avx2)$", kernel.name)]


def race(options, problems):
    """The rows of one call, by number format."""
    command = [options.braid, "bench", *problems.values(), "--device", "cpu", "--threads", str(options.threads),
               "--seconds", str(options.seconds), "--disable", ",".join(LEFT_OUT),
               "--cache-dir", "", "-q", "-o", "json"]
    rows = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {dtype: [row for row in rows if row["dtype"] == dtype and row["median_ms"]] for dtype in problems}


def over_rounds(rounds, wanted):
    """kernel: (median, low, high) of the kernels that `wanted` accepts."""
    times = {}
    for row in (row for rows in rounds for row in rows if wanted(row)):
        times.setdefault(row["kernel"], []).append(row)
    return {kernel: (statistics.median(row["median_ms"] for row in rows), min(row["low_ms"] for row in rows),
                     max(row["high_ms"] for row in rows)) for kernel, rows in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--braid", default="build/braid")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=".", metavar="REGEX")
    options = parser.parse_args()
    ratios = {}
    for name, shape in ((name, shape) for name in PASSES for shape in SHAPES):
        if not re.search(options.only, f"{name}:{shape}"):
            continue
        problems = {dtype: f"{name}:{dtype}:{shape}" for dtype in DTYPES}
        rounds = [race(options, problems) for _ in range(options.rounds)]
        vendor = over_rounds([rows["f32"] for rows in rounds], lambda row: "onednn" in row["kernel"])
        if not vendor:
            sys.exit(f"{problems['f32']}: oneDNN has no row; braid doctor tells why")
        peer = min(vendor.values())
        for dtype, problem in problems.items():
            own = over_rounds([rows[dtype] for rows in rounds], lambda row: row["kind"] == "own")
            if not own:
                sys.exit(f"{problem}: no kernel of ours has a row")
            kernel = min(own, key=own.get)
            ratio = peer[0] / own[kernel][0]
            ratios.setdefault((name, dtype), []).append((ratio, shape))
            print(f"{ratio:6.3f}  {kernel:44s} {own[kernel][0]:8.3f} [{own[kernel][1]:8.3f} {own[kernel][2]:8.3f}] ms  "
                  f"oneDNN f32 {peer[0]:8.3f} [{peer[1]:8.3f} {peer[2]:8.3f}] ms  {problem}", flush=True)
    for (name, dtype), found in ratios.items():
        least, shape = min(found)
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in found))
        print(f"{name:18s} {dtype:4s} {len(found)} shapes: geometric mean {mean:.2f}, least {least:.2f} ({shape})")


if __name__ == "__main__":
    main()
