"""Draws the chart of kith beside its peers.

A row for each search that kith and PyTorch both did, milliseconds on a logarithmic axis. kith's marks are filled: its
answers are exact. A mark of a peer is hollow if some of its answers were wrong, and the number of these queries
is beside the row. The picture has its own background and follows the reader's theme.
"""
import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart_style import PAPER  # noqa: E402

WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM, MARGIN = 960, 236, 250, 104, 34, 74, 20
WRONG_COLUMNS = (WIDTH - 194, WIDTH - 136, WIDTH - 78, WIDTH - MARGIN)  # right ends
KITH = (("cuda", "kith, CUDA", "circle"), ("opencl", "kith, OpenCL", "diamond"))
PEERS = (("fp32", "PyTorch fp32", "square"), ("tf32", "TF32", "up"), ("fp16", "fp16", "down"),
         ("faiss", "FAISS", "hexagon"))
STYLE = PAPER + """\
.title { font-size: 17px; font-weight: 600; }
.name { font-weight: 600; }
.grid { stroke: #e3e1da; }
.span { stroke: #c4c1b8; stroke-width: 2; }
.hollow { fill: #ffffff; }
.cuda, .opencl, .fp32, .tf32, .fp16, .faiss { stroke-width: 2; }
.cuda { stroke: #0b7285; } .cuda.full { fill: #0b7285; }
.opencl { stroke: #1864ab; } .opencl.full { fill: #1864ab; }
.fp32 { stroke: #646a75; } .fp32.full { fill: #646a75; }
.tf32 { stroke: #d9480f; } .tf32.full { fill: #d9480f; }
.fp16 { stroke: #a61e4d; } .fp16.full { fill: #a61e4d; }
.faiss { stroke: #2b8a3e; } .faiss.full { fill: #2b8a3e; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #1b1e23; stroke: #2d3138; }
  text { fill: #e9eaec; } .quiet { fill: #9aa0ab; }
  .grid { stroke: #2d3138; } .span { stroke: #4a505a; } .hollow { fill: #1b1e23; }
  .cuda { stroke: #3bc9db; } .cuda.full { fill: #3bc9db; }
  .opencl { stroke: #74c0fc; } .opencl.full { fill: #74c0fc; }
  .fp32 { stroke: #9aa0ab; } .fp32.full { fill: #9aa0ab; }
  .tf32 { stroke: #ff922b; } .tf32.full { fill: #ff922b; }
  .fp16 { stroke: #faa2c1; } .fp16.full { fill: #faa2c1; }
  .faiss { stroke: #69db7c; } .faiss.full { fill: #69db7c; }
}
"""


def text(x, y, content, kind="", anchor="start"):
    look = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{look}>{escape(content)}</text>\n'


def mark(shape, x, y, way, exact, title=""):
    look = f'class="{way} {"full" if exact else "hollow"}"'
    hint = f"<title>{escape(title)}</title>" if title else ""
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {look}>{hint}</circle>\n'
    corners = {"diamond": ((0, -6.5), (6.5, 0), (0, 6.5), (-6.5, 0)),
               "square": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
               "up": ((0, -6), (6, 5), (-6, 5)), "down": ((0, 6), (6, -5), (-6, -5)),
               "hexagon": ((-3, -5.2), (3, -5.2), (6, 0), (3, 5.2), (-3, 5.2), (-6, 0))}[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" {look}>{hint}</polygon>\n'


def milliseconds(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


class Axis:
    def __init__(self, values):
        self.low = 10 ** math.floor(math.log10(min(values)))
        self.high = 10 ** math.ceil(math.log10(max(values)) + 1e-9)

    def __call__(self, value):
        share = math.log10(value / self.low) / math.log10(self.high / self.low)
        return LEFT + 12 + share * (WIDTH - LEFT - RIGHT - 24)

    def ticks(self):
        return [10.0**power for power in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]


def legend(x, y):
    drawn = ""
    for way, label, shape in KITH + PEERS:
        drawn += mark(shape, x, y - 4, way, True) + text(x + 12, y, label)
        x += 32 + 7.4 * len(label)
    drawn += mark("circle", x + 10, y - 4, "fp32", False) + text(x + 22, y, "hollow: some answers are wrong", "quiet")
    return drawn


def row_picture(entry, ways, axis, y):
    places = [axis(ms) for ms, _ in ways.values()]
    size = f"{entry['n']:,} × {entry['dims']}, m {entry['m']:,}, k {entry['k']:,}"
    drawn = text(MARGIN, y - 2, entry["workload"], "name") + text(MARGIN, y + 11, size, "quiet")
    drawn += f'<line x1="{min(places):.1f}" y1="{y}" x2="{max(places):.1f}" y2="{y}" class="span"/>\n'
    for way, label, shape in reversed(KITH + PEERS):
        if way not in ways:
            continue
        ms, wrong = ways[way]
        name = label if way in ("cuda", "opencl", "faiss") else f"PyTorch {way}"
        hint = f"{name}: {milliseconds(ms)} ms, {wrong:,} of {entry['m']:,} queries wrong"
        drawn += mark(shape, axis(ms), y, way, wrong == 0, hint)
    for (way, _, _), x in zip(PEERS, WRONG_COLUMNS):
        drawn += text(x, y + 4, f"{ways[way][1]:,}" if way in ways else "–", "", "end")
    return drawn


def chart_of(rows, device):
    title = f"{device}: kith, always exact, beside PyTorch and FAISS"
    axis = Axis([ms for _, ways in rows for ms, _ in ways.values()])
    end = TOP + ROW * len(rows)
    height = end + BOTTOM - 24
    drawn = f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n'
    drawn += text(MARGIN, 32, title, "title") + legend(MARGIN + 6, 58)
    for tick in axis.ticks():
        drawn += f'<line x1="{axis(tick):.1f}" y1="{TOP - 8}" x2="{axis(tick):.1f}" y2="{end}" class="grid"/>\n'
        drawn += text(axis(tick), end + 16, f"{tick:g}", "quiet", "middle")
    drawn += text((LEFT + WIDTH - RIGHT) / 2, end + 32, "milliseconds (logarithmic)", "quiet", "middle")
    drawn += text(WIDTH - MARGIN, TOP - 32, "queries that were wrong", "quiet", "end")
    for (_, label, _), x in zip(PEERS, WRONG_COLUMNS):
        drawn += text(x, TOP - 14, label.replace("PyTorch ", ""), "quiet", "end")
    for i, (entry, ways) in enumerate(rows):
        drawn += row_picture(entry, ways, axis, TOP + ROW * i + ROW // 2)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img">\n'
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n{drawn}</svg>\n")
