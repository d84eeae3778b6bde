"""Run by gdb: prints as JSON the frames of each launch between kith_search_begins() and kith_search_ended().

KITH_LAUNCHES names the functions that launch, with commas between them. A launch on another thread than the one that
searches is left out: a set of devices has one for each of its other members.
"""

import json
import os
import re

import gdb


def symbol(frame: gdb.Frame) -> str:
    """Returns the function of a frame with its parameters and its enclosing scopes; nothing if gdb knows
    no symbol.
    """
    said = gdb.execute(f"info symbol {frame.pc()}", to_string=True)
    found = re.match(r"(.*?)(?: \+ \d+)? in section ", said)
    return found.group(1) if found else frame.name() or ""


def frames() -> list[list[str]]:
    """Returns [function, file] of each frame, from the launch outwards. gdb knows no file of code without
    line numbers.
    """
    found, frame = [], gdb.newest_frame()
    while frame is not None:
        table = frame.find_sal().symtab
        found.append([symbol(frame), table.fullname() if table else ""])
        frame = frame.older()
    return found


def main() -> None:
    for setting in ("pagination off", "breakpoint pending on", "print thread-events off", "print asm-demangle on"):
        gdb.execute("set " + setting)
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.Breakpoint("kith_search_begins")
    ended = gdb.Breakpoint("kith_search_ended")
    gdb.execute("run", to_string=True)
    if not gdb.selected_thread():
        raise SystemExit(3)  # it ended before it searched, and said why
    searches = gdb.selected_thread().num
    for launch in os.environ["KITH_LAUNCHES"].split(","):
        gdb.Breakpoint(launch)
    launches = []
    while True:
        gdb.execute("continue", to_string=True)
        if not gdb.selected_thread():
            raise SystemExit(4)
        if ended.hit_count:
            break
        if gdb.selected_thread().num == searches:
            launches.append(frames())
    gdb.execute("kill", to_string=True)
    print("backtraces: " + json.dumps(launches))


try:
    main()
except gdb.error as error:
    print(error)
    raise SystemExit(5) from error
