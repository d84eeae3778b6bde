"""Draws the chart of docs/howto/beyond-one-card.md from the points that measure.py measured."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))
from scale_chart import STYLE, lines  # noqa: E402


def panel(left, measured, key, title, step):
    """Draws seconds or memory over the limit, up to a multiple of four steps."""
    resident, *points = measured["points"]
    series = [
        ("first", "stream", [point[key] for point in points]),
        ("ideal", "resident", [resident[key]] * len(points)),
    ]
    labels = [point["limit"] for point in points]
    highest = 4 * step * (int(max(point[key] for point in measured["points"]) / (4 * step)) + 1)
    return lines(left, labels, highest, series, title, "memory-limit, MiB")


def chart_of(measured):
    title = (
        f"{measured['rows']:,} rows of {measured['columns']} bytes, {measured['queries']:,} queries, k = 10, "
        "two cores that others use, too"
    )
    body = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 400" width="880" height="400" role="img">',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style>",
        '<rect class="paper" x="0.5" y="0.5" width="879" height="399" rx="8"/>',
        f'<text x="20" y="32" class="title">{title}</text>',
        *panel(60, measured, "seconds", "Seconds of kith search", 1),
        *panel(490, measured, "memory", "Most memory of the process, MiB", 100),
        "</svg>",
    ]
    return "\n".join(body) + "\n"
