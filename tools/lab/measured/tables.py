"""Makes tables, pictures and figures of the pages from result files, each by the name that a mark gives it."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))
from results import Missing  # noqa: E402
from simulate import Plan, opening_seconds, simulate  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
KITH = {"cuda": "kith, CUDA", "opencl": "kith, OpenCL"}
PEERS = {"fp32": "PyTorch, float32", "tf32": "PyTorch, TF32", "fp16": "PyTorch, float16", "faiss": "FAISS"}
UNITS = {"s": 1e-3, "ms": 1, "us": 1e3}  # of a millisecond


def workload_names():
    """Returns the names in the order of kith-lab bench --list."""
    source = (ROOT / "tools/workloads/workloads.cpp").read_text(encoding="utf-8")
    return re.findall(r'^ +\{"(\w+)", (?:Timed::)?\w+, ', source, re.MULTILINE)


def is_stage(workload):
    return workload.startswith(("distance", "select"))


def number(value, digits=3):
    """Returns three digits, or all digits before the point if there are more."""
    if value and abs(value) >= 10**digits:
        return f"{value:,.0f}"
    text = f"{value:#.{digits}g}".rstrip(".")
    return f"{float(text):.{digits}f}".rstrip("0").rstrip(".") if "e" in text else text


def table(head, rows, right):
    """Returns a Markdown table, whose last `right` columns hold numbers."""
    rule = ["---"] * (len(head) - right) + ["--:"] * right
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows]).replace("| --- ", "|---").replace(
        "|---|", "|---|").replace("| --: ", "|--:")


def shape(entry, k=True):
    return [f"`{entry['workload']}`", f"{entry['n']:,}", f"{entry['dims']:,}", f"{entry['m']:,}",
            *([f"{entry['k']:,}"] if k else [])]


def milliseconds(figures):
    return number(figures["ms"]) if "ms" in figures else "–"


def rows_of(results, device, ways, stages=False):
    """Yields (entry, {way: (file, figures)}) of each workload that has a time or a reason by one of the ways."""
    entries = results.workloads(device)
    for name in workload_names():
        found = {way: results.newest(device, name, way) for way in ways} if name in entries else {}
        if is_stage(name) == stages and any(file for file, _ in found.values()):
            yield entries[name], found


def date_of(found, ways):
    return max((file["date"] for file, _ in (found[way] for way in ways) if file), default="–")


def searches(results, device):
    """Returns the table of times of kith and of its peers."""
    rows = []
    for entry, found in rows_of(results, device, [*KITH, *PEERS]):
        least = min((one["ms"] for _, one in found.values() if "ms" in one), default=None)
        cells = [f"**{milliseconds(one)}**" if one.get("ms") == least else milliseconds(one)
                 for _, one in found.values()]
        rows.append([f"`{entry['workload']}`", *cells])
    return table(["workload", *KITH.values(), *PEERS.values()], rows, len(KITH) + len(PEERS))


def shapes(results, device):
    """Returns the sizes of the searches in the table of times, and when kith was measured."""
    rows = [[*shape(entry), entry["element"], date_of(found, KITH)]
            for entry, found in rows_of(results, device, [*KITH, *PEERS])]
    return table(["workload", "n", "dims", "m", "k", "element", "kith measured"], rows, 6)


def versions(results, device):
    """Returns the versions of the peers, and when they were measured."""
    known = {}
    for _, found in rows_of(results, device, list(PEERS)):
        for way, (file, one) in found.items():
            if "ms" in one:
                name = PEERS[way].split(",")[0]
                version = file["peers"]["faiss" if way == "faiss" else "torch"]
                known.setdefault(f"{name} {version.split('+')[0]}", set()).add(file["date"])
    return " and ".join(f"{name} on {', '.join(sorted(dates))}" for name, dates in known.items())


def wrong(results, device):
    """Returns the table of queries that peers got wrong."""
    rows = []
    for entry, found in rows_of(results, device, list(PEERS)):
        if any("wrong_queries" in one for _, one in found.values()):
            cells = [f"{one['wrong_queries']:,}" if "wrong_queries" in one else "–" for _, one in found.values()]
            rows.append([f"`{entry['workload']}`", f"{entry['m']:,}", *cells])
    return table(["workload", "m", *PEERS.values()], rows, len(PEERS) + 1)


def none(results, device):
    """Returns the reasons why a peer's or kith's time is missing."""
    reasons = {}
    for entry, found in rows_of(results, device, [*KITH, *PEERS]):
        for way, (_, one) in found.items():
            why = one.get("none") or one.get("refused")
            if why:
                by = KITH.get(way, PEERS.get(way)).split(",")[0] if way in PEERS else KITH[way]
                reasons.setdefault((entry["workload"], why.rstrip(".")), []).append(by)
    lines = [f"* `{workload}` by {', '.join(dict.fromkeys(by))}: {why}." for (workload, why), by in reasons.items()]
    return "\n".join(lines) or "No file has a reason."


def whole(results, device):
    """Returns the table of times of whole calls, and how much samples differ."""
    rows = []
    for entry, found in rows_of(results, device, list(KITH)):
        cells = []
        for _, one in found.values():
            spread = f"{number(one['least'])}–{number(one['most'])}" if "least" in one else "–"
            cells += [spread, number(one["to_answer"]) if "to_answer" in one else "–"]
        if any(cell != "–" for cell in cells):
            rows.append([f"`{entry['workload']}`", *cells])
    return table(["workload", "CUDA, least–most", "CUDA, to answer", "OpenCL, least–most", "OpenCL, to answer"], rows, 4)


def stages(results, device):
    rows = [[*shape(entry), *(milliseconds(one) for _, one in found.values()), date_of(found, KITH)]
            for entry, found in rows_of(results, device, list(KITH), stages=True)]
    return table(["step", "n", "dims", "m", "k", *KITH.values(), "measured"], rows, len(KITH) + 5)


def cards(results, one, several):
    """Returns a table of a set of cards beside one card, as that was when the set was measured."""
    rows = []
    for entry, found in rows_of(results, several, list(KITH)):
        cells = []
        for way in KITH:
            file, together = found[way]
            alone = results.newest(one, entry["workload"], way, until=file["date"])[1] if file else {}
            cells += [milliseconds(alone), milliseconds(together)]
        rows.append([f"`{entry['workload']}`", *cells, date_of(found, KITH)])
    count = several.split("-")[0]
    return table(["workload", "one, CUDA", f"{count}, CUDA", "one, OpenCL", f"{count}, OpenCL", "measured"], rows, 5)


def charted(results, device):
    """Returns (entry, {way: (ms, wrong queries)}) of the searches with kith by CUDA and PyTorch."""
    rows = []
    for entry, found in rows_of(results, device, [*KITH, *PEERS]):
        ways = {way: (one["ms"], one.get("wrong_queries", 0)) for way, (_, one) in found.items()
                if "ms" in one and (way in KITH or "wrong_queries" in one)}
        if "cuda" in ways and "fp32" in ways:
            rows.append((entry, ways))
    return rows


def picture(results, device, path):
    """Returns the chart of the searches, described in words."""
    rows = charted(results, device)
    times = [ways["fp32"][0] / ways["cuda"][0] for _, ways in rows]
    return (f"![kith's CUDA and OpenCL beside PyTorch and FAISS on an NVIDIA H200, {len(rows)} searches: kith by CUDA "
            f"is {number(min(times), 2)} to {number(max(times), 2)} times as fast as PyTorch in single precision, and "
            f"exact everywhere]({path})")


def measured(results, device, workload, way, name, unit="ms", digits="3"):
    """Returns one figure of a workload."""
    return f"{number(results.value(device, workload, way, name) * UNITS[unit], int(digits))} {unit}"


def gigabytes(results, device, workload, way):
    return f"{results.value(device, workload, way, 'index_bytes') / 1e9:.1f} GB"


def pairs(results, device, workload, way):
    entry = results.workloads(device)[workload]
    rate = entry["n"] * entry["m"] / results.value(device, workload, way, "ms") * 1e3
    power = len(f"{rate:.0f}") - 1
    return f"{rate / 10**power:.1f} 10^{power} a second"


def date(results, device, workload, way):
    return results.newest(device, workload, way)[0]["date"]


def times(results, device, slow, fast, names):
    """Returns how many times as fast one way is as another: the least and the most of some workloads."""
    ratios = [results.value(device, name, slow, "ms") / results.value(device, name, fast, "ms")
              for name in names.split(",")]
    return f"{number(min(ratios), 2)} to {number(max(ratios), 2)} times"


def figure(results, name, digits=""):
    found = results.figure(name)
    value = number(found["value"], int(digits)) if digits else f"{found['value']:,.10g}"
    return f"{value} {found['unit']}".rstrip()


# ---- Parts of a search by Dask, and what they make together ------------------------------------------


def part(results, name, unit, spread="spread"):
    """Returns the median of the samples, with the least and the most."""
    values = sorted(results.holder("parts")["parts"][name])
    middle = values[len(values) // 2]
    if unit == "%":
        return f"up to {100 * values[-1] - 100:.0f} %, median {100 * middle - 100:.0f} %"
    scale = 1e3 * UNITS[unit]
    low, high = (number(scale * value, 3 if middle < 2e-3 else 2) for value in (values[0], values[-1]))
    text = f"{number(scale * middle, 3 if middle < 2e-3 else 2)} {unit}"
    return f"{text} ({low}–{high})" if spread == "spread" else text


def simulated(results, options="", what="seconds", digits="3"):
    """Returns a figure of a simulation by `machines=200,tile=50000`; what: seconds, ideal, scheduler, open, tasks,
    moved (bytes)."""
    given = dict(option.split("=") for option in options.split(",") if option != "-")
    plan = Plan(**{name: float(value) if "." in value or "e" in value else int(value) for name, value in given.items()})
    parts = results.parts()
    if what == "open":
        return f"{number(opening_seconds(plan, parts), int(digits))} s"
    seconds, counted = simulate(plan, parts)
    if what == "tasks":
        return f"{counted['tasks']:,}"
    if what == "moved":
        return f"{counted['moved'] / 1e9:.2g} GB"
    return f"{number(counted.get(what, seconds), int(digits))} s"


def limit(results, which, what):
    """Returns the memory or seconds of a streamed search at a limit in MiB, or of `resident`."""
    wanted = None if which == "resident" else int(which)
    point = next((one for one in results.holder("points")["points"] if one["limit"] == wanted), None)
    if point is None:
        raise Missing(f"no file has a stream with a limit of {which}")
    return f"{point['memory']:.0f} MiB" if what == "memory" else f"{number(point['seconds'])} s"


# ---- Many clouds of points ---------------------------------------------------------------------------


def clouds(results):
    """Returns a table of the milliseconds of whole calls."""
    rows = []
    for point in results.holder("clouds")["clouds"]:
        cells = [number(point[name]) if point[name] is not None else "–" for name in ("groups", "alone", "torch")]
        rows.append([f"{point['clouds']:,}", f"**{cells[0]}**", *cells[1:]])
    return table(["clouds", "kith, all as groups", "kith, an index each", "PyTorch"], rows, 4)


def clouds_times(results, count, name, other):
    """Returns how many times as fast `name` is as `other` with so many clouds."""
    point = next((one for one in results.holder("clouds")["clouds"] if one["clouds"] == int(count)), None)
    if point is None or point[name] is None or point[other] is None:
        raise Missing(f"no file has {count} clouds by {name} and {other}")
    return f"{number(point[other] / point[name], 2)} times"


MARKS = {one.__name__: one for one in (searches, shapes, wrong, none, whole, stages, cards, picture, versions, measured, gigabytes,
                                       pairs, date, times, figure, part, simulated, limit, clouds,
                                       clouds_times)}
