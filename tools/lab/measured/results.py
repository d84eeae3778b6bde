"""Reads and writes result files: docs/measured/*.json, one for each run on a device.

    date, device, commit, command   of the run; `drivers` and `peers` where there are some
    from       the log where the figures stood, of runs that `tools/measure` did not make; commit wrote it there
    results    for each workload its shape, and `ways`: by cuda, opencl, cpu (kith), fp32, tf32, fp16 (PyTorch), faiss
    figures    others: {name: {value, unit}}
    parts      samples of the parts of a search by Dask (tools/lab/scale)
    points     seconds and memory over a limit (tools/lab/streams)

Times of ways are milliseconds. For each device, workload and way the newest result counts.
"""
import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs/measured"
NEEDED = ("date", "device", "commit", "command")


class Missing(Exception):
    """Is raised if no file has what a page asks for."""


def slug(device):
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


def commit_here():
    """Returns the commit that is checked out; empty without git."""
    found = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True,
                           check=False)
    return found.stdout.strip()


def command_line():
    """Returns the command as called from the sources' folder, without paths of this machine."""
    given = list(sys.argv[1:])
    for option in ("--out", "--build"):
        if option in given:
            del given[given.index(option):given.index(option) + 2]
    called = Path(sys.argv[0]).resolve()
    return " ".join([str(called.relative_to(ROOT)) if called.is_relative_to(ROOT) else called.name, *given])


def write(name, device, content, folder=FOLDER, commit=""):
    """Writes a result file of today, DATE-NAME.json."""
    date = datetime.date.today().isoformat()
    commit = commit or commit_here()
    if not commit:
        sys.exit("there is no git here: say which commit was built")
    head = {"date": date, "device": device, "commit": commit, "command": command_line()}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{date}-{name}.json"
    path.write_text(json.dumps({**head, **content}, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}", flush=True)


class Results:
    def __init__(self, folder):
        self.files = []
        for path in sorted(Path(folder).glob("*.json")):
            if "-scaled-" in path.name:
                continue  # tries of tools/measure
            file = json.loads(path.read_text(encoding="utf-8"))
            lacking = [name for name in NEEDED if not file.get(name)]
            if lacking:
                raise Missing(f"{path}: it says no {lacking[0]}")
            self.files.append(file)
        # Among files of one day, those of tools/measure come last.
        self.files.sort(key=lambda file: (file["date"], "from" not in file))

    def workloads(self, device):
        """Returns {name: entry} of all workloads measured on the device, in the order of kith-lab bench if one file has all."""
        found = {}
        for file in reversed(self.files):
            if slug(file["device"]) == device:
                for entry in file.get("results", []):
                    found.setdefault(entry["workload"], entry)
        return found

    def newest(self, device, workload, way, name="", until=None):
        """Returns the newest (file, figures) of a way that has `name`, of a date at most `until`; (None, {}) if there is none."""
        for file in reversed(self.files):
            if slug(file["device"]) == device and (until is None or file["date"] <= until):
                for entry in file.get("results", []):
                    figures = entry["ways"].get(way) if entry["workload"] == workload else None
                    if figures and (not name or name in figures):
                        return file, figures
        return None, {}

    def value(self, device, workload, way, name):
        figures = self.newest(device, workload, way, name)[1]
        if not figures:
            raise Missing(f"no file of {device} has {name} of {workload} by {way}")
        return figures[name]

    def holder(self, name):
        """Returns the newest file that has `parts`, `points`, ..."""
        for file in reversed(self.files):
            if name in file:
                return file
        raise Missing(f"no file has {name}")

    def parts(self):
        """Returns the parts of a search by Dask in seconds, and the speeds of a card and a disk in bytes per second."""
        card = self.value("nvidia-h200", "sift_k10", "cuda", "to_answer")
        return {**self.holder("parts")["parts"], "search": 1e-3 * card,
                **{name: 1e9 * self.figure(name)["value"] for name in ("disk", "upload")}}

    def figure(self, name):
        for file in reversed(self.files):
            if name in file.get("figures", {}):
                return file["figures"][name]
        raise Missing(f"no file has the figure {name}")
