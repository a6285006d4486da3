#!/usr/bin/env python3
"""Tests of python/checkpoint_to_safetensors.py, and of braid with files of the Python package safetensors:

    tests/python/checkpoint.py BUILD_DIR

Runs with the Python that $BRAID_PYTHON names, else its own; where that has no torch or safetensors, the cases that
need them are skipped, counted and told. The last line is for tests/run.

SPDX-License-Identifier: MIT
"""
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "python" / "checkpoint_to_safetensors.py"
PACKAGES = ("torch", "safetensors")
counted = {"passed": 0, "failed": 0, "skipped": 0}


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def case(name, condition, details=""):
    counted["passed" if condition else "failed"] += 1
    if not condition:
        print(f"failed: {name}: {details}")


def refused(name, code, words, *arguments):
    done = run(sys.executable, SCRIPT, *arguments)
    case(name, done.returncode == code and words in done.stderr, f"exit {done.returncode}, {done.stderr}")


def linet_state(torch):
    """Part of a LINet with two streams: every kind of name, channels_last, a tensor without elements."""
    generator = torch.Generator().manual_seed(1)

    def drawn(*shape):
        return torch.randn(*shape, generator=generator)

    state = {"conv1.integrated_weight": torch.zeros(64, 0, 1, 1), "bn1.num_batches_tracked": torch.tensor(41)}
    for i, channels in enumerate((3, 1)):
        state[f"conv1.stream_weights.{i}"] = drawn(64, channels, 7, 7).to(memory_format=torch.channels_last)
        state[f"conv1.integration_from_streams.{i}"] = drawn(64, 64, 1, 1).to(memory_format=torch.channels_last)
        state[f"bn1.stream{i}_running_mean"] = drawn(64)
        state[f"layer1.0.bn1.stream{i}_running_mean"] = drawn(64)
        state[f"fc_streams.{i}.weight"] = drawn(15, 512)
    return state


def compare(torch, package, name, path, expected):
    got = package.load_file(path)

    def equal(key):
        a, b = got[key], expected[key]
        return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)

    same = got.keys() == expected.keys() and all(equal(key) for key in expected)
    case(name, same, f"got {sorted(got)}")


def checkpoint_cases(torch, package, braid, folder):
    state = linet_state(torch)
    full = dict(state)
    full["layer1.0.bn1.num_batches_tracked"] = torch.tensor(0)
    short = {key: value for key, value in full.items() if not key.startswith("fc_streams.")}
    source, target = folder / "c.pt", folder / "c.safetensors"
    checkpoints = {"plain state_dict": state,
                   "model_state_dict": {"model_state_dict": state, "history": {"loss": [1.0]}},
                   "wrapped names": {f"_orig_mod.{key}": value for key, value in state.items()}}
    for name, saved in checkpoints.items():
        torch.save(saved, source)
        done = run(sys.executable, SCRIPT, source, target, "--net", '{"kind": "linet18"}')
        case(name, done.returncode == 0, done.stderr)
        compare(torch, package, name, target, short)
    done = run(sys.executable, SCRIPT, source, target, "--keep-heads")
    compare(torch, package, "heads are kept", target, full)
    listed = run(braid, "convert", "--list", target, "-o", "csv")
    case("braid lists it", listed.returncode == 0, listed.stderr)
    for row in ("conv1.stream_weights.0,f32,64x3x7x7,37632", "conv1.integrated_weight,f32,64x0x1x1,0",
                "bn1.num_batches_tracked,i64,scalar,8"):
        case(f"braid lists {row}", row in listed.stdout.splitlines(), listed.stdout)
    ssae = {"global_basis": torch.randn(32, 320), "slice_encoder.0.weight": torch.randn(64)}
    torch.save(ssae, source)
    run(sys.executable, SCRIPT, source, target)
    compare(torch, package, "no counter without batch normalisation", target, ssae)
    torch.save({"mask": torch.tensor([True])}, source)
    refused("bool", 4, "mask: expected a dense tensor", source, target)
    torch.save({"epoch": 3}, source)
    refused("no tensors", 4, "'epoch': expected a tensor", source, target)
    refused("missing file", 4, "missing.pt: expected a checkpoint", folder / "missing.pt", target)
    source.write_bytes(b"PK\x03\x04 cut")
    refused("damaged file", 4, "expected a checkpoint", source, target)
    torch.save(ssae, source)
    refused("no folder", 7, "could not write", source, folder / "nowhere" / "c.safetensors")
    case("no temporary is left", sorted(p.name for p in folder.iterdir()) == ["c.pt", "c.safetensors"])


def interop_cases(torch, package, braid, folder):
    """weights-86.bin by way of the package: braid's file is read by it, and its file by braid."""
    counts = (200, 0, 0, 3152, 0, 0, 41504, 0, 330, 0)
    image, value = struct.pack("<i", 10), 0
    for count in counts:
        image += struct.pack(f"<i{count}f", count, *range(value, value + count))
        value += count
    (folder / "w.bin").write_bytes(image)
    done = run(braid, "convert", folder / "w.bin", folder / "w.safetensors")
    case("braid writes safetensors", done.returncode == 0, done.stderr)
    tensors = package.load_file(folder / "w.safetensors")
    weight = tensors["fc1.weight"]
    case("the package reads it", weight.shape == (32, 1296) and weight[1, 2] == 3352 + 1298)
    package.save_file(tensors, folder / "p.safetensors")
    done = run(braid, "convert", folder / "p.safetensors", folder / "p.bin")
    same = done.returncode == 0 and (folder / "p.bin").read_bytes() == image
    case("braid reads the package's file", same, done.stderr)


def main():
    wanted = os.environ.get("BRAID_PYTHON")
    if wanted and not os.environ.get("BRAID_PYTHON_STARTED"):
        os.environ["BRAID_PYTHON_STARTED"] = "1"
        os.execvp(wanted, [wanted, *sys.argv])
    braid = Path(sys.argv[1]).resolve() / "braid"
    refused("usage", 2, "usage:", "one.pt")
    refused("description", 2, "--net: expected JSON", "a.pt", "b.safetensors", "--net", "{")
    missing = [package for package in PACKAGES if run(sys.executable, "-c", f"import {package}").returncode != 0]
    if missing:
        print(f"skip: {sys.executable} cannot import {' and '.join(missing)}; BRAID_PYTHON names another Python")
        counted["skipped"] += 2
        refused("missing packages are named", 2, "pip install torch safetensors", "a.pt", "b.safetensors")
    else:
        import safetensors.torch
        import torch
        for cases in (checkpoint_cases, interop_cases):
            with tempfile.TemporaryDirectory() as folder:
                cases(torch, safetensors.torch, braid, Path(folder))
    print(f"{counted['passed']} passed, {counted['failed']} failed, {counted['skipped']} skipped")
    return counted["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
