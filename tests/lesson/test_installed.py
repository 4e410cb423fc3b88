"""The lessons of this installation, played: everything that they state holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustersim.classroom.lessons import all_packages, load, templates
from clustersim.plugins import installed
from controllers.lesson import check


@pytest.mark.parametrize("path", all_packages(), ids=lambda path: path.name)
def test_what_a_lesson_states_holds(path: Path) -> None:
    plugins = installed().registry
    assert [found.document() for found in check(load(path, templates(), plugins=plugins), plugins=plugins)] == []


def test_the_numbers_of_lessons_are_their_places() -> None:
    """Cards stand in this order."""
    numbers = [load(path, templates()).package.number for path in all_packages()]
    assert len(set(numbers)) == len(numbers)
