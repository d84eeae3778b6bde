#!/usr/bin/env python3
"""Asks random searches through Python, and compares the bits of each answer with the oracle's.

    answers.py --device SPEC --first SEED --cases N [--seconds S] [--workers W]
    answers.py --device SPEC --first SEED --cases 1 --explain      runs one case, and prints what it does

A seed draws a case: the metric, the kind of data, what rows and queries are stored as, how they lie in memory, how
rows are added and removed, where they stay, and one to three questions. `--seconds` ends sooner, after 50 cases at least.
KITH_ORACLE names the library that was compiled from oracle.cpp. The package kith is found as Python finds it.

`--plant answer` makes the oracle wrong in one bit of every 50th case, `--plant crash` ends the process at one case as a
wrong address does, `--plant hang` lets one take for ever: each must be found.

`--record FILE` appends a digest of each 500 cases' answers, whose seeds are 500 i ... 500 i + 499; `--digests FILE`
compares with what was recorded. What a case asks next may depend on what the device refused, so each device has digests
of its own. Digests compare a rebuilt kith with the state before; they also change if other cases are refused.

The last line counts cases and what was compared. Exit status: 0 all equal; 1 not; 2 wrong arguments.
"""
import argparse
import collections
import faulthandler
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings

import digests
from again import again
from workers import SEED_BYTES, Workers, seed_text

MOST_FAILURES = 20
# Lists what a run of many cases must have done at least once.
ALWAYS = ("Index", "updates", "Source", "Shards", "Classifier", "Regressor", "knn_graph", "search", "within",
          "storage stream", "checkpoint", "step save", "step open_part", "step pickle", "step compact", "before",
          "refused products")
MANY, FEW = 4000, 50


def run_case(seed, device, folder, plant=None):
    """Returns the case and what is wrong with it, or None."""
    import questions
    import subjects
    from case import Case

    case = Case(seed, device, folder, plant)
    try:
        what = case.one_of(["Index", "Index", "Index", "updates", "updates", "Source", "Source", "Shards",
                            "Classifier", "Regressor", "knn_graph"])
        case.count(what)
        case.note(what)
        if what == "knn_graph":
            questions.graph(case)
        elif what == "Shards":
            questions.of_shards(case, subjects.Shards(case))
        else:
            ask_subject(case, what, questions, subjects)
    except Exception as error:
        return case, f"{type(error).__name__}: {error}\n" + "".join(traceback.format_tb(error.__traceback__)[-2:])
    return case, None


def ask_subject(case, what, questions, subjects):
    if what == "Source":
        subject = subjects.Source(case)
    else:
        votes = what in ("Classifier", "Regressor")
        if votes and case.bits:
            return
        if votes:
            case.features, case.columns = None, case.dims
        subject = subjects.Subject(case, what if votes else "Index")
        if what == "updates" or (votes and case.chance(0.5)):
            subject.change()
    subject.check_numbers()
    for _ in range(case.whole(1, 3)):
        one = questions.votes if what in ("Classifier", "Regressor") else case.one_of(
            [questions.search, questions.search, questions.within])
        case.count(one.__name__)
        one(case, subject)
    if subject.before:
        case.note("the index as it was before")
        case.count("before")
        subject.before.check_numbers()
        one(case, subject.before)


def command_of(options, seed):
    plant = ["--plant", options.plant] if options.plant else []
    return again("answers.py", "--device", options.device, "--first", seed, "--cases", 1, "--explain", *plant)


def work(options):
    """Runs the cases first, first + step, ...; the file `state` holds the current seed."""
    warnings.simplefilter("ignore")
    faulthandler.enable()
    done, answers, failures, cases = collections.Counter(), collections.Counter(), 0, 0
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="kith-attack-") as folder:
        for seed in range(options.first, options.first + options.cases * options.step, options.step):
            if time.monotonic() > end and cases * options.step >= FEW:
                break
            if options.state is not None:
                os.pwrite(options.state, seed_text(seed), 0)
            plant = options.plant if seed % 50 == 7 else None
            plant_in_process(plant)
            case, wrong = run_case(seed, options.device, folder, plant)
            done.update(case.done)
            answers[digests.block_of(seed)] += case.digest() + digests.ONE_CASE
            cases += 1
            if options.explain:
                print(case.told())
            if wrong is not None:
                failures += 1
                print(f"WRONG: seed {seed} on {options.device}: {wrong}{case.told()}\n"
                      f"  again: {command_of(options, seed)}", flush=True)
            if case.files:
                clear(folder)
            if failures >= MOST_FAILURES:
                break
    return {"cases": cases, "failures": failures, "done": dict(done), "answers": dict(answers)}


def plant_in_process(plant):
    if plant == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    while plant == "hang":
        time.sleep(1)


def clear(folder):
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--patience", type=float, default=120, help="seconds that a case may take")
    parser.add_argument("--plant", choices=["answer", "crash", "hang"])
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--digests", metavar="FILE", help="compare with these")
    parser.add_argument("--record", metavar="FILE", help="append to these")
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--state", type=int, help=argparse.SUPPRESS)  # a file descriptor
    return parser.parse_args(words)


def main():
    options = arguments(sys.argv[1:])
    os.environ.setdefault("KITH_TUNING", "off")
    os.environ.setdefault("KITH_CL_CACHE", "off")
    if options.state is not None or options.explain:
        result = work(options)
        if options.state is not None:
            os.pwrite(options.state, json.dumps(result).encode(), SEED_BYTES)
        return 1 if result["failures"] else 0
    begin = time.monotonic()
    workers = Workers(options, lambda seed: command_of(options, seed))
    result = workers.run()
    seconds = time.monotonic() - begin
    done = collections.Counter(result["done"])
    print("; ".join(f"{name} {done[name]}" for name in sorted(done)))
    missing = [name for name in ALWAYS if done[name] == 0] if result["cases"] >= MANY else []
    for name in missing:
        print(f"WRONG: no case had {name}")
    other = digests.compare_or_record(options, result["answers"]) if options.digests or options.record else 0
    print(f"{result['cases']} cases on {options.device} from seed {options.first}, {done['compared']} comparisons, "
          f"{60 * result['cases'] / seconds:.0f} cases a minute: {result['failures']} different, "
          f"{result['crashes']} crashes, {result['hangs']} hangs")
    return 1 if result["failures"] or result["crashes"] or result["hangs"] or missing or other else 0


if __name__ == "__main__":
    sys.exit(main())
