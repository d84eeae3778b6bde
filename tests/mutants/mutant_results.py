"""Keeps the result of each mutant in a file of the workplace, and writes docs/mutants.md."""
import json
import re

from mutant_list import ROOT, Failure


class Results:
    """Keeps the results of the last run of each mutant in a file; a result is dropped when its mutant changes."""

    def __init__(self, folder):
        self.file = folder / "results.json"
        self.known = self.read()

    def read(self):
        return json.loads(self.file.read_text()) if self.file.is_file() else {}

    @staticmethod
    def identity(one):
        return "\n".join([*one.old, "+", *one.new, one["killed by"]])

    def of(self, one):
        known = self.known.get(one.name, {})
        return known if known.get("identity") == self.identity(one) else None

    def keep(self, one, seconds, by):
        self.known = self.read()  # another run may have added some
        self.known[one.name] = {"identity": self.identity(one), "seconds": round(seconds, 1), "by": by}
        self.file.write_text(json.dumps(self.known, indent=1))


def former_rows():
    """Returns who killed each mutant, and the seconds, from docs/mutants.md."""
    rows = re.findall(r"^\| `(\w+)` \|.* \| (.*?) \| (\d+) \|$", (ROOT / "docs/mutants.md").read_text(), re.MULTILINE)
    return {name: {"by": by.replace("\\|", "|"), "seconds": float(seconds)} for name, by, seconds in rows}


def table_of(mutants, results):
    former = former_rows()
    known_of = {one.name: results.of(one) or former.get(one.name) for one in mutants}
    missing = [name for name, known in known_of.items() if not known]
    if missing:
        raise Failure(f"no result yet of {', '.join(missing)}; run them with --missing")
    lines = ["# Mutants", "",
             "This page lists bugs that were planted in kith, one at a time, and the test that fails for each.",
             "`tools/check --only mutants` plants them again (under `--ci` three, chosen by the date). `tests/mutants/*.txt` has",
             "the list, and `tests/mutants/mutants.py` says how to add one. The seconds are those of the build and of the test,",
             "on two cores.",
             "",
             "| mutant | kind | what it would do | killed by | seconds |", "|---|---|---|---|---|"]
    for one in mutants:
        known = known_of[one.name]
        cells = [f"`{one.name}`", one["kind"], one["means"], known["by"], f"{known['seconds']:.0f}"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", f"{len(mutants)} planted, {len(mutants)} killed."]
    return "\n".join(lines) + "\n"
