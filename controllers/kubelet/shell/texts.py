"""Programs that make other lines of lines: `rev`, `tac`, `tr`, `paste`, `nl`, `shuf`, `yes`.

Source: POSIX.1-2024, Utilities; busybox and coreutils for what stands in no standard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from typing import Final

from controllers.kubelet.shell.escapes import unescaped
from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.programs import inputs, number_of, options, wrong
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX, Happening, Running, Wrote

_CLASSES: Final[dict[str, Callable[[str], bool]]] = {
    "alpha": str.isalpha, "digit": str.isdigit, "alnum": str.isalnum, "upper": str.isupper, "lower": str.islower,
    "space": str.isspace, "punct": lambda letter: letter.isprintable() and not letter.isalnum() and letter != " ",
    "blank": lambda letter: letter in " \t", "cntrl": lambda letter: ord(letter) < 32 or ord(letter) == 127,
    "print": str.isprintable, "graph": lambda letter: letter.isprintable() and letter != " ",
    "xdigit": lambda letter: letter in "0123456789abcdefABCDEF",
}  # fmt: skip
_RANGE: Final = re.compile(r"\[:([a-z]+):\]|(.)-(.)|\[(.)\*\d*\]|(.)", re.DOTALL)


def lines_of(call: Call, names: Sequence[str]) -> Generator[Happening, None, tuple[list[str], int]]:
    """Return (the lines of files, 1 where one is not there, which is said)."""
    found: list[str] = []
    code = 0
    for name, text in (yield from inputs(call, names)):
        if text is None:
            code = yield from wrong(call, f"{name}: No such file or directory")
        else:
            found += text.splitlines()
    return found, code


def _rev(call: Call) -> Running:
    lines, code = yield from lines_of(call, options(call)[1])
    yield Wrote(1, "".join(f"{line[::-1]}\n" for line in lines))
    return code


def _tac(call: Call) -> Running:
    lines, code = yield from lines_of(call, options(call)[1])
    yield Wrote(1, "".join(f"{line}\n" for line in reversed(lines)))
    return code


def _nl(call: Call) -> Running:
    given, names = options(call, "bwsnv")
    lines, code = yield from lines_of(call, names)
    number, width = number_of(given.get("v"), 1), min(64, number_of(given.get("w"), 6))
    for line in lines:
        if line or given.get("b") == "a":
            yield Wrote(1, f"{number:{width}}{given.get('s', chr(9))}{line}\n")
            number += 1
        else:
            yield Wrote(1, " " * (width + 1) + "\n")
    return code


def _paste(call: Call) -> Running:
    given, names = options(call, "d")
    marks = unescaped(given.get("d", "\t")) or "\t"
    texts = yield from inputs(call, names)
    columns = [(text or "").splitlines() for _, text in texts]
    rows = columns if "s" in given else [[*row] for row in _rows(columns)]
    for row in rows:
        yield Wrote(
            1, "".join((marks[(at - 1) % len(marks)] if at else "") + cell for at, cell in enumerate(row)) + "\n"
        )
    return 1 if any(text is None for _, text in texts) else 0


def _rows(columns: list[list[str]]) -> list[list[str]]:
    longest = max(map(len, columns), default=0)
    return [[column[at] if at < len(column) else "" for column in columns] for at in range(longest)]


def _shuf(call: Call) -> Running:
    given, names = options(call, "nie")
    if "i" in given:
        first, _, last = given["i"].partition("-")
        lines = [
            str(one) for one in range(number_of(first, 0), min(number_of(last, 0), number_of(first, 0) + 9_999) + 1)
        ]
        code = 0
    elif "e" in given:
        lines, code = [given["e"], *names], 0
    else:
        lines, code = yield from lines_of(call, names)
    turn = call.shell.steps_left
    order = sorted(range(len(lines)), key=lambda at: call.inside.chance(turn * 100_000 + at))
    yield Wrote(1, "".join(f"{lines[at]}\n" for at in order[: number_of(given.get("n"), len(order))]))
    return code


def _tr(call: Call) -> Running:
    given, sets = options(call)
    if not sets or (len(sets) < 2 and not given.keys() & {"d", "s"}):
        return (yield from wrong(call, "missing operand"))
    wanted, other = _letters(sets[0]), bool(given.keys() & {"c", "C"})
    own = set(wanted)
    text = yield from call.input()
    if "d" in given:
        text = "".join(letter for letter in text if (letter in own) == other)
        squeezed = set(_letters(sets[1])) if "s" in given and len(sets) > 1 else set()
    else:
        others = _letters(sets[1]) if len(sets) > 1 else ""
        if others and other:
            text = "".join(letter if letter in own else others[-1] for letter in text)
        elif others:
            table = _table(wanted, others)
            text = "".join(table.get(letter, letter) for letter in text)
        squeezed = set(others or wanted) if "s" in given else set()
    if squeezed:
        text = "".join(one for at, one in enumerate(text) if at == 0 or one != text[at - 1] or one not in squeezed)
    yield Wrote(1, text)
    return 0


def _table(wanted: str, others: str) -> dict[str, str]:
    return {letter: others[min(at, len(others) - 1)] for at, letter in reversed([*enumerate(wanted)])}


def _letters(text: str) -> str:
    """Return the letters of a set."""
    found: list[str] = []
    for one in _RANGE.finditer(unescaped(text)):
        name, first, last, repeated, letter = one.groups()
        if name:
            holds = _CLASSES.get(name, str.isalpha)
            found += [chr(number) for number in range(128) if holds(chr(number))]
        elif first:
            found += [chr(number) for number in range(ord(first), min(ord(last), ord(first) + 255) + 1)]
        else:
            found.append(repeated or letter)
    return "".join(letter for letter in found if not "\ud800" <= letter <= "\udfff")


def _yes(call: Call) -> Running:
    line = " ".join(call.arguments or ("y",)) + "\n"
    # What reads it reads no more than a pipe holds here.
    yield Wrote(1, line * (VALUE_LENGTH_MAX // len(line)))
    return 0


TEXTS: Final[dict[str, Program]] = {
    "rev": _rev, "tac": _tac, "nl": _nl, "paste": _paste, "shuf": _shuf, "tr": _tr, "yes": _yes,
}  # fmt: skip
