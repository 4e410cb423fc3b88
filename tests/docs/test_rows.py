"""docs/rows.md: every row that asks for something on the page is there, and its words are the page's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustersim.classroom.templates import TEMPLATES
from controllers.flags.table import TABLE
from scheduler_core.eras import ERAS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rows.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip(): f"{cells[1]} {cells[2]}"
    for cells in (line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| "))
}
ASKED = (
    "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.9 0.10 0.11 0.13 0.15 0.23 0.25 0.26 1.3 1.4 1.5 1.6 1.8 1.10 2.3 3.1 3.2 3.3 "
    "4.1 4.3 4.4 4.5"
)
"""Rows of the documents that are the page's, and those of scheduler and control plane that ask to be seen."""


FLAGS = {f"--{flag.name}" for flag in TABLE}


def words() -> set[str]:
    """Return what the page says in English, whole messages."""
    texts = (ROOT / "static" / "js" / "lib" / "text").glob("*.en.js")
    found = (re.findall(r'(?m)^\s+[\w."-]+: "((?:[^"\\]|\\.)*)"', one.read_text(encoding="utf-8")) for one in texts)
    return {message for listed in found for message in listed}


def test_every_row_that_is_the_page_s_has_a_way() -> None:
    assert list(ROWS)[1:] == ASKED.split()


@pytest.mark.parametrize("row", ASKED.split())
def test_a_way_is_told_in_the_page_s_words(row: str) -> None:
    told = re.findall(r"\*\*([^*]+)\*\*", ROWS[row])
    assert told or row == "1.10"
    assert not set(told) - words()
    for name in re.findall(r"`([^`]+)`", ROWS[row]):
        assert name in TEMPLATES or name in ERAS or name in FLAGS, name
