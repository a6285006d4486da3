"""The spectral shape autoencoder: slices share one encoder, a basis of unit rows projects them and, transposed, back.

SPDX-License-Identifier: MIT
"""
import torch
import torch.nn.functional as F
from torch import nn

# kind: mels, frames, latent, slice latent
SIZES = {"ssae": (64, 5, 32, 64), "ssae-medium": (128, 10, 128, 256), "ssae-large": (256, 10, 256, 512),
         "ssae-xlarge": (512, 10, 512, 1024), "ssae-xxlarge": (1024, 10, 1024, 2048)}


class SSAE(nn.Module):
    def __init__(self, kind="ssae"):
        super().__init__()
        self.mels, self.frames, latent, slice_latent = SIZES[kind]
        combined = self.frames * slice_latent
        self.slice_encoder = nn.Sequential(nn.LayerNorm(self.mels), nn.Linear(self.mels, slice_latent), nn.GELU())
        self.global_basis = nn.Parameter(torch.empty(latent, combined))
        self.bottleneck_mlp = nn.Sequential(nn.LayerNorm(latent), nn.Linear(latent, latent), nn.GELU())
        self.global_decoder = nn.Linear(latent, combined, bias=False)  # in the state; the forward does not use it
        self.slice_decoder = nn.Sequential(nn.Linear(slice_latent, self.mels))

    def initialize(self):
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.LayerNorm)):
                module.reset_parameters()
        nn.init.xavier_uniform_(self.global_basis)

    def forward(self, streams, mask=None):
        x = streams[0]
        code = self.slice_encoder(x.view(len(x), self.frames, self.mels)).flatten(1)
        basis = F.normalize(self.global_basis, dim=1, eps=1e-12)
        hidden = self.bottleneck_mlp(code @ basis.t())
        slices = (hidden @ basis).view(len(x), self.frames, -1)
        return self.slice_decoder(slices).flatten(1)
