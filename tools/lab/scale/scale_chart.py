"""Draws the chart of docs/howto/scale.md from simulations: time over machines, and time over deaths."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart_style import PAPER  # noqa: E402
from simulate import Plan, simulate  # noqa: E402

MACHINES = (100, 150, 200, 300, 400)  # fewer do not hold the rows
TILES = ((10_000, "first"), (50_000, "second"))
DEATHS = (0, 1, 2, 4, 8)
SHARDS = ((1, "first"), (4, "second"))
TOP, BOTTOM, WIDTH = 96, 300, 340

STYLE = PAPER + """\
.title { font-size: 17px; font-weight: 600; }
.grid { stroke: #e3e1da; }
.first, .second, .ideal { stroke-width: 2; fill: none; }
.first { stroke: #0b7285; } .second { stroke: #d9480f; } .ideal { stroke: #646a75; stroke-dasharray: 4 4; }
.first.dot { fill: #0b7285; } .second.dot { fill: #d9480f; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #1b1e23; stroke: #2d3138; }
  text { fill: #e9eaec; } .quiet { fill: #9aa0ab; }
  .grid { stroke: #2d3138; }
  .first { stroke: #3bc9db; } .second { stroke: #ff922b; } .ideal { stroke: #9aa0ab; }
  .first.dot { fill: #3bc9db; } .second.dot { fill: #ff922b; }
}
"""


def lines(left, labels, highest, series, title, below):
    """Draws one panel: seconds from 0 to `highest` over labels in even steps; series are (class, name, seconds)."""
    step = WIDTH / (len(labels) - 1)
    height = lambda value: BOTTOM - (BOTTOM - TOP) * value / highest  # noqa: E731
    out = [f'<text x="{left}" y="62">{title}</text>']
    for part in range(5):
        value = highest * part / 4
        y = height(value)
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}" class="grid"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" class="quiet">{value:g}</text>')
    for place, label in enumerate(labels):
        x = left + step * place
        out.append(f'<text x="{x:.1f}" y="{BOTTOM + 18}" text-anchor="middle" class="quiet">{label}</text>')
    out.append(f'<text x="{left + WIDTH / 2}" y="{BOTTOM + 38}" text-anchor="middle" class="quiet">{below}</text>')
    for number, (kind, name, values) in enumerate(series):
        points = [(left + step * place, height(value)) for place, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" class="{kind}"/>')
        if kind != "ideal":
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" class="{kind} dot"/>' for x, y in points]
        y = BOTTOM + 62 + 20 * number
        out.append(f'<line x1="{left}" y1="{y - 4}" x2="{left + 24}" y2="{y - 4}" class="{kind}"/>')
        out.append(f'<text x="{left + 32}" y="{y}">{name}</text>')
    return out


def highest_of(series):
    """Returns a multiple of four that is above all values."""
    return 4 * (int(max(max(values) for _, _, values in series) / 4) + 1)


def chart_of(measured):
    over, ideal = [], []
    for tile, kind in TILES:
        results = [simulate(Plan(machines=machines, tile=tile), measured) for machines in MACHINES]
        ideal = [counted["ideal"] for _, counted in results]
        over.append((kind, f"tiles of {tile:,} queries", [seconds for seconds, _ in results]))
    over.append(("ideal", "cards alone", ideal))
    deaths = [
        (
            kind,
            "a shard a card" if shards == 1 else f"{shards} shards a card",
            [simulate(Plan(tile=50_000, shards_per_card=shards, deaths=count), measured)[0] for count in DEATHS],
        )
        for shards, kind in SHARDS
    ]
    title = "10^11 rows of 128 bytes, 10^5 queries, k = 10: a simulation by measured parts"
    body = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 420" width="880" height="420" role="img">',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style>",
        '<rect class="paper" x="0.5" y="0.5" width="879" height="419" rx="8"/>',
        f'<text x="20" y="32" class="title">{title}</text>',
        *lines(60, MACHINES, highest_of(over), over, "Seconds of the search", "machines with 8 cards"),
        *lines(490, DEATHS, highest_of(deaths), deaths, "Seconds, 100 machines", "workers that die meanwhile"),
        "</svg>",
    ]
    return "\n".join(body) + "\n"
