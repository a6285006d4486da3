"""Reads an event folder the way TensorBoard does and prints `step tag value` for every scalar that it would show,
after `file: name version` for every file. Exit 77: there is no tensorboard package to read with.

    read_events.py FOLDER

SPDX-License-Identifier: MIT
"""
import glob
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    from tensorboard.backend.event_processing import event_accumulator, event_file_loader
except ImportError:
    sys.exit(77)

for path in sorted(glob.glob(os.path.join(sys.argv[1], "*tfevents*"))):
    loaded = list(event_file_loader.EventFileLoader(path).Load())
    print("file:", len(loaded), loaded[0].file_version)
shown = event_accumulator.EventAccumulator(sys.argv[1], size_guidance={event_accumulator.SCALARS: 0})
shown.Reload()
for tag in sorted(shown.Tags()["scalars"]):
    for event in shown.Scalars(tag):
        print(event.step, tag, f"{event.value:.9g}")
