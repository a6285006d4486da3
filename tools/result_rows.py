"""Reads committed rows of bench/results: steps of networks by braid and by PyTorch, rounds of both on a CPU, and races
of problems.

SPDX-License-Identifier: MIT
"""
import csv
import math
import re
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

FOLDER = Path("bench") / "results" / "h200"


class Time(NamedTuple):
    median: float
    low: float
    high: float
    gflops: float


class Race(NamedTuple):
    own: Time  # the fastest of ours
    vendor: Time

    def ratio(self):
        return self.vendor.median / self.own.median

    def own_wins(self):
        return self.own.high < self.vendor.low


class Rows:
    """The files of one run of tools/bench_cuda, DATE_PART_COMMIT."""

    def __init__(self, root, run):
        self.root, self.run = root, run

    def path(self, part, ending="txt"):
        date, commit = self.run
        return FOLDER / f"{date}_{part}_{commit}.{ending}"

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def our_ms(self, part, network, without_update=False):
        """A network's forward pass or step, run as a whole; `network` begins its line in `braid profile`."""
        text = self.text(self.path(part))
        block = text[text.index(f"network     {network}") :]
        whole, core = re.search(r"^whole +([\d.]+) ms, one run as a whole(?:; ([\d.]+) ms without norm and update)?",
                                block, re.MULTILINE).groups()
        return float(core if without_update else whole)

    def peer_ms(self, work, method, dtype):
        text = self.text(self.path("pytorch"))
        return float(re.search(rf"^{re.escape(work)} +{method} +{dtype} +([\d.]+) ", text, re.MULTILINE).group(1))

    def races(self, path):
        """{problem: Race} of those that a vendor's kernel took part in."""
        best = {}
        for cells in csv.reader(self.text(path).splitlines()):
            if len(cells) < 9 or cells[2] not in ("own", "vendor") or not re.fullmatch(r"[\d.e+-]+", cells[5]):
                continue
            time, kinds = Time(*map(float, cells[5:9])), best.setdefault(cells[0], {})
            kinds[cells[2]] = min(time, kinds.get(cells[2], time))
        return {problem: Race(**kinds) for problem, kinds in best.items() if len(kinds) == 2}


def mean_ratio(races):
    """The geometric mean of how much faster ours is."""
    return math.exp(sum(math.log(race.ratio()) for race in races) / len(races))


def rounds(text):
    """{work: {program: milliseconds}} of a run of compare_networks.py: the median of the rounds."""
    times = defaultdict(lambda: defaultdict(list))
    for work, program, value in re.findall(r"^round \d+ +(\S+) +(\S+) +([\d.]+) ms", text, re.MULTILINE):
        times[work][program].append(float(value))
    return {work: {program: median(found) for program, found in programs.items()} for work, programs in times.items()}
