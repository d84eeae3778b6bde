#!/usr/bin/env python3
"""Run the blocks of pages, and compare what they print with what the pages say. CONTRIBUTING.md, "A page".

run.py --work FOLDER --installed PREFIX --python PYTHON PAGES...    the last line counts: blocks that ran, outputs compared
run.py --work FOLDER --installed PREFIX --python PYTHON --planted   each page of planted/ must fail as its first line says
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import programs
from blocks import Mistake, read_page
from sessions import Python, Shell

ROOT = Path(__file__).resolve().parents[2]
PLANTED = ROOT / "tests" / "pages" / "planted"


class Here:
    """Describes what this machine has, and the environment in which pages run."""

    def __init__(self, work, installed, python):
        self.work, self.installed, self.python = work.resolve(), installed.resolve(), python.absolute()
        self.environment = os.environ | {
            "PATH": f"{self.installed / 'bin'}:{self.python.parent}:{os.environ['PATH']}",
            "POCL_CACHE_DIR": os.environ.get("POCL_CACHE_DIR", str(Path.home() / ".cache" / "pocl" / "kcache")),
            "OMP_WAIT_POLICY": "passive",
            # mpirun refuses root, and more ranks than cores, unless these are set
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        }
        for name in ("KITH_TUNING", "XDG_CACHE_HOME"):  # a page that tunes does so in its own HOME
            self.environment.pop(name, None)
        listed = subprocess.run(["kith", "devices", "--json"], env=self.environment, capture_output=True, text=True)
        devices = [(backend["name"], device) for backend in json.loads(listed.stdout)["backends"] for device in backend["devices"]]
        usable = [name for name, device in devices if not device.get("refusal")]
        self.has = {"a GPU": "cuda" in usable, "two devices": len(usable) > 1, "another machine": False}
        for name, package in (("PyTorch", "torch"), ("JAX", "jax")):
            self.has[name] = subprocess.run([self.python, "-c", f"import {package}"], capture_output=True).returncode == 0

    def lacks(self, block):
        """Returns what a block needs and this machine lacks, or ""."""
        if block.needs and not self.has[block.needs]:
            return block.needs
        return "PyTorch" if block.needs and "import torch" in block.text and not self.has["PyTorch"] else ""

    def folder(self, page):
        """Makes an empty folder with links to the parts of kith's sources and build that pages mention."""
        folder = self.work / page.removesuffix(".md").replace("/", ".")
        folder.mkdir(parents=True)
        for name in ("build", "examples", "tools", "python"):
            (folder / name).symlink_to(ROOT / name)
        return folder


class Page:
    """Runs the blocks of one page in order."""

    def __init__(self, blocks, page, here):
        self.blocks, self.here = blocks, here
        self.folder = here.folder(page)
        self.environment = here.environment | {"HOME": f"{self.folder}.home"}
        Path(self.environment["HOME"]).mkdir()
        self.shell = Shell(self.folder, self.environment)
        self.python = Python(here.python, self.folder, self.environment)
        self.programs, self.built = programs.find_programs(blocks), None
        self.ran, self.compared, self.mistakes, self.log = 0, 0, [], []

    def run(self):
        try:
            if self.programs:
                self.built = programs.build(self.programs, Path(f"{self.folder}.programs"), self.here.installed)
            for block in self.blocks:
                self.run_block(block)
        except Mistake as mistake:
            self.mistakes.append(str(mistake))
        finally:
            self.shell.end()
            self.python.end()

    def run_block(self, block):
        elsewhere = block.elsewhere
        if elsewhere:
            self.log.append(f"{block.place}: run by {elsewhere}")
            return
        program = next((program for program in self.programs if block in program.blocks), None)
        if program and block is not program.blocks[-1]:  # it runs together with the last block of the program
            return
        begin = time.monotonic()
        printed, failed = self.run_program(program) if program else self.run_by_language(block)
        lacking = self.here.lacks(block)
        if lacking:
            if not failed:
                raise Mistake(f"{block.place}: runs without {lacking}; take the mark away")
            self.log.append(f"{block.place}: skipped: needs {lacking}")
            return
        if failed:
            raise Mistake(f"{block.place}: failed\n{failed}")
        self.log.append(f"{block.place}: {time.monotonic() - begin:.1f} s")
        self.ran += len(program.blocks) if program else 1
        self.compared += block.promises()
        different = block.compare(printed)
        if different:
            self.mistakes.append(different)

    def run_by_language(self, block):
        """Returns what the block prints, and why it failed, or ""."""
        if block.file_name:
            (self.folder / block.file_name).write_text(block.text)
            return "", ""
        if block.language == "sh":
            return self.shell.run(block)
        if block.language == "python":
            return self.python.run(block)
        raise Mistake(f"{block.place}: a block of CMake is a file: its first line is `# CMakeLists.txt`")

    def run_program(self, program):
        executable = self.built / program.name
        if not executable.exists():
            return "", f"it links to {', '.join(program.links())}, which are not all here"
        done = subprocess.run([executable], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=180)
        return done.stdout, (done.stderr or f"code {done.returncode}") if done.returncode else ""


def run_page(path, page, here):
    try:
        one = Page(read_page(path.read_text(encoding="utf-8"), page), page, here)
    except Mistake as mistake:
        return 0, 0, [str(mistake)], []
    one.run()
    return one.ran, one.compared, one.mistakes, one.log


def check_planted(here):
    """Each planted page has a mistake; its first line, `<!-- words -->`, is a part of the message it must cause."""
    wrong = 0
    pages = sorted(PLANTED.glob("*.md"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: run_page(path, f"planted/{path.name}", here), pages))
    for path, (_, _, mistakes, _) in zip(pages, results):
        words = path.read_text(encoding="utf-8").split("\n")[0].removeprefix("<!-- ").removesuffix(" -->")
        if not any(words in mistake for mistake in mistakes):
            wrong += 1
            print(f"{path.name}: \"{words}\" is not noticed, but: {mistakes}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="made anew")
    parser.add_argument("--installed", type=Path, required=True, help="where kith is installed")
    parser.add_argument("--python", type=Path, required=True, help="of an environment that has kith's wheel")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("pages", nargs="*", type=Path)
    asked = parser.parse_args()
    shutil.rmtree(asked.work, ignore_errors=True)
    here = Here(asked.work, asked.installed, asked.python)
    if asked.planted:
        sys.exit(check_planted(here))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: run_page(path, str(path.resolve().relative_to(ROOT)), here), asked.pages))
    for *_, mistakes, log in results:
        print(*log, *mistakes, sep="\n", end="\n" if log or mistakes else "")
    mistakes = sum(len(result[2]) for result in results)
    print(f"{sum(result[0] for result in results)} blocks ran, {sum(result[1] for result in results)} outputs compared, {mistakes} mistakes")
    sys.exit(mistakes > 0)


if __name__ == "__main__":
    main()
