"""Reads the mutants from the .txt files of this folder, and finds where in the sources each applies."""
import fnmatch
import pathlib
import re
import shlex

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Folders whose files mutants may change.
SOURCES = ("lib", "backends", "kernels_cl", "kernels_cuda", "tools", "python/kith")
KEYS = {"kind", "means", "killed by", "slow", "limit"}


class Failure(Exception):
    pass


class Mutant:
    def __init__(self, name, file):
        self.name, self.file, self.old, self.new, self.facts = name, file, [], [], {}
        self.path = None

    def __getitem__(self, key):
        return self.facts.get(key, "")

    def words(self):
        return shlex.split(self["killed by"])


def read_mutants():
    mutants = {}
    for file in sorted(HERE.glob("*.txt")):
        one = None
        for number, line in enumerate(file.read_text().splitlines(), 1):
            key, colon, value = line.partition(": ")
            if line.startswith("[") and line.endswith("]"):
                one = Mutant(line[1:-1], file.name)
                if one.name in mutants:
                    raise Failure(f"{file.name}:{number}: there are two mutants [{one.name}]; rename one")
                mutants[one.name] = one
            elif one and line[:1] in "-+" and line:
                (one.old if line[0] == "-" else one.new).append(line[1:].strip())
            elif one and colon and key in KEYS:
                one.facts[key] = value.strip()
            elif line.strip() and not line.startswith("#"):
                raise Failure(f"{file.name}:{number}: \"{line}\" is no line of a mutant; see mutants.py --help")
    for one in mutants.values():
        if not one.old or not all(one[key] for key in ("kind", "means", "killed by")):
            raise Failure(f"{one.file}: [{one.name}] lacks its text, kind, meaning or command; add it")
    return mutants


def source_files(root):
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                yield path


def find_places(mutants):
    """Returns the file that each mutant changes, and an error for each whose text occurs nowhere or more than once."""
    texts = {path: path.read_text(errors="replace") for path in source_files(ROOT)}
    wrong = []
    for one in mutants:
        found = [(path, match) for path, text in texts.items() for match in pattern_of(one).finditer(text)]
        if len(found) == 1:
            one.path = found[0][0].relative_to(ROOT)
        else:
            places = ", ".join(str(path.relative_to(ROOT)) for path, _ in found) or "nowhere"
            wrong.append(f"{one.file}: [{one.name}] applies to {len(found)} places ({places}), and must to one; "
                         "name the text that it should replace")
        try:
            test_files(one)
        except Failure as error:
            wrong.append(str(error))
    return wrong


def pattern_of(one):
    return re.compile(r"\s+".join(re.escape(word) for word in " ".join(one.old).split()))


def test_files(one):
    """Returns the test sources that a mutant's filter names."""
    files = set()
    for word in one.words():
        file, _, name = word.partition("::")
        if file.startswith("test_") and f"def {name}" not in (ROOT / "python/tests" / file).read_text():
            raise Failure(f"{one.file}: [{one.name}]: no test of python/tests is called \"{word}\"; name one that there is")
        if not word.startswith("--test-case="):
            continue
        for wanted in word.partition("=")[2].split(","):
            having = {path.name for path, names in CASES.items()
                      if any(fnmatch.fnmatch(name.lower(), wanted.lower()) for name in names)}
            if not having:
                raise Failure(f"{one.file}: [{one.name}]: no test is called \"{wanted}\"; name one that there is")
            files |= having
    return files


CASES = {path: re.findall(r'TEST_CASE\(\s*"([^"]*)"', path.read_text())
         for path in (ROOT / "tests").rglob("test_*.cpp")}
