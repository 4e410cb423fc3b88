"""The page offers every fault that the API has, with the fields that each takes, told in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controllers.faults.table import FAULTS

STATIC = Path(__file__).resolve().parents[2] / "static" / "js" / "lib"
LINE = re.compile(r'^  \{ kind: "([\w-]+)", needs: \[([^\]]*)\], takes: \[([^\]]*)\],', re.MULTILINE)


def words(quoted: str) -> tuple[str, ...]:
    return tuple(re.findall(r'"(\w+)"', quoted))


def test_the_page_offers_the_faults_of_the_table_with_their_fields() -> None:
    page = [
        (kind, words(needs), words(takes))
        for kind, needs, takes in LINE.findall((STATIC / "faults.js").read_text(encoding="utf-8"))
    ]
    assert page == [(kind, fault.needs, fault.takes) for kind, fault in FAULTS.items()]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_each_fault_has_a_name_and_says_what_it_does(language: str) -> None:
    texts = (STATIC / "text" / f"stage.{language}.js").read_text(encoding="utf-8")
    said = set(re.findall(r'^  "fault\.(name|about)\.([\w-]+)": ".+"', texts, re.MULTILINE))
    assert said == {(part, kind) for part in ("name", "about") for kind in FAULTS}
