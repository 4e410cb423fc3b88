"""What upstream says of each struct and field, read from the docstrings of the generated models."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

WRAPPED_AT: Final = 78
"""The length to which the models wrap a paragraph."""


def described(text: str) -> tuple[str, dict[str, str]]:
    """Return (what the struct is, what each field is) from a model's docstring."""
    head, _, tail = text.partition("**parameters**")
    fields: dict[str, str] = {}
    for match in re.finditer(r"\* \*\*(\S+)\*\* ``[^`]*`` - (.*?)(?=\n\s*\* \*\*|\Z)", tail, re.DOTALL):
        fields[match[1]] = _unwrapped(match[2])
    return _unwrapped(head), fields


def _unwrapped(text: str) -> str:
    """Return a description as upstream has it: the models wrap its paragraphs, and drop spaces where they do."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    # Whoever wrote it puts one or two spaces between sentences; those at an end of a line are gone.
    between = "  " if re.search(r"[.)]  [A-Z]", text) and not re.search(r"[.)] [A-Z]", text) else " "
    parts = lines[:1]
    for line, after in pairwise(lines):
        space = between if line.endswith(".") and after[0].isupper() else " "
        if len(line) + len(space) + len(after.split(" ", 1)[0]) <= WRAPPED_AT:
            parts.append("\n\n")
        else:
            parts.append(space)
        parts.append(after)
    return "".join(parts)
