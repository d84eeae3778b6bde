#!/usr/bin/env python3
"""Kills processes while they write, by kill -9 at a random moment.

    kills.py --kith build/bin/kith --seconds S --first SEED

A file is the old one or the new one, whole; a checkpoint may also be missing, and a search that goes on from it
gives what one without it gives. Beside it lies nothing but the unfinished file of the dead process, whose name begins with
its own.

`--plant` adds a writer that writes in place: it must be found.

The last line counts. Exit status: 0 nothing found; 1 something; 2 wrong arguments.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import kith
import numpy as np

PARTIAL = re.compile(r"\.partial-\d+-\d+$")
ROWS, COLUMNS = 60_000, 8


class Writer:
    """Runs a child process that writes the same file again and again."""

    def __init__(self, name, path, writes, wholes=None):
        self.name, self.path, self.writes, self.wholes = name, path, writes, wholes
        begin = time.monotonic()
        found = [self.after(write) for write in writes]
        self.seconds = (time.monotonic() - begin) / len(writes)
        self.wholes = self.wholes or found

    def after(self, write):
        write()
        return self.path.read_bytes() if self.path.exists() else None

    def begin(self):
        pid = os.fork()
        if pid == 0:
            try:
                while True:
                    for write in self.writes:
                        write()
            finally:
                os._exit(9)
        return lambda: end_child(pid)

    def wrong(self):
        found = self.path.read_bytes() if self.path.exists() else None
        return None if found in self.wholes else f"the file is neither the old one nor the new one: {described(found)}"


class Command(Writer):
    """Runs the command, which replaces a file once."""

    def __init__(self, name, path, words):
        self.words, self.old = words, path.read_bytes()
        super().__init__(name, path, [self.write])
        self.wholes += [self.old]

    def write(self):
        subprocess.run(self.words, check=True, capture_output=True)

    def begin(self):
        self.path.write_bytes(self.old)
        process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def end():
            process.kill()
            return process.wait() in (0, -signal.SIGKILL)

        return end


class Checkpoints(Writer):
    def __init__(self, path, random):
        rows = random.normal(size=(600, COLUMNS)).astype(np.float32)
        self.queries = random.normal(size=(40, COLUMNS)).astype(np.float32)
        self.index = kith.Index(rows, device="cpu", storage="stream", chunk_rows=20)
        self.right = self.index.search(self.queries, 5)
        super().__init__("checkpoint", path, [self.search])

    def search(self):
        self.path.unlink(missing_ok=True)
        return self.index.search(self.queries, 5, checkpoint=self.path)

    def wrong(self):
        there = self.path.exists()
        try:
            found = self.index.search(self.queries, 5, checkpoint=self.path)
        except kith.Error as error:
            return f"a search does not go on from it: {error}"
        same = all(np.array_equal(one, other) for one, other in zip(found, self.right))
        return None if same else f"a search that goes on from it (it was {'' if there else 'not '}there) finds other rows"


def end_child(pid):
    """Kills a child. Returns whether it was still writing."""
    os.kill(pid, signal.SIGKILL)
    return os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL


def described(found):
    return "it is missing" if found is None else f"{len(found)} bytes"


def writers(folder, options, random):
    first, second = (random.normal(size=(ROWS, COLUMNS)).astype(np.float32) for _ in range(2))
    indices = [kith.Index(rows, device="cpu") for rows in (first, second)]

    def place(name):
        (folder / name).mkdir()
        return folder / name / "file"

    def saved(name, ending):
        path = place(name).with_suffix(ending)
        return Writer(name, path, [lambda rows=rows: kith.files.save(path, rows) for rows in (first, second)])

    path = place("Index.save")
    yield Writer("Index.save", path, [lambda index=index: index.save(path) for index in indices])
    yield saved("kith.files.save .npy", ".npy")
    yield saved("kith.files.save .fbin", ".fbin")
    yield Checkpoints(place("checkpoint"), random)
    yield from commands(place, options.kith, first, indices[0])
    if options.plant:
        path = place("planted")
        yield Writer("planted", path, [lambda rows=rows: path.write_bytes(rows.tobytes()) for rows in (first, second)])


def commands(place, program, rows, index):
    more, path = place("more").with_suffix(".npy"), place("index add")
    np.save(more, rows[: ROWS // 2])
    index.save(path)
    yield Command("index add", path, [program, "index", "add", path, "--train", more])
    path = place("index remove")
    index.save(path)
    yield Command("index remove", path, [program, "index", "remove", path, "--rows", "1,5"])
    path = place("search --out-index").with_suffix(".npy")
    path.write_bytes(b"old")
    search = [program, "search", "--train", more, "--queries", more, "-k", "1", "--how", "boxes=yes", "--device", "cpu"]
    yield Command("search --out-index", path, [*search, "--out-index", path])
    path, labels = place("classify --save-model"), place("labels").with_suffix(".npy")
    np.save(labels, np.arange(ROWS // 2) % 3)
    path.write_bytes(b"old")
    classify = [program, "classify", "--train", more, "--labels", labels, "--query", ",".join("0" * COLUMNS)]
    yield Command("classify --save-model", path, [*classify, "-k", "1", "--device", "cpu", "--save-model", path])


def leftovers(path):
    """Removes the files beside `path`. Returns those of the dead process, and all others."""
    beside = [name for name in os.listdir(path.parent) if name != path.name]
    for name in beside:
        os.remove(path.parent / name)
    left = [name for name in beside if PARTIAL.search(name) or name.startswith(path.name)]
    return left, [name for name in beside if name not in left]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--plant", action="store_true")
    options = parser.parse_args()
    random = np.random.default_rng(options.first)
    kills = left = wrong = 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kith-attack-"))
    try:
        all_writers = list(writers(folder, options, random))
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            for writer in all_writers:
                stop = writer.begin()
                time.sleep(random.uniform(0, 1.3 * writer.seconds))
                said = None if stop() else "it ended by itself"
                said = said or writer.wrong()
                unfinished, strange = leftovers(writer.path)
                kills, left = kills + 1, left + len(unfinished)
                if strange:
                    said = said or f"beside it lies {strange}"
                if said:
                    wrong += 1
                    print(f"WRONG: {writer.name}, kill {kills} from seed {options.first}: {said}", flush=True)
    finally:
        shutil.rmtree(folder)
    print(f"{kills} kills of {len(all_writers)} writers, {left} unfinished files left behind: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
