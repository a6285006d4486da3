"""The five networks as plain PyTorch modules: equations, state names and initialisations of the systems that braid
implements, written for clearness. tools/golden dumps what they compute; bench/peers times them.

`build(description)` makes a network from the same description that a golden file carries in its metadata.

SPDX-License-Identifier: MIT
"""
from .lenet import LeNet86
from .linet import LINet
from .mcresnet import MCResNet
from .mlp import MLP
from .ssae import SSAE

CLASSES = {"linet": LINet, "mcresnet": MCResNet, "lenet86": LeNet86, "ssae": SSAE, "mlp": MLP}


def build(description):
    """description: a dict with "net" (linet18, mcresnet50, lenet86, ssae, mlp) and the options of its class."""
    options = dict(description)
    net = options.pop("net")
    family = net.rstrip("0123456789") if net != "lenet86" else net
    if family in ("linet", "mcresnet"):
        options["depth"] = int(net[len(family):])
    return CLASSES[family](**options)
