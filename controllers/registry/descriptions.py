"""What upstream says of each struct and field, read from the docstrings of the generated models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

WRAPPED_AT: Final = 78
"""The length to which the models wrap a paragraph."""

_DEEP: Final = "\n" + 32 * " "

_BREAKS: Final = {
    "podInfoOnMount": {"defined by a CSIVolumeSource": _DEEP, '"false"': " ", "This field was": "\n\n"},
    "expirationSeconds": {
        "1. Old signer": "\n\n  ",
        "implementations prior": "\n     ",
        "2. Signer": "\n  ",
        "3. Signer": "\n  ",
        "The minimum valid": "\n\n",
    },
    "storageCapacity": {"The check can": "\n\n", "Alternatively,": "\n\n", "This field was": "\n\n"},
    "tokenRequests": {
        '"<audience>"': "\n  ",
        '"token"': "\n    ",
        '"expirationTimestamp"': "\n    ",
        "},": "\n  ",
        "...": "\n  ",
        "}\n\nNote": "\n",
    },
}
"""Field → how parts of what is said of it begin → what stands before them, where the wrapped lines do not show it."""


def described(text: str) -> tuple[str, dict[str, str]]:
    """Return (what the struct is, what each field is) from a model's docstring."""
    head, _, tail = text.partition("**parameters**")
    fields: dict[str, str] = {}
    for match in re.finditer(r"\* \*\*(\S+)\*\* ``[^`]*`` - (.*?)(?=\n\s*\* \*\*|\Z)", tail, re.DOTALL):
        fields[match[1]] = _broken(_unwrapped(match[2]), _BREAKS.get(match[1], {}))
    return _unwrapped(head), fields


def _broken(text: str, breaks: Mapping[str, str]) -> str:
    for opening, before in breaks.items():
        text = re.sub(rf"\s+{re.escape(opening)}", lambda _, told=before + opening: told, text, count=1)  # type: ignore[misc]
    return text


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
