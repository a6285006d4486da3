#!/usr/bin/env python3
"""Times braid and PyTorch on the same networks and cores in one call, in turn, so many rounds over, and prints rows as
`braid bench -o json` does: kind "own" for braid, "peer" for PyTorch.

    BRAID_PYTHON=python-with-torch bench/peers/compare_networks.py [--braid build/braid] [--threads N] [--seconds S]
        [--rounds R] [--only REGEX] [--variants eager,compiled,...] [--tune S] [--tiny] > rows.json

Before the first round braid's kernels are raced for --tune seconds a network and remembered. Every row is measured in
a process of its own. A row's median is that of its rounds' medians; its interval spans the intervals of all rounds. The
baseline of a problem is the fastest PyTorch variant; FAST and SLOW are said only where the intervals do not meet. A
layer (linear_act) is the sum of its three problems, each timed with operands beyond the cache, where PyTorch's stay
warm.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAYER = "linear_act_{}:{}:b{}:c{}:k{}:bias1:act=relu"


def network(net, what, **shape):
    return lambda dtype: ["bench", net, "--what", what, "--dtype", dtype,
                          *(word for key, value in shape.items() for word in (f"--{key}", str(value)))]


def layer(batch, inputs, outputs):
    return lambda dtype: ["bench", *(LAYER.format(p, dtype, batch, inputs, outputs)
                                     for p in ("fwd", "bwd_data", "bwd_weight"))]


# PyTorch's problem (torch_cpu.py): braid's side of it
WORKS = {
    "linet18_train:{}:n3:b2:hw208x272": network("linet18", "train", batch=2, size="208x272"),
    "linet18_train:{}:n3:b1:hw416x544": network("linet18", "train", batch=1, size="416x544"),
    "ssae_forward:{}:b256": network("ssae", "forward", batch=256),
    "ssae_step:{}:b256": network("ssae", "step", batch=256),
    "lenet86_forward:{}:b1000": network("lenet86", "forward", batch=1000),
    "linear_act_fwd_bwd:{}:b1024:c784:k2048:act=relu": layer(1024, 784, 2048),
}
TINY = {
    "linet18_train:{}:n3:b1:hw33x41": network("linet18", "train", batch=1, size="33x41"),
    "ssae_forward:{}:b8": network("ssae", "forward", batch=8),
    "ssae_step:{}:b8": network("ssae", "step", batch=8),
    "lenet86_forward:{}:b4": network("lenet86", "forward", batch=4),
    "linear_act_fwd_bwd:{}:b8:c32:k16:act=relu": layer(8, 32, 16),
}


def say(text):
    print(text, file=sys.stderr, flush=True)


def output_of(command, limit=None):
    """Standard output of a command, or None and why not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, f"not within {limit:g} s"
    if done.returncode:
        return None, "failed: " + (done.stderr.strip().split("\n") or [""])[-1][:200]
    return done.stdout, ""


def own_command(options, arguments, *more):
    return [options.braid, *arguments, "--device", "cpu", "--threads", str(options.threads), "-q", *more]


def tune(options, arguments):
    """Races braid's kernels once; what they took is remembered for the rounds."""
    if "--what" not in arguments:
        return
    at = arguments.index("--what")
    phase = ["--phase", "eval"] if arguments[at + 1] == "forward" else []
    say("tuning " + " ".join(arguments[1:]))
    _, why = output_of(own_command(options, ["tune", *arguments[1:at], *arguments[at + 2:], *phase], "--seconds",
                                   str(options.tune)))
    if why:
        say(why)


def own_round(options, arguments):
    """(median, low, high) in ms of one round, GFLOP/s, why not."""
    text, why = output_of(own_command(options, arguments, "-o", "json", "--seconds", str(options.seconds)))
    if why:
        return None, None, why
    rows = json.loads(text)
    if "--what" not in arguments:  # problems: of each the kernel that a plan takes
        rows = [row for row in rows if "chosen" in row["verdict"]]
    total = [sum(row[key] for row in rows) for key in ("median_ms", "low_ms", "high_ms")]
    flops = sum(row["gflops"] * row["median_ms"] for row in rows)
    return total, flops / total[0], ""


def peer_round(options, problem, dtype, variant):
    limit = options.compile_limit if "compiled" in variant else None
    text, why = output_of([options.python, str(HERE / "torch_cpu.py"), "--one", problem, dtype, variant, "--threads",
                           str(options.threads), "--seconds", str(options.seconds)], limit)
    if why:
        return None, None, why
    told = json.loads(text.strip().split("\n")[-1])
    return told["interval_ms"], told["gflops"], ""


def peer_rows(options):
    """[(problem, dtype, variant)] that PyTorch's side has."""
    text, why = output_of([options.python, str(HERE / "torch_cpu.py"), "--list"] + ["--tiny"] * options.tiny)
    if why:
        sys.exit(f"compare_networks: PyTorch's side: {why}; BRAID_PYTHON names a Python that has torch and numpy")
    return [tuple(row) for row in json.loads(text)]


def summed(rounds):
    """The median of the medians, and the interval that holds all intervals."""
    return [statistics.median(r[0] for r in rounds), min(r[1] for r in rounds), max(r[2] for r in rounds)]


def verdict_of(row, base):
    if row is base:
        return "BASE"
    if row["high_ms"] < base["low_ms"]:
        return "FAST"
    return "SLOW" if row["low_ms"] > base["high_ms"] else "SAME"


def row_of(problem, dtype, kernel, rounds, gflops, why):
    row = {"problem": problem, "kernel": kernel, "kind": "own" if kernel == "braid" else "peer", "device": "cpu",
           "dtype": dtype, "median_ms": None, "low_ms": None, "high_ms": None, "gflops": None, "gbs": None,
           "roofline": None, "ratio": None, "baseline": None, "verdict": why, "max_err": None,
           "layout_copy_bytes": 0 if kernel == "braid" else None}
    if rounds:
        row["median_ms"], row["low_ms"], row["high_ms"] = summed(rounds)
        row["gflops"] = statistics.median(gflops)
    return row


def judge(rows):
    """Holds the rows of one problem against the fastest peer."""
    base = min((r for r in rows if r["kind"] == "peer" and r["median_ms"]), key=lambda r: r["median_ms"], default=None)
    for row in rows:
        if base and row["median_ms"]:
            row["ratio"] = base["median_ms"] / row["median_ms"]
            row["baseline"] = base["kernel"]
            row["verdict"] = verdict_of(row, base)
    return rows


def compare(options):
    works = TINY if options.tiny else WORKS
    wanted = [row for row in peer_rows(options) if re.search(options.only, row[0]) and
              (not options.variants or row[2] in options.variants.split(","))]
    problems = list(dict.fromkeys((problem, dtype) for problem, dtype, _ in wanted))
    if not problems:
        sys.exit("compare_networks: --only and --variants leave nothing; torch_cpu.py --list has the rows")
    own = {key: next(make(key[1]) for name, make in works.items() if name.format(key[1]) == key[0]) for key in problems}
    rounds, rates, whys = {}, {}, {}
    for arguments in own.values():
        tune(options, arguments)
    for turn in range(options.rounds):
        for key in problems:
            sides = [(key, "braid")] + [(key, variant) for p, d, variant in wanted if (p, d) == key]
            for side in sides:
                if whys.get(side):
                    continue
                took, rate, whys[side] = (own_round(options, own[key]) if side[1] == "braid" else
                                          peer_round(options, *key, side[1]))
                if took:
                    rounds.setdefault(side, []).append(took)
                    rates.setdefault(side, []).append(rate)
                say(f"round {turn + 1}  {key[0]:50s} {side[1]:24s} "
                    + (whys[side] or f"{took[0]:10.3f} ms ({took[1]:.3f} to {took[2]:.3f})"))
    rows = []
    for key in problems:
        sides = [s for s in whys if s[0] == key]
        rows += judge([row_of(*key, s[1] if s[1] == "braid" else "pytorch_" + s[1], rounds.get(s, []),
                              rates.get(s, []), whys[s]) for s in sides])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default=str(HERE.parents[1] / "build" / "braid"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=5, help="for each row in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="problems that match")
    parser.add_argument("--variants", default="", help="of PyTorch; all where nothing is said")
    parser.add_argument("--tune", type=float, default=60, help="seconds of braid's races for each network")
    parser.add_argument("--compile-limit", type=float, default=400, help="seconds for a compiled row")
    parser.add_argument("--tiny", action="store_true", help="small versions of everything: to try this program")
    options = parser.parse_args()
    options.python = os.environ.get("BRAID_PYTHON", sys.executable)
    say(json.dumps({"date": time.strftime("%Y-%m-%d"), "threads": options.threads, "load_average": os.getloadavg(),
                    "braid": (output_of([options.braid, "version"])[0] or "").split("\n")[0]}))
    rows = compare(options)
    for row in rows:
        if row["ratio"] and row["kind"] == "own":
            say(f"{row['problem']:52s} {row['ratio']:6.2f}x {row['baseline']} ({row['verdict']})")
    print(json.dumps(rows, indent=2))


main()
