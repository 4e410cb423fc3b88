"""Conditions: `test`, `[ … ]` and `[[ … ]]`.

Source: POSIX.1-2024, Utilities, test; the Bash Reference Manual, 3.2.5.2 and 6.4.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import Final

from controllers.kubelet.shell.arithmetic import value_of
from controllers.kubelet.shell.expanding import segments_of, text_of
from controllers.kubelet.shell.parameters import Segments, shown
from controllers.kubelet.shell.patterns import compiled, escaped, of_pattern
from controllers.kubelet.shell.running import Happening
from controllers.kubelet.shell.surroundings import Surroundings
from controllers.kubelet.shell.tree import Test, Unplayable

_FILES: Final = frozenset(
    {"-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-p", "-r", "-s", "-S", "-u", "-w", "-x"}
)
_TEXTS: Final = frozenset({"=", "==", "!=", "<", ">"})
_NUMBERS: Final = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_AGES: Final = frozenset({"-nt", "-ot", "-ef"})
_INTEGER: Final = re.compile(r"\s*[-+]?\d{1,18}\s*", re.ASCII)
_LAZY: Final = re.compile(r"(?<=[*+?])\?")


class NoCondition(ValueError):
    """Words that are no condition; the message says why."""


def holds(shell: Surroundings, words: Sequence[str]) -> bool:
    """Return whether what `test` is told holds.

    Raises:
        NoCondition: it is none.
    """
    if len(words) == 3 and (words[1] in _TEXTS or words[1] in _NUMBERS or words[1] in _AGES):
        return _compared(words[0], words[1], words[2])
    for join, both in (("-o", False), ("-a", True)):
        if join in words[1:-1] and len(words) > 3:
            parts: list[list[str]] = [[]]
            for word in words:
                if word == join:
                    parts.append([])
                else:
                    parts[-1].append(word)
            outcomes = [holds(shell, part) for part in parts]
            return all(outcomes) if both else any(outcomes)
    negated = False
    while len(words) > 1 and words[0] == "!":
        words, negated = words[1:], not negated
    if len(words) > 2 and words[0] == "(" and words[-1] == ")":
        words = words[1:-1]
    if len(words) == 3:
        return _compared(words[0], words[1], words[2]) != negated
    if len(words) == 2:
        return is_so(shell, words[0], words[1]) != negated
    if len(words) > 3:
        raise NoCondition(f"{words[1][:80]}: unknown operand")
    return (len(words) == 1 and words[0] != "") != negated


def _compared(left: str, how: str, right: str) -> bool:
    if how in _TEXTS:
        return {"<": left < right, ">": left > right, "!=": left != right}.get(how, left == right)
    if how not in _NUMBERS:
        raise Unplayable(f"{how[:20]} is nothing that this simulated shell knows")
    for text in (left, right):
        if _INTEGER.fullmatch(text) is None:
            raise NoCondition(f"{text[:80]}: integer expression expected")
    return _ordered(int(left), how, int(right))


def _ordered(left: int, how: str, right: int) -> bool:
    match how:
        case "-eq":
            return left == right
        case "-ne":
            return left != right
        case "-lt":
            return left < right
        case "-le":
            return left <= right
        case "-gt":
            return left > right
        case _:
            return left >= right


def is_so(shell: Surroundings, how: str, text: str) -> bool:
    """Return whether a text, or the file or variable of this name, is what an operator says.

    Raises:
        NoCondition: there is no such operator.
    """
    if how in ("-z", "-n"):
        return (text == "") == (how == "-z")
    if how == "-v":
        name, _, rest = text.partition("[")
        return (shell.element(name, rest[:-1]) if rest else shell.variable(name)) is not None
    if how in _FILES:
        return _is_file(shell, how, text)
    if how in ("-t", "-o"):
        return how == "-o" and {"errexit": "e", "nounset": "u", "xtrace": "x"}.get(text, text) in shell.options
    raise NoCondition(f"{how[:20]}: unary operator expected")


def _is_file(shell: Surroundings, how: str, name: str) -> bool:
    held = shell.read(name) if name else None
    folder = bool(name) and shell.is_folder(name)
    if held is None and not folder:
        shell.lacks(name)
    match how:
        case "-s":
            return bool(held) or folder
        case "-f":
            return held is not None and not name.startswith("/dev/")
        case "-d":
            return folder
        case "-e" | "-r" | "-w":
            return held is not None or folder
        case "-x":
            program = name.rpartition("/")[2]
            return folder or (held or "").startswith("#!") or ("/bin/" in name and shell.knows(program))
        case _:
            return False


def condition_holds(shell: Surroundings, test: Test) -> Generator[Happening, None, bool]:
    """Return whether what stands in `[[ … ]]` holds.

    Raises:
        Unreckonable: what is compared is no number.
        Unplayable: its pattern cannot be read here.
    """
    if test.how in ("&&", "||"):
        for part in test.parts:
            if (yield from condition_holds(shell, part)) == (test.how == "||"):
                return test.how == "||"
        return test.how == "&&"
    if test.how == "!":
        return not (yield from condition_holds(shell, test.parts[0]))
    left = yield from text_of(shell, test.words[0])
    if len(test.words) == 1:
        yield from shell.traced(f"[[ {test.how} {shown(left)} ]]")
        return is_so(shell, test.how, left)
    right = yield from segments_of(shell, test.words[1])
    text = "".join(text for text, _ in right)
    yield from shell.traced(f"[[ {shown(left)} {test.how} {text if text and ' ' not in text else shown(text)} ]]")
    shell.spend(len(left) * len(text) >> 16)
    if test.how == "=~":
        return _searched(shell, left, right)
    if test.how in ("==", "!="):
        return (compiled(of_pattern(right)).fullmatch(left) is not None) == (test.how == "==")
    if test.how in ("<", ">"):
        return left < text if test.how == "<" else left > text
    if test.how in _AGES:
        raise Unplayable(f"{test.how} is nothing that this simulated shell knows")
    return _ordered(value_of(left, shell), test.how, value_of(text, shell))


def _searched(shell: Surroundings, text: str, expression: Segments) -> bool:
    # What takes as little as it can is nothing in these: the mark says that what stands there may be missing.
    whole = "".join(escaped(part) if quoted else _LAZY.sub("", part) for part, quoted in expression)
    found = compiled(whole, posix=True).search(text)
    groups = [] if found is None else [found.group(0), *found.groups()]
    shell.put_all("BASH_REMATCH", [(None, one or "") for one in groups])
    return found is not None
