"""What can be read of how a container is started."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SHELLS: Final = frozenset({"sh", "bash", "ash"})


def script_of(words: Sequence[str]) -> str:
    """Return the script of `sh -c …`; empty where a command is none."""
    is_script = len(words) > 2 and words[0].rpartition("/")[2] in SHELLS and words[1].endswith("c")
    return " ".join(words[2:]) if is_script else ""
