#!/usr/bin/env python3
"""Changes files by chance, and lets the command read them.

    files.py --kith build/bin/kith --first SEED --cases N      N of each kind of file
    files.py --kith build/bin/kith --kind NAME --first SEED --cases 1 --keep FOLDER      one again; its file stays

One of the compiled programs that kith keeps is changed, too: the command must still give its answer.

Whatever a file holds, the command ends within 15 s and 4 GiB by exit code 0, 2, 3 or 6 (docs/contract.md, section 8).
A failure is one line, `kith: CODE: ...`, with the code of the exit. Output is UTF-8 and has no control character, and
--json prints JSON or nothing. Checksums of kith's own files are made right again after most changes.

`--plant` puts programs in place of kith that crash, hang, end with 77, print ESC, and print what is no JSON, for the first
five seeds: all must be found. KITH_LIBRARY names the library that index files and checkpoints are made with.

The last line counts. Exit status: 0 nothing found; 1 something; 2 wrong arguments.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import file_kinds
from again import again
from mutations import mutated

SECONDS, PLANTED_SECONDS = 15, 1
MEMORY = 4 << 30
MANY = 60  # files of a kind; with so many, some must be accepted and some refused
CODES = {0: "", 2: "invalid_argument", 3: "bad_file", 6: "unsupported"}
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PLANTED = ("kill -SEGV $$", "sleep 60", "echo 'kith: bad_file: x: y; z' >&2; exit 77",
           "printf 'a\\033[31mb\\n' >&2", "echo '{\"distance\": NaN}'")


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def what_is_wrong(code, out, error):
    """Returns what is wrong with how a command ended, or None."""
    if code < 0:
        return f"ended by signal {-code}"
    if code not in CODES:
        return f"exit code {code}"
    for name, said in (("stdout", out), ("stderr", error)):
        try:
            text = said.decode("utf-8")
        except UnicodeDecodeError as wrong:
            return f"{name} is no UTF-8: {wrong}"
        found = CONTROL.search(text)
        if found:
            return f"{name} has the character {found.group()!r}"
    if out.strip() or code == 0:
        try:
            json.loads(out, parse_constant=refuse)
        except ValueError as wrong:
            return f"stdout is no JSON: {wrong}"
    lines = [line for line in error.decode().splitlines() if line.startswith("kith: ")]
    failures = [line for line in lines if not line.startswith("kith: note: ")]
    if code != 0 and (len(failures) != 1 or not failures[0].startswith(f"kith: {CODES[code]}: ")):
        return f"exit code {code}, but it says {failures}"
    return None


class Attack:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.codes = collections.Counter()
        self.wrong, self.slowest = 0, 0.0
        self.kinds = [kind for kind in file_kinds.all_kinds(folder, options.kith) if options.kind in (None, kind.name)]

    def words(self, kind, random, path, folder):
        command = kind.commands[random.integers(0, len(kind.commands))]
        words = [word.format(file=path, folder=folder) for word in command]
        device = [] if words[0] in ("index", "recall") else ["--device", kind.device]
        as_json = [] if words[0] == "index" and words[1] != "info" else ["--json"]
        return [self.options.kith, *words, *device, *as_json], bool(as_json)

    def keep(self, kind, random, folder):
        """Writes all that is kept. Returns the path of the file to change, and the environment."""
        os.mkdir(folder, 0o700)
        for name, whole in zip(kind.names, kind.wholes):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(whole)
        return os.path.join(folder, random.choice(kind.names)), os.environ | {kind.variable: folder}

    def one(self, kind, seed):
        random = np.random.default_rng([seed, *kind.name.encode()])
        own = os.path.join(self.options.keep or self.folder, f"{kind.name}-{seed}")
        path, environment = own + kind.ending, None
        if kind.names:
            path, environment = self.keep(kind, random, own)
        with open(path, "wb") as file:
            file.write(file_kinds.content(kind, random, mutated))
        words, as_json = self.words(kind, random, path, self.folder)
        words = [word.replace("/out.kidx", f"/{kind.name}-{seed}.out") for word in words]
        plant = self.options.plant and seed - self.options.first < len(PLANTED)
        if plant:
            words, as_json = ["sh", "-c", PLANTED[seed - self.options.first]], True
        begin = time.monotonic()
        try:
            run = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, close_fds=False, env=environment,
                                 timeout=PLANTED_SECONDS if plant else SECONDS)
            wrong = what_is_wrong(run.returncode, run.stdout if as_json else b"{}", run.stderr)
            if kind.names and not plant and wrong is None and run.returncode != 0:
                wrong = f"exit code {run.returncode} because of a file that kith keeps"
            code = run.returncode
        except subprocess.TimeoutExpired:
            wrong, code = "does not end", None
        seconds = time.monotonic() - begin
        if not self.options.keep:
            for name in (path, own + ".out"):
                if os.path.exists(name):
                    os.remove(name)
            if kind.names:
                shutil.rmtree(own)
        return kind, seed, words, code, wrong, seconds

    def report(self, kind, seed, words, code, wrong, seconds):
        self.codes[kind.name, code] += 1
        self.slowest = max(self.slowest, seconds)
        if wrong is None:
            return
        self.wrong += 1
        same = ["--kith", self.options.kith, "--kind", kind.name, "--first", seed, "--cases", 1, "--keep", "/tmp"]
        print(f"WRONG: {kind.name}, seed {seed}: {wrong}\n  command: {' '.join(words)}\n"
              f"  again: {again('files.py', *same)}", flush=True)

    def run(self):
        seeds = range(self.options.first, self.options.first + self.options.cases)
        end = time.monotonic() + self.options.seconds
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for seed in seeds:
                if time.monotonic() > end:
                    break
                for done in pool.map(lambda kind: self.one(kind, seed), self.kinds):
                    self.report(*done)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", required=True)
    parser.add_argument("--kind")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--keep")
    parser.add_argument("--plant", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="kith-attack-") as folder:
        attack = Attack(options, folder)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        attack.run()
    for kind in attack.kinds:
        print(f"{kind.name:11}" + ", ".join(f"exit {code}: {attack.codes[kind.name, code]}" for code in CODES))
        for code in kind.codes:
            if options.cases >= MANY and attack.codes[kind.name, code] == 0:
                attack.wrong += 1
                print(f"WRONG: no {kind.name} of {options.cases} ended with {code}: it is not what is mutated here")
    total = sum(attack.codes.values())
    print(f"{total} files of {len(attack.kinds)} kinds from seed {options.first}, slowest {attack.slowest:.1f} s: "
          f"{attack.wrong} wrong")
    return 1 if attack.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
