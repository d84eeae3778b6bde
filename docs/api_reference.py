# Writes reference/api.md from what Doxygen found in the headers: a section a header, so that nothing is missing.
import os
import xml.etree.ElementTree as ElementTree

HEADERS = [
    ("Devices", "device"), ("Rows", "matrix_view"), ("Elements of rows", "rows_view"), ("Rows by ranges", "source"), ("Rows on sets of devices", "placement"), ("Metrics", "metric"), ("Index and searches", "index"),
    ("Index files", "index_file"), ("How files are written", "save_options"),
    ("What a search returns", "neighbors"), ("Answers on a device", "device_neighbors"), ("Counts within radii", "count_radii"),
    ("Pairs of rows", "pairs"),
    ("Memory of CUDA", "cuda"), ("Memory of OpenCL", "opencl"), ("What calls are told", "options"), ("Choices", "choices"), ("What a search did", "trace"),
    ("One search without an Index", "knn"), ("Every row's neighbours", "knn_graph"), ("Filters", "filter"), ("Selectors and proposers", "selector"), ("Classification", "classifier"),
    ("Votes", "voting"), ("Regression", "regressor"), ("Evaluation", "evaluation"),
    ("Preparation of rows", "preparation"), ("Centres", "centre"), ("Models", "model"), ("Labels", "labels"),
    ("Class structure", "structure"), ("Choosing columns", "feature_selection"),
    ("Keys", "key"), ("Keys of shards", "keys"), ("Votes of shards", "shard_votes"), ("Ranks of MPI", "mpi"), ("Errors", "error"), ("Finding choices by name", "parse"), ("Names", "names"),
    ("Unfinished files", "unfinished"),
    ("Plans", "unstable/plan"), ("Single stages", "unstable/stages"), ("What kernels are built around", "unstable/kernel_profile"),
    ("Measured choices", "unstable/tuning"),
]
OTHERS = {"kith", "spi", "export", "cxx20", "version"}  # no API of their own, or that of back ends
INTRODUCTION = """# C++ API

Everything is in namespace `kith`; `#include <kith/kith.hpp>` includes all headers but `cuda.hpp`, `opencl.hpp`, `mpi.hpp`, `unstable/stages.hpp` and
`unstable/tuning.hpp`. Headers in `unstable/` may change in any release; all other headers stay as they are. The [glossary](../glossary.md) explains
the sizes: `[m, k]` is a row-major matrix of `m` rows of `k` elements. Every failure throws `kith::Error`.
[`examples/`](../../examples/search.cpp) has programs to begin with.
"""


def head_of(path):
    """The comment at the top of a header, as text."""
    lines = []
    with open(path, encoding="utf-8") as header:
        for line in header:
            if not line.startswith("//"):
                break
            lines.append(line[2:].strip())
    return "\n".join(lines)


def entities_of(folder):
    """By header: (line, directive, name) of each class, enumeration, function, alias and constant."""
    index = ElementTree.parse(os.path.join(folder, "index.xml")).getroot()
    found = {}

    def add(definition, directive, name):
        place = definition.find("location")
        header = os.path.basename(place.get("file"))
        found.setdefault(header, []).append((int(place.get("line")), directive, name))

    for compound in index:
        kind, name = compound.get("kind"), compound.find("name").text
        if kind not in ("class", "struct", "namespace") or name.startswith(("kith::spi", "std")):
            continue
        definition = ElementTree.parse(os.path.join(folder, compound.get("refid") + ".xml")).getroot()[0]
        if kind != "namespace":
            if name.rsplit("::", 1)[0] in ("kith", "kith::stages", "kith::cuda", "kith::opencl", "kith::mpi"):  # nested ones come with their class
                add(definition, f"doxygen{kind}", name)
            continue
        for member in definition.iter("memberdef"):
            what, own = member.get("kind"), name + "::" + member.find("name").text
            if what == "function":
                types = ["".join(p.find("type").itertext()) for p in member.findall("param")]
                add(member, "doxygenfunction", f"{own}({', '.join(types)})")
            elif what in ("enum", "typedef", "variable"):
                add(member, "doxygen" + what, own)
    return found


def write(folders, xml, page):
    """The headers of some folders."""
    files = {("unstable/" if os.path.basename(folder) == "unstable" else "") + name[:-4]: os.path.join(folder, name)
             for folder in folders for name in os.listdir(folder) if name.endswith(".hpp")}
    named = {stem for _, stem in HEADERS}
    if set(files) - OTHERS != named:
        raise RuntimeError(f"docs/api_reference.py: headers and its list differ: {sorted((set(files) - OTHERS) ^ named)}")
    entities = entities_of(xml)
    text = INTRODUCTION
    for title, stem in HEADERS:
        text += f"\n## {title}\n\n`#include <kith/{stem}.hpp>`: {head_of(files[stem])}\n"
        for _, directive, name in sorted(set(entities.get(os.path.basename(stem) + ".hpp", []))):
            members = ":members:\n:undoc-members:\n" if directive in ("doxygenclass", "doxygenstruct") else ""
            text += f"\n```{{{directive}}} {name}\n{members}```\n"
    if os.path.exists(page) and open(page, encoding="utf-8").read() == text:
        return  # a page that is newer is read again, which takes half a minute
    with open(page, "w", encoding="utf-8") as out:
        out.write(text)
