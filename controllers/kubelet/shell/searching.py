"""`grep`: the lines that fit a pattern.

Source: POSIX.1-2024, Utilities, grep; GNU grep for `-o`, `-r`, `-w` and lines around.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.patterns import compiled, escaped, of_basic
from controllers.kubelet.shell.programs import inputs, number_of, options, wrong
from controllers.kubelet.shell.running import Running, Wrote

_LONG: Final = {
    "--quiet": "-q", "--silent": "-q", "--count": "-c", "--invert-match": "-v", "--ignore-case": "-i",
    "--line-number": "-n", "--extended-regexp": "-E", "--fixed-strings": "-F", "--only-matching": "-o",
    "--word-regexp": "-w", "--line-regexp": "-x", "--files-with-matches": "-l", "--no-filename": "-h",
    "--with-filename": "-H", "--recursive": "-r", "--no-messages": "-s",
}  # fmt: skip


def expression_of(call: Call, given: dict[str, str], patterns: list[str]) -> Any:
    """Return what a line has to fit: one of some patterns."""
    parts: list[str] = []
    for pattern in patterns:
        if "F" in given or call.name == "fgrep":
            part = escaped(pattern)
        else:
            part = pattern if "E" in given or "P" in given or call.name == "egrep" else of_basic(pattern)
        parts.append(part)
    whole = "|".join(f"({part})" for part in parts) if len(parts) > 1 else parts[0]
    if "x" in given:
        whole = f"^({whole})$"
    elif "w" in given:
        whole = f"\\b({whole})\\b"
    return compiled(whole, posix="P" not in given, folded="i" in given or "y" in given)


def _grep(call: Call) -> Running:
    call.words = [_LONG.get(word, word) for word in call.words if not word.startswith("--color")]
    patterns = [word for before, word in pairwise(call.words) if before == "-e"]
    given, names = options(call, "emABCf")
    if "f" in given:
        patterns = (call.shell.read(given["f"]) or "").splitlines()
    elif "e" not in given:
        if not names:
            return (yield from wrong(call, "usage: grep PATTERN [FILE]...", 2))
        patterns = names.pop(0).split("\n")
    patterns = patterns or [given["e"]]
    wanted = expression_of(call, given, patterns)
    if given.keys() & {"r", "R"}:
        top = [call.shell.path(name).rstrip("/") for name in names or ["."]]
        names = sorted(path for path in call.shell.files() if any(path.startswith(f"{one}/") for one in top))
        if not names:
            return 1
    hits, code = 0, 1
    texts = yield from inputs(call, names)
    named = ("H" in given or len(texts) > 1 or bool(given.keys() & {"r", "R"})) and "h" not in given
    for name, text in texts:
        if text is None:
            code = 2
            if "s" not in given:
                yield from wrong(call, f"{name}: No such file or directory", 2)
            continue
        call.shell.spend(len(text) * sum(map(len, patterns)) >> 16)
        found = list(_found(text.splitlines(), wanted, given))
        hits += len(found)
        if "q" in given:
            continue
        if "l" in given:
            yield Wrote(1, f"{name}\n" if found else "")
        elif "c" in given:
            yield Wrote(1, (f"{name}:" if named else "") + f"{len(found)}\n")
        else:
            yield Wrote(1, "".join(_lines(text.splitlines(), found, given, f"{name}:" if named else "", wanted)))
    return 0 if hits else code


def _found(lines: list[str], wanted: Any, given: dict[str, str]) -> Iterator[int]:
    """Yield which lines fit."""
    most = number_of(given.get("m"), len(lines))
    for number, line in enumerate(lines):
        if most <= 0:
            return
        if (wanted.search(line) is not None) != ("v" in given):
            most -= 1
            yield number


def _lines(lines: list[str], found: list[int], given: dict[str, str], name: str, wanted: Any) -> Iterator[str]:
    if "o" in given:
        for number in found:
            for one in wanted.finditer(lines[number]):
                if one.group(0):
                    yield name + (f"{number + 1}:" if "n" in given else "") + one.group(0) + "\n"
        return
    around = number_of(given.get("C"), 0)
    before, after = number_of(given.get("B"), around), number_of(given.get("A"), around)
    shown = {at for number in found for at in range(max(0, number - before), min(len(lines), number + after + 1))}
    hits, last = set(found), -1
    for at in sorted(shown):
        if (before or after) and last >= 0 and at > last + 1:
            yield "--\n"
        mark = ":" if at in hits else "-"
        yield name + (f"{at + 1}{mark}" if "n" in given else "") + lines[at] + "\n"
        last = at


SEARCHING: Final[dict[str, Program]] = {"grep": _grep, "egrep": _grep, "fgrep": _grep}
