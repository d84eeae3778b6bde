"""Draws the chart of docs/howto/many-small-searches.md from the times that measure.py measured."""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))
from scale_chart import STYLE  # noqa: E402

LEFT, WIDTH, TOP, BOTTOM = 70, 560, 84, 330
NAMES = (("torch", "second", "PyTorch: cdist and topk"), ("alone", "ideal", "kith: an Index for each cloud"),
         ("groups", "first", "kith: all clouds in one Index"))


def axis(low, high):
    """Draws powers of ten from 10^low to 10^high ms, and returns where a time stands."""
    height = lambda value: BOTTOM - (BOTTOM - TOP) * (math.log10(value) - low) / (high - low)  # noqa: E731
    out = []
    for power in range(low, high + 1):
        y = height(10.0**power)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" class="grid"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" class="quiet">{10.0**power:g}</text>')
    return out, height


def series(measured, name, kind, label, height):
    """Draws the times of one way, and its name beside the last."""
    step = WIDTH / (len(measured["clouds"]) - 1)
    points = [(LEFT + step * place, height(point[name]))
              for place, point in enumerate(measured["clouds"]) if point[name] is not None]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    out = [f'<polyline points="{path}" class="{kind}"/>']
    if kind != "ideal":
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" class="{kind} dot"/>' for x, y in points]
    x, y = points[-1]
    return [*out, f'<text x="{x + 12:.1f}" y="{y + 4:.1f}">{label}</text>']


def chart_of(measured):
    times = [point[name] for point in measured["clouds"] for name, _, _ in NAMES if point[name] is not None]
    grid, height = axis(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))))
    step = WIDTH / (len(measured["clouds"]) - 1)
    labels = [f'<text x="{LEFT + step * place:.1f}" y="{BOTTOM + 20}" text-anchor="middle" class="quiet">{point["clouds"]:,}</text>'
              for place, point in enumerate(measured["clouds"])]
    title = f"Clouds of {measured['points_each']:,} points, k = {measured['k']}, {measured['device']}: milliseconds a call"
    body = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 380" width="900" height="380" role="img">',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style>",
        '<rect class="paper" x="0.5" y="0.5" width="899" height="379" rx="8"/>',
        f'<text x="20" y="36" class="title">{title}</text>',
        *grid,
        *labels,
        f'<text x="{LEFT + WIDTH / 2}" y="{BOTTOM + 40}" text-anchor="middle" class="quiet">clouds</text>',
        *[part for name, kind, label in NAMES for part in series(measured, name, kind, label, height)],
        "</svg>",
    ]
    return "\n".join(body) + "\n"
