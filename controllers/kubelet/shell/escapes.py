"""What backslashes stand for in `echo -e`, `printf`, `$'…'` and `tr`."""

from __future__ import annotations

import re
from typing import Final

_LETTERS: Final = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "\\": "\\", "f": "\f", "v": "\v", "e": "\033", "'": "'",
    '"': '"',
}  # fmt: skip
_ESCAPE: Final = re.compile(r"\\(?:(0?[0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|(.))", re.DOTALL)


def unescaped(text: str) -> str:
    """Return a text with what its escapes stand for."""
    return _ESCAPE.sub(_meant, text)


def _meant(found: re.Match[str]) -> str:
    octal, hexadecimal, code, letter = found.groups()
    if octal:
        return chr(int(octal, 8) & 255)
    if hexadecimal or code:
        number = int(hexadecimal or code, 16)
        return "�" if 0xD800 <= number < 0xE000 else chr(number)
    return _LETTERS.get(letter, found[0])
