"""The five networks as plain PyTorch modules: equations, state names and initialisations of the systems that braid
implements, written for clearness. tools/golden dumps what they compute; bench/peers times them.

`build(description)` makes a network from a description as braid has it (braid_net_describe), which golden files carry.

SPDX-License-Identifier: MIT
"""
from .lenet import LeNet86
from .linet import LINet
from .mcresnet import MCResNet
from .mlp import MLP, layers_of
from .ssae import SSAE



def build(description):
    """description: a dict with "kind" (linet18, mcresnet50, lenet86, ssae, ssae-large, mlp, ...) and options."""
    options = {key: value for key, value in description.items() if key not in ("kind", "streams")}
    kind = description["kind"]
    if kind == "lenet86":
        return LeNet86()
    if kind.startswith("ssae"):
        return SSAE(kind)
    if kind.startswith("mlp"):
        return MLP(options.get("layers") or layers_of(kind))
    family = kind.rstrip("0123456789")
    return {"linet": LINet, "mcresnet": MCResNet}[family](int(kind[len(family):]), **options)
