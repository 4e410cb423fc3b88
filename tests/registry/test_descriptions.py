"""Descriptions read back from docstrings that wrap them."""

from __future__ import annotations

import textwrap

from controllers.registry.descriptions import WRAPPED_AT, described
from controllers.registry.schema import model

PARAGRAPHS = (
    "A sentence that is long enough to be wrapped by whoever printed it, which is where spaces get lost. Here one "
    "space parts the sentences of whoever wrote it. They go on for some lines, and end wherever they do.",
    "A paragraph of its own.",
)
SPACED = (
    "Two spaces part these sentences, wherever they are.  One of them ends near the end of a line, as it so happens.  "
    "Nobody sees there that there were two.  The others tell."
)


def _wrapped(*paragraphs: str) -> str:
    lines = [line for paragraph in paragraphs for line in textwrap.wrap(paragraph, WRAPPED_AT)]
    return "\n        ".join(lines)


def test_wrapped_lines_are_joined_and_paragraphs_are_not() -> None:
    head, fields = described(
        f"""{_wrapped("Head of the struct, which says at some length what the whole of it is good for in the end.")}

      **parameters**

      * **first** ``str`` - {_wrapped(*PARAGRAPHS)}
      * **spaced** ``Optional[int]`` - {_wrapped(SPACED)}
      * **last** ``Optional[int]`` - Short.
"""
    )
    assert head == "Head of the struct, which says at some length what the whole of it is good for in the end."
    assert fields == {"first": "\n\n".join(PARAGRAPHS), "spaced": SPACED, "last": "Short."}


def test_the_models_are_told_as_upstream_tells_them() -> None:
    told = model("meta_v1.ObjectMeta").descriptions["creationTimestamp"]
    assert "RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: " in told
