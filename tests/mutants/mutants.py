#!/usr/bin/env python3
"""Plant one bug after the other in a copy of the sources, and see the named test fail.

    mutants.py --work FOLDER                 all of them; the copy and its build are kept in FOLDER
    mutants.py --work FOLDER --draw 3 --date 20261124
                                             three, drawn by the date, of those that are not slow
    mutants.py --work FOLDER --only NAMES    some of them, with commas between
    mutants.py --work FOLDER --missing       those that FOLDER/results.json does not have yet, as when a run was stopped
    mutants.py --work FOLDER --table FILE    runs none; writes docs/mutants.md as FILE, from results.json and, of mutants
                                             that it does not have, from the page as it is
    mutants.py --check                       only whether each still finds its place; builds nothing

Mutants are in the .txt files beside this program, each as

    [name]
    kind: a row of the table
    means: what the bug would do, as a sentence without its point
    killed by: COMMAND
    -  the text it replaces, which occurs once in the sources wherever that is; white space counts as a space
    +  what stands there instead

COMMAND is `VARIABLE=VALUE ... PROGRAM WORDS`: `kith_tests`, `kith`, `ctest NAME`, which is one of the entries of
MPI, `oclgrind kith`, which fails, too, where Oclgrind finds something, or `pytest WORDS`, which runs python/tests or the
files of it that are named, by the package and the libkith of the copy. {build} in it is the folder of the build. It must
pass on the sources as they are, and fail with the mutant. More lines may follow: `slow: yes` leaves a mutant to the long form,
`limit: SECONDS` is for one that hangs.

The checkout is never changed. Only the files of tests that are named are compiled.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from mutant_list import HERE, ROOT, SOURCES, Failure, find_places, pattern_of, read_mutants, test_files
from mutant_results import Results, former_rows, table_of

# Lists what a build and its tests also read.
ALSO = ("CMakeLists.txt", "CMakePresets.json", "cmake", "tests", "docs", "python")
LEAST = 267  # number of mutants; raise it when you add some
LIMIT_S = 300
PYTHON = ROOT / "build/python/environment/bin/python"  # has what python/tests/requirements.txt lists


class Workplace:
    """Copies the sources to a folder of its own, and builds there."""

    def __init__(self, folder, mutants, jobs, werror):
        self.tree, self.jobs, self.werror = folder / "tree", jobs, werror
        self.build = self.tree / "build"  # as deep below the sources as usual, so that ccache knows the paths
        # These say which mutant is in the copy, and whether the build still contains an earlier one.
        self.planted, self.stale = None, False
        self.pocl_cache = ROOT / "build/tests/pocl-gpu-steps"  # already compiled by the tests
        if not self.pocl_cache.is_dir():
            self.pocl_cache = folder / "pocl"
        self.pocl_cache.mkdir(parents=True, exist_ok=True)
        self.copy()
        self.configure(sorted(set().union(*(test_files(one) for one in mutants))))

    def copy(self):
        """Copies the sources. Files with the same content keep their times, so that nothing is built twice."""
        wanted = {}
        for name in SOURCES + ALSO:
            path = ROOT / name
            for file in [path] if path.is_file() else path.rglob("*"):
                if file.is_file() and "__pycache__" not in file.parts:
                    wanted[self.tree / file.relative_to(ROOT)] = file
        for to, source in wanted.items():
            if to.is_file() and to.read_bytes() == source.read_bytes():
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, to)
        for file in list(self.tree.rglob("*")):
            if file.is_file() and self.build not in file.parents and file not in wanted:
                file.unlink()

    def configure(self, files):
        options = ["-DKITH_TESTS=ON", "-DKITH_CUDA=OFF", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON",
                   "-DKITH_TEST_FILES=" + ";".join(files)]
        options += ["-DCMAKE_CXX_COMPILER_LAUNCHER=sh;" + str(HERE / "compile.sh"),
                    "-DKITH_WERROR=" + ("ON" if self.werror else "OFF")]
        if shutil.which("ninja"):
            options += ["-G", "Ninja"]
        done = subprocess.run(["cmake", "--preset", "default", "-B", str(self.build), *options], cwd=self.tree,
                              capture_output=True, text=True)
        if done.returncode:
            raise Failure("cmake cannot configure the copy:\n" + done.stdout + done.stderr)

    def make(self, targets):
        done = subprocess.run(["cmake", "--build", str(self.build), "--parallel", str(self.jobs), "--target",
                               *sorted(targets)], capture_output=True, text=True,
                              env={**os.environ, **({"KITH_PLANTED": "1"} if self.planted else {})})
        if done.returncode:
            raise Failure("cannot be built:\n" + done.stdout[-3000:] + done.stderr[-1000:])

    def plant(self, one):
        """Restores the sources, plants a mutant (None: none), and builds what changed."""
        if self.planted:
            shutil.copy(ROOT / self.planted.path, self.tree / self.planted.path)
            self.stale = self.stale or is_compiled(self.planted)
        self.planted = one
        if not one:
            return
        if self.stale and not is_compiled(one):
            self.make(targets_of(one))
        text = (ROOT / one.path).read_text()
        match = pattern_of(one).search(text)
        (self.tree / one.path).write_text(text[:match.start()] + "\n".join(one.new) + text[match.end():])
        if is_compiled(one):
            self.make(targets_of(one))
        self.stale = False

    def run(self, one, limit):
        """Runs the command of a mutant. Returns its exit code, None if it ran out of time, and what it printed."""
        words = one.words()
        variables = {}
        while "=" in words[0]:
            name, _, variables[name] = words.pop(0).partition("=")
        variables = {name: value.replace("{build}", str(self.build)) for name, value in variables.items()}
        program = [self.program(word) if i == 0 or words[0] == "oclgrind" and i == 1 else word
                   for i, word in enumerate(words)]
        if words[0] == "kith_tests":
            program.append("--abort-after=1")
            if not any(word.startswith("--device=") for word in program):
                program.append("--device=cpu")
        if words[0] == "ctest":
            program = ["ctest", "--test-dir", str(self.build), "--output-on-failure", "-R", f"^{words[1]}$"]
        if words[0] == "oclgrind":
            script = '. tools/gates/oclgrind.sh; under_oclgrind "$@"; code=$?; head -n 9999 "$1"; [ $code = 0 ] && [ ! -s "$1" ]'
            program = ["sh", "-c", script, "sh", str(self.tree.parent / "found"), "KITH_TUNING=off", *program[1:]]
        if words[0] == "pytest":
            files = [f"python/tests/{word}" for word in words[1:] if word.startswith("test_")]
            program = [str(PYTHON) if PYTHON.exists() else sys.executable, "-m", "pytest", "-q", "-x", "-p",
                       "no:cacheprovider", *(files or ["python/tests"]),
                       *(word for word in words[1:] if not word.startswith("test_"))]
            paths = [str(self.tree / "python"), *filter(None, [os.environ.get("KITH_PYTEST")])]
            variables |= {"PYTHONPATH": ":".join(paths), "KITH_LIBRARY": str(self.build / "lib/libkith.so.0"),
                          "PYTHONDONTWRITEBYTECODE": "1"}
        environment = {**os.environ, "KITH_TUNING": "off", "KITH_CL_CACHE": "off", "OMP_WAIT_POLICY": "passive",
                       "KITH_CL_DIR": str(self.tree / "kernels_cl"), "POCL_CACHE_DIR": str(self.pocl_cache),
                       **variables}
        with subprocess.Popen(program, cwd=self.tree, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as process:
            try:
                said, _ = process.communicate(timeout=limit)
                return process.returncode, said
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return None, process.communicate()[0]
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise

    def program(self, name):
        return name if name == "oclgrind" else str(self.build / "bin" / name)


def is_compiled(one):
    """Returns whether a mutant needs a build; kernels for OpenCL and Python are read from the sources."""
    return one.path.parts[0] not in ("kernels_cl", "python")


def targets_of(one):
    if "ctest" in one.words():
        return {"kith_mpi_command_tests" if "mpi-command" in one.words() else "kith_mpi_tests"}
    if "pytest" in one.words():
        return {"kith"}
    return {"kith_tests"} if "kith_tests" in one.words() else {"kith_command", "kith_opencl"}


def killer(one, code, said):
    """Returns which test noticed the mutant, from what its command printed."""
    for block in re.split(r"^={20,}$", said, flags=re.MULTILINE):  # a case that only prints a message has a block, too
        case = re.search(r"^TEST CASE:  (.*)", block, re.MULTILINE)
        if case and "ERROR: " in block:
            return case[1].strip()
    by_pytest = re.search(r"^(?:FAILED|ERROR) \S*?(test_\w+\.py(?:::\w+)*)", said, re.MULTILINE)
    if by_pytest:
        return f"`{by_pytest[1]}`"
    of_oclgrind = [what for what in ("data race", "uninitialized value") if what in said.lower()]
    if "oclgrind" in one.words() and of_oclgrind:
        return "Oclgrind: " + " and ".join(of_oclgrind)
    if " is not exact: " in said:
        return "the self-test, when the device is opened"
    if code is None:
        return "the time limit: it hangs"
    if code < 0:
        return f"a crash (signal {-code})"
    return " ".join(word for word in one.words() if "=" not in word or word.startswith("--"))


def run_mutant(place, one):
    """Returns the seconds, and who killed the mutant. Raises Failure if it survived or proves nothing."""
    begin = time.monotonic()
    place.plant(one)
    code, said = place.run(one, float(one["limit"] or LIMIT_S))
    if code is None and not one["limit"]:
        raise Failure(f"its command did not end within {LIMIT_S} s; shorten it, or give a limit to what hangs")
    if code == 0:
        raise Failure("SURVIVED: " + one["killed by"] + " passes; write the test that fails")
    if code is not None and ran_nothing(said):
        raise Failure("its command ran no test:\n" + said[-2000:])
    return time.monotonic() - begin, killer(one, code, said)


def ran_nothing(said):
    return re.search(r"test cases: *0 \||No tests were found|\*\*\*Skipped|no tests ran|^\d+ (skipped|deselected)", said,
                     re.MULTILINE)


def check_commands(place, mutants):
    """Checks that each command passes without a mutant."""
    place.make(set().union(*map(targets_of, mutants)))
    seen = set()
    for one in mutants:
        if one["killed by"] in seen:
            continue
        seen.add(one["killed by"])
        code, said = place.run(one, LIMIT_S)
        if code != 0 or ran_nothing(said):
            raise Failure(f"{one.file}: [{one.name}]: without the mutant, too, this fails or runs nothing: "
                          f"{one['killed by']}\n{said[-3000:]}")


def chosen(mutants, options, results):
    if options.missing:
        return [one for one in mutants.values() if not results.of(one)]
    if options.only:
        names = options.only.split(",")
        for name in names:
            if name not in mutants:
                raise Failure(f"there is no mutant \"{name}\"; choose among {', '.join(mutants)}")
        return [mutants[name] for name in names]
    if not options.draw:
        return list(mutants.values())
    quick = [one for one in mutants.values() if not one["slow"]]
    drawn = random.Random(options.date).sample(quick, min(options.draw, len(quick)))
    print(f"drawn by {options.date} of {len(quick)}, {len(mutants) - len(quick)} slow ones left to the long form: "
          + ", ".join(one.name for one in drawn), flush=True)
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--date", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--werror", action="store_true", help="warnings are errors but in mutants, as in gate tests")
    options = parser.parse_args()
    mutants = read_mutants()
    wrong = find_places(mutants.values())
    listed = set(former_rows())
    if listed != set(mutants) and not (options.table or options.missing or options.only):
        wrong.append(f"docs/mutants.md has other mutants ({', '.join(sorted(listed ^ set(mutants)))}); run --missing, "
                     "then --table")
    if len(mutants) < LEAST:
        wrong.append(f"there are {len(mutants)} mutants, and must be {LEAST} at least")
    if wrong:
        raise Failure("\n".join(wrong))
    print(f"{len(mutants)} mutants, each of which applies to one place", flush=True)
    if options.check:
        return 0
    if not options.work:
        parser.error("--work names the folder for the copy")
    results = Results(options.work)
    if options.table:
        options.table.write_text(table_of(mutants.values(), results))
        return 0
    some = chosen(mutants, options, results)
    begin = time.monotonic()
    place = Workplace(options.work.resolve(), some, options.jobs, options.werror)
    check_commands(place, some)
    print(f"{time.monotonic() - begin:.0f} s to build the copy, and to see each command pass", flush=True)
    survivors = 0
    for one in some:
        try:
            seconds, by = run_mutant(place, one)
            results.keep(one, seconds, by)
            print(f"killed    {one.name:28} {seconds:5.1f} s  by {by}", flush=True)
        except Failure as error:
            survivors += 1
            print(f"NOT KILLED {one.name}: {error}", flush=True)
    place.plant(None)
    print(f"{len(some) - survivors} of {len(some)} killed, {time.monotonic() - begin:.0f} s in all")
    return 1 if survivors else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"mutants: {failure}")
        sys.exit(1)
