"""How many bytes PyTorch holds during a training step on the CPU, weights, gradients and inputs excluded. The peak
comes from the allocator's own events: the profiler records every allocation and release with its size, and their
running sum from the first event of the step is what the step holds. What autograd saves for the backward is counted
apart, each storage once.

SPDX-License-Identifier: MIT
"""
import json
import tempfile

import torch


def allocator_peak(step):
    """The highest running sum of allocated less released bytes during step()."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        step()
    with tempfile.NamedTemporaryFile(suffix=".json") as trace:
        profile.export_chrome_trace(trace.name)
        with open(trace.name, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    changes = [(e["ts"], e["args"]["Bytes"]) for e in events
               if e.get("name") == "[memory]" and e["args"].get("Device Type") == 0]
    held = peak = 0
    for _, change in sorted(changes, key=lambda pair: pair[0]):
        held += change
        peak = max(peak, held)
    return peak, held, len(changes)


def saved_storages(model, run, inputs):
    """The bytes of all storages that autograd saves in the forward, but those of parameters, buffers and inputs."""
    own = {t.untyped_storage().data_ptr() for t in [*model.parameters(), *model.buffers(), *inputs]}
    seen = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        run(*inputs).backward()
    return sum(seen.values())


def kept_bytes(model, run, inputs):
    """run(*inputs) gives the loss. The gradients exist before the step and are added to, so that they do not count."""

    def step():
        run(*inputs).backward()

    step()
    step()
    peak, left, events = allocator_peak(step)
    compiled = hasattr(run, "_torchdynamo_orig_callable")
    return {"peak_bytes": peak, "left_bytes": left, "events": events,
            "saved_bytes": None if compiled else saved_storages(model, run, inputs)}
