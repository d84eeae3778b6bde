#!/usr/bin/env python3
"""pool.py LIBRARY: kith in the processes of Python's multiprocessing.

The parent searches on every device first. Then children made by fork must give the same bytes on the CPU, by
the parent's Index and by their own, and refuse the other devices; children made by spawn must give the same
bytes on all. Devices that are not here are named. Exit code 1 where something is wrong.
"""
import ctypes
import multiprocessing
import sys

DEVICES = ["cpu", "opencl:pocl", "cuda:0", "opencl:nvidia"]
TASKS = 6  # of each kind, for three processes
PATIENCE_S = 240


def search(library, device, anew):
    """The bytes of the answer; a text where kith refuses."""
    function = ctypes.CDLL(library).kith_search
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_long]
    answer = ctypes.create_string_buffer(1 << 16)
    count = function(device.encode(), anew, answer, len(answer))
    return answer.raw[:count] if count >= 0 else answer.value.decode()


def in_children(way, tasks):
    with multiprocessing.get_context(way).Pool(3) as pool:
        return pool.starmap_async(search, tasks, chunksize=1).get(timeout=PATIENCE_S)


def refusals(device, answers):
    """What is wrong with the answers of forked children on a device that has a driver."""
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
