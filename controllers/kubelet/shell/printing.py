"""`echo` and `printf`.

Source: POSIX.1-2024, Utilities, printf; Base Definitions, 5; the Bash Reference Manual, 4.2.
"""

from __future__ import annotations

import re
from typing import Final

from controllers.kubelet.shell.escapes import unescaped
from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.parameters import shown
from controllers.kubelet.shell.programs import wrong
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX, Running, Wrote

_PLACE: Final = re.compile(r"%([-+ 0#]*)(\d{1,3}|\*)?(?:\.(\d{1,3}|\*))?([sdiuxXocbqfFeEgG%])")
_ELEMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*)\])?", re.ASCII | re.DOTALL)
_NUMBER: Final = re.compile(r"\s*[-+]?(0[xX][0-9A-Fa-f]{1,15}|\d{1,18})", re.ASCII)
_FRACTION: Final = re.compile(r"\s*[-+]?(\d{1,18}\.?\d{0,18}|\.\d{1,18})(e[-+]?\d{1,2})?", re.ASCII | re.IGNORECASE)


def _echo(call: Call) -> Running:
    words = list(call.arguments)
    newline, escapes = True, False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        flags = words.pop(0)
        newline, escapes = newline and "n" not in flags, (escapes or "e" in flags) and "E" not in flags
    text = " ".join(words)
    if escapes and "\\c" in text:
        text, newline = text[: text.index("\\c")], False
    yield Wrote(1, (unescaped(text) if escapes else text) + ("\n" if newline else ""))
    return 0


def _printf(call: Call) -> Running:
    words = list(call.arguments)
    target = _ELEMENT.fullmatch(words[1]) if words[:1] == ["-v"] and len(words) > 2 and call.shell.bash else None
    words = words[2:] if target is not None else words
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        return (yield from wrong(call, "usage: printf FORMAT [ARG]...", 2))
    printing = _Printing(words[0], words[1:])
    text = printing.text()
    for word in printing.wrong:
        yield from wrong(call, f"{word[:80]}: invalid number")
    if target is None:
        yield Wrote(1, text)
    else:
        call.shell.put(target[1], text, target[2])
    return 1 if printing.wrong else 0


def formatted(pattern: str, values: list[str]) -> str:
    """Return a format filled with values once."""
    return _Printing(pattern, values).once()


class _Printing:
    """A format and the values that it prints, again and again while there are some left."""

    def __init__(self, pattern: str, values: list[str]) -> None:
        self._pattern, self._values = pattern, values[::-1]
        self.wrong: list[str] = []

    def text(self) -> str:
        parts: list[str] = []
        room = VALUE_LENGTH_MAX
        while room > 0:
            before = len(self._values)
            parts.append(self.once()[:room])
            room -= len(parts[-1]) + 1
            if not self._values or len(self._values) == before:
                break
        return "".join(parts)

    def once(self) -> str:
        parts: list[str] = []
        at = 0
        for found in _PLACE.finditer(self._pattern):
            parts += (unescaped(self._pattern[at : found.start()]), self._put(found))
            at = found.end()
        return "".join([*parts, unescaped(self._pattern[at:])])

    def _next(self) -> str:
        return self._values.pop() if self._values else ""

    def _put(self, found: re.Match[str]) -> str:
        flags, width, precise, kind = found.groups()
        if kind == "%":
            return "%"
        size = self._whole(self._next()) if width == "*" else int(width or 0)
        places = self._whole(self._next()) if precise == "*" else None if precise is None else int(precise)
        value = self._next()
        if kind in "sbqc":
            text = {"s": value, "b": unescaped(value), "q": _marked(value), "c": value[:1]}[kind]
            text = text if places is None else text[:places]
            return text.ljust(min(abs(size), 999)) if "-" in flags or size < 0 else text.rjust(min(size, 999))
        pattern = f"%{flags}{min(abs(size), 999) or ''}{'' if places is None else f'.{min(places, 99)}'}"
        if kind in "diuxXo":
            return (pattern + kind.replace("u", "d")) % self._whole(value)
        return (pattern + kind) % self._fraction(value)

    def _whole(self, text: str) -> int:
        if text[:1] in ("'", '"') and len(text) > 1:
            return ord(text[1])
        found = _NUMBER.match(text)
        if text and (found is None or found.end() < len(text.rstrip())):
            self.wrong.append(text)
        if found is None:
            return 0
        digits = found[0].strip()
        base = (
            16
            if "x" in digits.lower()
            else 8
            if digits.lstrip("+-")[:1] == "0" and set(digits) <= set("+-01234567")
            else 10
        )
        return int(digits, base)

    def _fraction(self, text: str) -> float:
        found = _FRACTION.match(text)
        if text and (found is None or found.end() < len(text.rstrip())):
            self.wrong.append(text)
        return float(found[0]) if found is not None else 0.0


def _marked(text: str) -> str:
    if "\n" in text or not text:
        return shown(text)
    return re.sub(r"([^A-Za-z0-9_./:=@%+,-])", r"\\\1", text)


PRINTING: Final[dict[str, Program]] = {"echo": _echo, "printf": _printf}
