#!/usr/bin/env python3
"""Turns a PyTorch checkpoint of LINet3, MCResNet or the SpectralShapeAutoencoder into a safetensors file for braid.

    python3 python/checkpoint_to_safetensors.py FROM.pt TO.safetensors [--keep-heads] [--net JSON]

FROM is what torch.save wrote: a state_dict, or a dict that has one under model_state_dict. It is read with
weights_only, so that nothing in it is run. Names stay as they are; strides (channels_last) are resolved, so that
shapes read K,C,R,S; tensors without elements stay; a batch normalisation without num_batches_tracked gets 0. LINet's
auxiliary heads (fc_streams.*) are left out unless --keep-heads is given: the network does not use them. --net is
the description that braid keeps with a model, such as '{"kind":"linet18","streams":3}'; without it the file is loaded
into a network that is named when it is used.

Needs the packages torch and safetensors. Exit codes are braid's: 2 usage, 4 model file, 7 disk.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import os
import sys

USAGE, MODEL, DISK = 2, 4, 7
WRAPPERS = ("module.", "_orig_mod.")  # of DataParallel and of torch.compile, in front of every name
HEADS = "fc_streams."
DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "uint8")


class Refused(Exception):
    """What was expected, what came, what to do; and the exit code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def import_packages():
    try:
        import safetensors.torch
        import torch
    except ImportError as error:
        raise Refused(USAGE, f"expected the package {error.name} in this Python ({sys.executable}), got none; "
                             "type: python3 -m pip install torch safetensors") from error
    return torch, safetensors.torch


def read_state(torch, path):
    """The tensors of a checkpoint by name."""
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged or hostile file provokes
        raise Refused(MODEL, f"{path}: expected a checkpoint of tensors by torch.save, got: {error}") from error
    if isinstance(loaded, dict) and "model_state_dict" in loaded:
        loaded = loaded["model_state_dict"]
    if not isinstance(loaded, dict) or not loaded:
        kind = type(loaded).__name__
        raise Refused(MODEL, f"{path}: expected a state_dict, or a dict with model_state_dict, got {kind}")
    for name, value in loaded.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            raise Refused(MODEL, f"{path}: {name!r}: expected a tensor under a name, got {type(value).__name__}")
    return loaded


def strip_wrappers(state):
    for wrapper in WRAPPERS:
        if all(name.startswith(wrapper) for name in state):
            state = {name[len(wrapper):]: value for name, value in state.items()}
    return state


def add_counters(torch, state):
    """Batch normalisations of LINet and MCResNet keep one counter each; old checkpoints lack it."""
    layers = {name.rsplit(".", 1)[0] for name in state if name.endswith("_running_mean") and "." in name}
    for layer in sorted(layers):
        state.setdefault(f"{layer}.num_batches_tracked", torch.zeros((), dtype=torch.int64))


def convert(torch, state, keep_heads):
    """Dense tensors in C order, each with memory of its own."""
    state = strip_wrappers(state)
    if not keep_heads:
        state = {name: value for name, value in state.items() if not name.startswith(HEADS)}
    add_counters(torch, state)
    for name, value in state.items():
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in DTYPES or value.layout != torch.strided:
            raise Refused(MODEL, f"{name}: expected a dense tensor of {', '.join(DTYPES)}, got {dtype} {value.layout}")
    return {name: value.detach().clone(memory_format=torch.contiguous_format) for name, value in state.items()}


def save(package, tensors, path, metadata):
    """Replaces the file whole or not at all."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        package.save_file(tensors, temporary, metadata=metadata or None)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except Exception as error:  # the package has errors of its own for a full disk
        raise Refused(DISK, f"{path}: could not write: {error}") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", metavar="FROM")
    parser.add_argument("target", metavar="TO")
    parser.add_argument("--keep-heads", action="store_true", help="keep LINet's auxiliary heads, fc_streams.*")
    parser.add_argument("--net", metavar="JSON", help="the network's description, kept as braid.net")
    options = parser.parse_args()
    metadata = {}
    try:
        if options.net is not None:
            try:
                metadata["braid.net"] = json.dumps(json.loads(options.net), sort_keys=True, separators=(",", ":"))
            except ValueError as error:
                raise Refused(USAGE, f"--net: expected JSON, got {options.net!r}: {error}") from error
        torch, package = import_packages()
        tensors = convert(torch, read_state(torch, options.source), options.keep_heads)
        save(package, tensors, options.target, metadata)
    except Refused as refused:
        print(f"{os.path.basename(sys.argv[0])}: {refused}", file=sys.stderr)
        return refused.code
    numbers = sum(value.numel() for value in tensors.values())
    print(f"{options.target}: {len(tensors)} tensors, {numbers} numbers", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
