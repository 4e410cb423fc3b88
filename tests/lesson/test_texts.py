"""The texts of the installed lessons: short, and in both languages the same facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from clustersim.classroom.lessons import all_packages
from controllers.lesson.prose import Block, Prose, read_prose
from scheduler_core.api.errors import Cause

SCENE_WORDS_MAX = 130
"""Words of one part of a step in English: what a class reads while it is waiting to be asked."""

SO_WORDS_MAX = 25
"""Words of the line that people write down."""

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_HALF_WIDTH = re.compile(r"[\u4e00-\u9fff] ?[,;:!?](?!\w)|[\u4e00-\u9fff]\.(?!\w)|[\u4e00-\u9fff]\(|\([\u4e00-\u9fff]")


@cache
def prose(path: Path, language: str) -> Prose:
    causes: list[Cause] = []
    found = read_prose((path / f"{language}.md").read_text(encoding="utf-8"), f"{language}.md", causes)
    assert causes == []
    return found


def parts(path: Path, language: str) -> Iterator[tuple[str, tuple[Block, ...]]]:
    for step, sections in prose(path, language).items():
        for section, blocks in sections.items():
            yield f"{step} {section}", blocks


def stated(blocks: tuple[Block, ...], kind: str) -> list[str]:
    return sorted(
        f"{part.text} = {part.expression}" if kind == "number" else part.text
        for block in blocks
        for part in block.parts
        if part.kind == kind
    )


def words(blocks: tuple[Block, ...]) -> int:
    return sum(len(part.text.split()) for block in blocks for part in block.parts)


lessons = pytest.mark.parametrize("path", all_packages(), ids=lambda path: path.name)


@lessons
def test_both_languages_have_the_same_parts(path: Path) -> None:
    assert [name for name, _ in parts(path, "en")] == [name for name, _ in parts(path, "zh")]


@lessons
def test_both_languages_state_the_same_numbers(path: Path) -> None:
    chinese = dict(parts(path, "zh"))
    for name, blocks in parts(path, "en"):
        assert stated(blocks, "number") == stated(chinese[name], "number"), name


@lessons
def test_code_is_code_in_both_languages(path: Path) -> None:
    """But for the words of a formula, which are translated."""
    chinese = dict(parts(path, "zh"))
    for name, blocks in parts(path, "en"):
        here, there = stated(blocks, "code"), stated(chinese[name], "code")
        assert len(here) == len(there), name
        assert {one for one in there if not _CHINESE.search(one)} <= set(here), name


@lessons
def test_texts_are_short(path: Path) -> None:
    for name, blocks in parts(path, "en"):
        assert words(blocks) <= (SO_WORDS_MAX if name.endswith(" so") else SCENE_WORDS_MAX), name


@lessons
def test_chinese_has_chinese_punctuation(path: Path) -> None:
    for name, blocks in parts(path, "zh"):
        for block in blocks:
            text = "".join(part.text for part in block.parts if part.kind != "code")
            assert not (found := _HALF_WIDTH.search(text)), (
                f"{name}: {text[max(0, found.start() - 8) : found.end() + 8]}"
            )
