"""What planting a fault takes: compile one changed file outside of the tree, link a test with it, run the test.

Shared by tests/mutants/run (faults written by hand) and tests/mutants/draw (faults drawn at random).

SPDX-License-Identifier: MIT
"""
import functools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Of the case tests: fewer problems, and an end at the first failure; all of them where that was not enough.
SHORT_RUN = ["--count", "240", "--until", "1"]
WHOLE_RUN = ["--until", "1"]
UNCHANGED_LIMIT = 7200  # seconds of one unchanged test
HANGS_AFTER = 5  # times as long as the unchanged program took
MOST_MEMORY = 16 << 30  # bytes of address space: a mutated size must not take the machine's
# A source that includes the bodies of all loops, for one instruction set.
INSTRUCTION_SET = re.compile(r"(?<=/isa/)(portable|avx2|avx512|amx)\w*\.c$")


class Broken(Exception):
    """The mutant proves nothing: its text is not in the source, or it does not compile."""


class Unclear(Broken):
    """A test ends with an error and names no case that failed."""


class Build:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        database = self.folder / "compile_commands.json"
        if not database.exists():
            sys.exit(f"tests/mutants: {folder} holds no build; make one with: make test")
        self.commands = [c for c in json.loads(database.read_text()) if not c["file"].startswith(str(ROOT / "tests"))]

    def compiles(self, file):
        """The commands whose object sees a file of the tree."""
        path = str(ROOT / file)
        if file.endswith(".c"):
            return [c for c in self.commands if c["file"] == path]
        return [c for c in self.commands if path in self.seen(c["directory"], c["command"])]

    @functools.lru_cache(maxsize=None)
    def seen(self, directory, command):
        """The files that an object was made from."""
        words = shlex.split(command)
        found = Path(directory, words[words.index("-o") + 1] + ".d")
        names = found.read_text().replace("\\\n", " ").split() if found.exists() else []
        return {os.path.normpath(os.path.join(directory, name)) for name in names}

    def plant(self, file, text, overlay):
        """The commands that see the fault, in two lots: the second is for a mutant that survives the first. A body that
        is compiled once for each instruction set is tried in one of them first."""
        changed = overlay / file
        changed.parent.mkdir(parents=True)
        changed.write_text(text)
        commands = self.compiles(file)
        if not commands:
            raise Broken(f"no object is made from {file}")
        if not all(INSTRUCTION_SET.search(c["file"]) for c in commands):
            return commands, []
        first = {}
        for command in sorted(commands, key=lambda c: not c["file"].endswith("/avx2.c")):
            first.setdefault(INSTRUCTION_SET.sub("", command["file"]), command)
        return list(first.values()), [c for c in commands if c not in first.values()]

    def compile(self, file, command, overlay):
        """One changed object."""
        words = shlex.split(command["command"])
        target = words.index("-o") + 1
        made = str(overlay / (words[target].replace("/", "_")))
        words[target] = made
        if file.endswith(".c"):
            words[words.index("-c") + 1] = str(overlay / file)
        words[1:1] = [f"-I{overlay}"]
        run = subprocess.run(words + ["-w"], cwd=command["directory"], capture_output=True, text=True, check=False)
        if run.returncode:
            raise Broken("does not compile: " + run.stderr.strip().split("\n")[0])
        return made

    def program(self, test):
        """All tests of emu/ are one program, which takes their name."""
        return self.folder / "tests" / ("emu/emu" if test.startswith("emu/") else test)

    def link(self, test, objects, program):
        target = "emu" if test.startswith("emu/") else "test_" + test.replace("/", "_")
        folder = self.folder / "tests/emu" if test.startswith("emu/") else self.folder
        script = folder / "CMakeFiles" / f"{target}.dir" / "link.txt"
        if not script.exists():
            raise Broken(f"there is no test {test}")
        words = shlex.split(script.read_text())
        output = words.index("-o")
        words[output + 1] = str(program)
        words[output:output] = objects  # before the archive: its members of the same names are then not taken
        run_linker(words, folder)

    def link_program(self, objects, program):
        """The command line with the mutant in it, in one piece, for the tests that run it."""
        words = shlex.split((self.folder / "CMakeFiles/braid_program.dir/link.txt").read_text())
        changed = {os.path.basename(made): made for made in objects}
        words = [changed.pop(word.replace("/", "_"), word) for word in words]
        words = [word for word in words if not re.search(r"libbraid(_lab)?\.so", word)]
        words[words.index("-o") + 1] = str(program)
        archive = shlex.split((self.folder / "CMakeFiles/test_cli_help.dir/link.txt").read_text())
        rest = archive[archive.index("libbraid_insides.a"):]
        run_linker(words + list(changed.values()) + rest, self.folder)


def run_linker(words, folder):
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise Broken("does not link: " + run.stderr.strip().split("\n")[-1])


def run_bounded(words, environment, limit):
    """(exit status, output); the status is None where the program, or what it started, ran past the limit."""
    words = ["prlimit", f"--as={MOST_MEMORY}", "--core=0"] + words
    with subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as run:
        try:
            output, _ = run.communicate(timeout=limit)
            return run.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            return None, ""


def run_test(program, test, arguments, limit, braid=None):
    """'' where the test passes; else how it failed. braid: what runs in place of the program of the build."""
    if not program.exists():
        return f"{test} is not built; build first: make"
    name = [test.removeprefix("emu/")] if test.startswith("emu/") else []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "BRAID_CACHE_DIR": cache, "OMP_WAIT_POLICY": "passive"}  # several share the cores
        if braid:
            environment["BRAID_TEST_PROGRAM"] = str(braid)
        status, output = run_bounded([str(program)] + name + arguments, environment, limit)
    if status is None:
        return f"{test} hangs"
    if status == 0:
        return ""
    if status < 0:
        return f"{test} dies of signal {-status}"
    lines = output.split("\n")
    told = [line for line in lines if line.startswith(("FAIL", "[  FAILED  ]"))]
    first = next(iter(told or [line for line in lines if line.startswith("[  ERROR   ]")]), "")  # also of a teardown
    last = next((line for line in reversed(lines) if line.strip()), "")
    if not first and last.startswith("[ RUN "):  # cmocka ends so at a fault of memory
        return f"{test} dies in {last.split(']')[1].strip()}"
    if not first:
        raise Unclear(f"{test} ends with {status} and no failed case: {lines[-2] if len(lines) > 1 else ''}")
    return f"{test}: {first[:110]}"


class Unchanged:
    """The tests without any mutant; each runs once with the same arguments, when the first mutant asks for it. That
    those of this build pass, and in what time, is kept in its folder."""

    def __init__(self, build, least_limit):
        self.build, self.least_limit = build, least_limit  # seconds that every test may take
        self.guard = threading.Lock()
        self.guards, self.runs = {}, {}
        self.path = build.folder / "mutants/unchanged.json"
        self.kept = json.loads(self.path.read_text()) if self.path.exists() else {}

    def run(self, test, arguments):
        """How it fails ('': it passes), and its seconds."""
        program = self.build.program(test)
        name = " ".join((test, *arguments))
        made = program.stat().st_mtime if program.exists() else 0
        if self.kept.get(name, [None])[0] == made:
            return "", self.kept[name][1]
        start = time.monotonic()
        failure = run_test(program, test, arguments, UNCHANGED_LIMIT)
        seconds = time.monotonic() - start
        if not failure:
            with self.guard:
                self.kept[name] = made, seconds
                self.path.parent.mkdir(exist_ok=True)
                self.path.write_text(json.dumps(self.kept))
        return failure, seconds

    def limit(self, test, arguments):
        """The seconds after which it hangs. Raises Broken where it fails."""
        key = (test, *arguments)
        with self.guard:
            guard = self.guards.setdefault(key, threading.Lock())
        with guard:
            if key not in self.runs:
                self.runs[key] = self.run(test, list(arguments))
        failure, seconds = self.runs[key]
        if failure:
            raise Broken(f"fails without any mutant: {failure}")
        return max(self.least_limit, HANGS_AFTER * seconds)


def first_failure(build, unchanged, tests, objects, arguments, folder):
    """How the first test that fails with the objects in it fails; '': none does."""
    braid = None
    for test in tests:
        program = Path(folder, "program")
        given = arguments if test.startswith("ops/") else []
        limit = unchanged.limit(test, given)
        if test.startswith("cli/") and not braid:
            braid = Path(folder, "braid")
            build.link_program(objects, braid)
        build.link(test, objects, program)
        failure = run_test(program, test, given, limit, braid)
        if failure:
            return failure
    return ""
