"""LeNet on 86x86 pictures with raw pixels 0..255. The convolutions have biases in their state and do not add them;
the second pooling keeps its partial windows (34 -> 9).

SPDX-License-Identifier: MIT
"""
import torch.nn.functional as F
from torch import nn


class LeNet86(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 7)
        self.conv2 = nn.Conv2d(4, 16, 7)
        self.fc1 = nn.Linear(16 * 9 * 9, 32)
        self.fc2 = nn.Linear(32, 10)

    def initialize(self):
        for module in (self.conv1, self.conv2, self.fc1, self.fc2):
            module.reset_parameters()

    def forward(self, streams, mask=None):
        x = F.max_pool2d(F.relu(F.conv2d(streams[0], self.conv1.weight)), 2, 2)
        x = F.max_pool2d(F.relu(F.conv2d(x, self.conv2.weight)), 4, 4, ceil_mode=True)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))
