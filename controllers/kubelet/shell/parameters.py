"""What an operator in `${name…}` makes of a value, and what `{a,b}` and `{1..3}` stand for.

Source: POSIX.1-2024, Shell Command Language, 2.6.2; the Bash Reference Manual, 3.5.1 and 3.5.3.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from controllers.kubelet.shell.patterns import compiled, of_pattern
from controllers.kubelet.shell.tree import Part, Text, Unplayable, Word

BRACES_MAX: Final = 4_096
"""Words that one with `{a,b}` or `{1..3}` in it stands for; what a script comes to that asks for more is not known."""

_BRACED_LENGTH_MAX: Final = 1_024
_DEPTH_MAX: Final = 16
_SEQUENCE: Final = re.compile(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?", re.ASCII)
_QUOTED: Final = re.compile(r"[A-Za-z0-9_./:=@%+,-]+", re.ASCII)

Segments = list[tuple[str, bool]]


def trimmed(text: str, how: str, pattern: Segments) -> str:
    """Return a text without what fits a pattern at its beginning (`#`, `##`) or end (`%`, `%%`)."""
    expression = of_pattern(pattern, short=how == "#")
    if how[0] == "#":
        found = compiled(f"^(?:{expression})").match(text)
        return text if found is None else text[found.end() :]
    # What is left is as long, or as short, as can be.
    found = compiled(f"^(.*{'?' if how == '%%' else ''})(?:{of_pattern(pattern)})$").match(text)
    return text if found is None else str(found.group(1))


def replaced(text: str, how: str, pattern: Segments, other: str) -> str:
    """Return a text in which the first that fits a pattern is another one; `//` all, `/#` and `/%` at an end."""
    expression = of_pattern(pattern)
    if not expression:
        return {"/#": other + text, "/%": text + other}.get(how, text)
    wanted = compiled({"/#": f"^(?:{expression})", "/%": f"(?:{expression})$"}.get(how, expression))
    parts: list[str] = []
    at = 0
    for found in wanted.finditer(text):
        if found.end() == found.start():
            continue
        parts += (text[at : found.start()], other)
        at = found.end()
        if how != "//":
            break
    return "".join([*parts, text[at:]])


def cased(text: str, how: str) -> str:
    """Return a text in large letters (`^^`, `^` the first one) or small ones (`,,`, `,`)."""
    if how in ("^", ","):
        return (text[:1].upper() if how == "^" else text[:1].lower()) + text[1:]
    return text.upper() if how == "^^" else text.lower()


def shown(text: str) -> str:
    """Return a text as a shell would have to read it to get it."""
    if _QUOTED.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


# -- braces ---------------------------------------------------------------------------------------------------------

_Item = str | Part
"""A letter that is not quoted, or something else."""


def braced(word: Word) -> list[Word]:
    """Return the words that one stands for.

    Raises:
        Unplayable: they are too many.
    """
    loose = "".join(part.text for part in word if isinstance(part, Text) and not part.quoted)
    if "{" not in loose or "}" not in loose or ("," not in loose and ".." not in loose):
        return [word]
    if len(loose) > _BRACED_LENGTH_MAX:
        raise Unplayable("a word with { } in it is too long")
    items: list[_Item] = []
    for part in word:
        items += [*part.text] if isinstance(part, Text) and not part.quoted else [part]
    return [_joined(one) for one in _expanded(items, 0)]


def _joined(items: list[_Item]) -> Word:
    found: list[Part] = []
    letters = ""
    for item in items:
        if isinstance(item, str):
            letters += item
            continue
        if letters:
            found.append(Text(letters, quoted=False))
            letters = ""
        found.append(item)
    return tuple([*found, Text(letters, quoted=False)] if letters else found)


def _expanded(items: list[_Item], depth: int) -> list[list[_Item]]:
    if depth > _DEPTH_MAX:
        raise Unplayable("{ } stand too deep in each other")
    for start, item in enumerate(items):
        if item != "{":
            continue
        commas, end = _closing(items, start)
        if not end:
            continue
        inner = items[start + 1 : end]
        if commas:
            marks = [start, *commas, end]
            between = [items[one + 1 : other] for one, other in pairwise(marks)]
            choices = [choice for one in between for choice in _expanded(one, depth + 1)]
        else:
            choices = _sequence("".join(one if isinstance(one, str) else "\0" for one in inner))
            if not choices:
                continue
        rest = _expanded(items[end + 1 :], depth + 1)
        if len(choices) * len(rest) > BRACES_MAX:
            raise Unplayable("a word with { } in it stands for too many")
        return [[*items[:start], *one, *other] for one in choices for other in rest]
    return [items]


def _closing(items: list[_Item], start: int) -> tuple[list[int], int]:
    """Return (the commas between, the place of the bracket that closes); 0 where none does."""
    depth, commas = 0, list[int]()
    for at in range(start, len(items)):
        if items[at] == "{":
            depth += 1
        elif items[at] == "}":
            depth -= 1
            if depth == 0:
                return commas, at
        elif items[at] == "," and depth == 1:
            commas.append(at)
    return [], 0


def _sequence(text: str) -> list[list[_Item]]:
    found = _SEQUENCE.fullmatch(text)
    if found is None or found[1].isalpha() != found[2].isalpha():
        return []
    letters = found[1].isalpha()
    first, last = (ord(found[1]), ord(found[2])) if letters else (int(found[1]), int(found[2]))
    step = abs(int(found[3] or 1)) or 1
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if len(numbers) > BRACES_MAX:
        raise Unplayable("a word with { } in it stands for too many")
    padded = any(re.fullmatch(r"-?0\d+", one) for one in found.groups()[:2])
    width = max(len(found[1]), len(found[2])) if padded else 0
    return [[*(chr(number) if letters else f"{number:0{width}}")] for number in numbers]
