"""Tests the script of tools/lab/billion with few rows, and NumPy in place of a card."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(os.environ.get("KITH_SOURCE", Path(__file__).resolve().parents[2])) / "tools/lab/billion/made_there.py"
if not SCRIPT.exists():
    pytest.skip("tools/lab/billion is not here", allow_module_level=True)


def run(*options):
    command = [sys.executable, "-B", str(SCRIPT), "--device", "cpu", "--rows", "5000", "--queries", "40", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("chunk", ["700", "5000", "4999"])
def test_rows_made_twice_have_the_same_answers(chunk):
    done = run("-k", "7", "--checked", "20", "--chunk", chunk)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^20 answers by the CPU in .* s: the same$", done.stdout, re.MULTILINE)
    assert re.search(r"^memory of the index: \d+ bytes, 13[2-9]\.\d\d a row$", done.stdout, re.MULTILINE)


def test_an_index_without_a_chunk_is_noticed(tmp_path):
    text = SCRIPT.read_text(encoding="utf-8")
    planted = text.replace("index = index.with_(rows)", "index = index.with_(rows[::-1])")
    assert planted != text
    wrong = tmp_path / "made_there.py"
    wrong.write_text(planted, encoding="utf-8")
    command = [sys.executable, "-B", str(wrong), "--device", "cpu", "--rows", "900", "--queries", "5", "-k", "3",
               "--checked", "5", "--chunk", "300"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "DIFFERENT" in done.stdout
