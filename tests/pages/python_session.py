"""Runs Python blocks in one namespace: reads one per line as JSON, writes its output and error as a line of JSON."""

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
    except BaseException:  # anything a block throws, also SystemExit, is its failure
        error = traceback.format_exc()
    return printed.getvalue(), error


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output that bypasses sys.stdout must not mix with the answers
    names = {"__name__": "__main__"}
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), names)), file=answers, flush=True)


if __name__ == "__main__":  # processes started by a block import this file, too
    main()
