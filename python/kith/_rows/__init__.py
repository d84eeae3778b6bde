"""Rows, answers and limits from whatever array or frame the caller has."""
