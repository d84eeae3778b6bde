"""Defines the style of charts that Python draws."""

PAPER = """
svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
.paper { fill: #ffffff; stroke: #e3e1da; }
text { fill: #1c1f24; font-size: 13px; }
.quiet { fill: #646a75; font-size: 12px; }
"""
