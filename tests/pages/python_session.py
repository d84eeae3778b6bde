"""Runs Python blocks in one namespace: a line of JSON for each on stdin, and one with what it printed and its error."""

import contextlib
import io
import json
import os
import sys
import traceback


def run(block, names):
    printed, error = io.StringIO(), ""
    try:
        code = compile("\n" * block["line"] + block["text"], block["page"], "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
    except BaseException:  # what a block throws, SystemExit too, is its failure
        error = traceback.format_exc()
    return printed.getvalue(), error


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is written past sys.stdout is no answer
    names = {"__name__": "__main__"}
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), names)), file=answers, flush=True)


if __name__ == "__main__":  # processes that a block starts read this file, too
    main()
