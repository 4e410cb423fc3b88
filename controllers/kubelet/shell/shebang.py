"""The first line of a script's file: which shell it asks for, and with what options."""

from __future__ import annotations

from typing import Final

SHELLS: Final = ("sh", "ash", "bash", "dash")


def interpreter_of(text: str) -> str:
    """Return which shell a file asks for; nothing where it asks for another program. Without a line it is `sh`."""
    words = _words(text)
    if words is None:
        return "sh"
    name = words[0].rpartition("/")[2] if words else ""
    name = words[1] if name == "env" and len(words) > 1 else name
    return name if name in SHELLS else ""


def flags_of(text: str) -> frozenset[str]:
    """Return the options that stand after the shell's name."""
    return frozenset(letter for word in (_words(text) or ())[1:] if word.startswith("-") for letter in word[1:])


def asks_for_shell(text: str) -> bool:
    """Return whether a file is a script that says so."""
    return text.startswith("#!") and interpreter_of(text) != ""


def _words(text: str) -> list[str] | None:
    first, _, _ = text[:256].partition("\n")
    return first[2:].split() if first.startswith("#!") else None
