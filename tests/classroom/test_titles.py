"""What a session is called in each language: by its lesson, a copy with its moment, else as somebody called it."""

from __future__ import annotations

import pytest

from clustersim.classroom.titles import titles_of


@pytest.mark.parametrize(
    ("title", "titles"),
    [
        ("Preemption", {"en": "Preemption", "zh": "抢占"}),
        ("抢占", {"en": "Preemption", "zh": "抢占"}),
        ("Preemption @ 412", {"en": "Preemption @ 412", "zh": "抢占 @ 412"}),
        ("Preemption, group 2", {}),
        ("Friday @ 7", {}),
    ],
)
def test_a_title_is_a_lessons_or_somebodys(title: str, titles: dict[str, str]) -> None:
    assert titles_of(title) == titles
