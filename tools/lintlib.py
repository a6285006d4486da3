"""What the checks of `make lint` share: which files there are, C text without comments and strings, and how
a finding is reported (file:line: what is wrong; what to do). Every check takes --root FOLDER, so that
tests/lint can plant mistakes in a scratch tree and see that each one is found.

SPDX-License-Identifier: MIT
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

C_SUFFIXES = {".c", ".h", ".cu", ".cuh", ".cpp"}
LIBRARY_FOLDERS = ("include/", "src/", "kernels/", "cli/")


class Check:
    """The findings of one check over one tree."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
        self.root = parser.parse_args().root
        self.findings = 0
        listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.root, check=True,
                                 capture_output=True, text=True).stdout.split("\n")
        self.files = sorted(name for name in listing if name and (self.root / name).is_file())

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def code(self, name):
        """The lines of a C file, comments and the insides of strings blanked."""
        return blank(self.text(name)).split("\n")

    def c_files(self, *folders):
        return [name for name in self.files if Path(name).suffix in C_SUFFIXES and name.startswith(folders or ("",))]

    def report(self, name, line, message):
        self.findings += 1
        print(f"{name}:{line}: {message}")

    def finish(self):
        sys.exit(1 if self.findings else 0)


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blank(text):
    """C text with comments and the contents of strings replaced by spaces, line numbers kept. #include lines stay."""

    def spaces(match):
        token = match.group(0)
        if token[0] in "\"'":
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if re.match(r"\s*#\s*include\s*$", line):
                return token
            return token[0] + " " * (len(token) - 2) + token[-1]
        return re.sub(r"[^\n]", " ", token)

    return TOKEN.sub(spaces, text)


def find_patterns(check, rules, folders, without=()):
    """rules: (pattern, allowed, advice). Reports each match outside the files whose path starts with an allowed one, or
    ends in one of `without`."""
    for name in check.c_files(*folders):
        if name.endswith(tuple(without)):
            continue
        active = [(re.compile(pattern), advice) for pattern, allowed, advice in rules if not name.startswith(allowed)]
        for number, line in enumerate(check.code(name), 1):
            for pattern, advice in active:
                match = pattern.search(line)
                if match:
                    check.report(name, number, f"`{match.group(0).strip()}`: {advice}")
