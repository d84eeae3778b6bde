#!/usr/bin/env python3
"""pool.py LIBRARY uses libkith.so by ctypes in processes of Python's multiprocessing.

The parent first searches on every device. Then children made by fork must get the same bytes on the CPU, both by
the parent's Index and by their own, and must be refused all other devices. Children made by spawn must get the same
bytes on all devices. Missing devices are named. Exit code 1 means that something is wrong.
"""
import array
import ctypes
import multiprocessing
import random
import sys

DEVICES = ["cpu", "opencl:pocl", "cuda:0", "opencl:nvidia"]
TASKS = 6  # of each kind, for three processes
PATIENCE_S = 240
ROWS, QUERIES, DIMS, K = 3000, 60, 16, 9


class Rows(ctypes.Structure):
    """Is the C struct kith_rows."""

    _fields_ = [("size", ctypes.c_uint64), ("data", ctypes.c_void_p), ("rows", ctypes.c_int64),
                ("cols", ctypes.c_int64), ("stride_bytes", ctypes.c_int64), ("offset_bytes", ctypes.c_int64),
                ("element", ctypes.c_int32), ("where", ctypes.c_int32), ("stream", ctypes.c_void_p)]


class Refused(Exception):
    """Returns the name of the status, and the message."""


class Kith:
    """Holds libkith.so, the rows, and the indexes of this process; a forked child inherits its parent's."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.kith_last_error.restype = self.c.kith_status_name.restype = ctypes.c_char_p
        draw = random.Random(7)  # few values, so that distances tie
        self.values = [array.array("f", (draw.randrange(5) for _ in range(n * DIMS))) for n in (ROWS, QUERIES)]
        self.train, self.queries = map(self.rows, self.values)
        self.kept = {}

    def rows(self, values):
        rows = Rows()
        rows.size = ctypes.sizeof(rows)
        rows.data, rows.rows, rows.cols = values.buffer_info()[0], len(values) // DIMS, DIMS
        return rows

    def check(self, status):
        if status != 0:
            raise Refused(f"{self.c.kith_status_name(status).decode()}: {self.c.kith_last_error().decode()}")

    def index(self, spec):
        device, index = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.c.kith_device_open(spec.encode(), ctypes.byref(device)))
        self.check(self.c.kith_index_new(device, ctypes.byref(self.train), None, ctypes.byref(index)))
        self.c.kith_device_free(device)  # the index keeps the device open
        return index

    def search(self, index):
        distance, row = (ctypes.c_float * (QUERIES * K))(), (ctypes.c_int64 * (QUERIES * K))()
        self.check(self.c.kith_index_search(index, ctypes.byref(self.queries), ctypes.c_int64(K), None, distance, row))
        return bytes(distance) + bytes(row)


opened = {}


def search(library, device, anew):
    """Returns the bytes of the answer, or the message if kith refuses."""
    kith = opened.get(library) or opened.setdefault(library, Kith(library))
    try:
        if anew:
            index = kith.index(device)
            answer = kith.search(index)
            kith.c.kith_index_free(index)
            return answer
        if device not in kith.kept:
            kith.kept[device] = kith.index(device)  # never freed
        return kith.search(kith.kept[device])
    except Refused as refused:
        return str(refused)


def in_children(way, tasks):
    with multiprocessing.get_context(way).Pool(3) as pool:
        return pool.starmap_async(search, tasks, chunksize=1).get(timeout=PATIENCE_S)


def refusals(device, answers):
    """Yields what is wrong with the answers of forked children on a device that has a driver."""
    for anew, answer in answers:
        when = "was started before fork()" if anew else "opened before fork()"
        if isinstance(answer, bytes) or not answer.startswith("unavailable: ") or when not in answer:
            yield f"{device}: a forked child was not refused ({when}): {answer[:200]!r}"


def main(library):
    expected, wrong = {}, []
    for device in DEVICES:
        answer = search(library, device, 0)
        if isinstance(answer, bytes):
            expected[device] = answer
        elif device == "cpu" or not answer.startswith("unavailable: "):
            wrong.append(f"{device}: {answer}")
        else:
            print(f"{device}: left out: {answer}")
    if any(answer != expected["cpu"] for answer in expected.values()):
        wrong.append("devices differ in the parent")
    kinds = [(device, anew) for device in expected for anew in (0, 1)] * TASKS
    for way in ("fork", "spawn"):
        answers = in_children(way, [(library, device, anew) for device, anew in kinds])
        for device in expected:
            own = [(anew, answer) for (name, anew), answer in zip(kinds, answers) if name == device]
            if way == "fork" and device != "cpu":
                wrong += refusals(device, own)
            elif any(answer != expected["cpu"] for _, answer in own):
                wrong.append(f"{device}: a child by {way} has other bytes: {own[0][1][:200]!r}")
        print(f"{way}: {len(answers)} searches in children, on {', '.join(expected)}")
    if search(library, "cpu", 0) != expected["cpu"]:
        wrong.append("the parent has other bytes afterwards")
    for sentence in wrong:
        print(f"WRONG: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
