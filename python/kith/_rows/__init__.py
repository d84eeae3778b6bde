"""Converts rows, answers and limits from any array or frame of the caller."""
