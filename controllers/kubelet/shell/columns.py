"""Programs that look at lines by their fields: `cut`, `sort`, `uniq`, `head`, `tail`, `wc`, `seq`, `xargs`.

Source: POSIX.1-2024, Utilities; coreutils for what stands in no standard.
"""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import Any, Final

from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.programs import inputs, number_of, options, wrong
from controllers.kubelet.shell.running import FOREVER_MS, VALUE_LENGTH_MAX, Running, Sent, Watches, Wrote
from controllers.kubelet.shell.texts import lines_of
from controllers.kubelet.shell.tree import Unplayable

LINES_MAX: Final = 20_000
"""Lines of `seq`."""

_NUMBER: Final = re.compile(r"\s*-?\d{1,18}(\.\d{1,18})?", re.ASCII)
_DECIMAL: Final = re.compile(r"-?\d{1,12}(\.\d{1,6})?", re.ASCII)
_KEY: Final = re.compile(r"(\d{1,4})(?:\.\d+)?([a-zA-Z]*)(?:,(\d{1,4})(?:\.\d+)?([a-zA-Z]*))?", re.ASCII)


def _head(call: Call) -> Running:
    given, names = options(call, "nc")
    return (yield from _shown(call, given, names, tail=False))


def _tail(call: Call) -> Running:
    if re.fullmatch(r"\+\d+", call.arguments[0] if call.arguments else ""):
        call.words = [call.words[0], f"-n{call.arguments[0]}", *call.arguments[1:]]
    given, names = options(call, "ncs")
    code = yield from _shown(call, given, names, tail=True)
    if not given.keys() & {"f", "F"} or (code and "F" not in given and not call.shell.lenient):
        return code
    if not names or "-" in names:
        yield from call.shell.waits(FOREVER_MS)
    return (yield from _followed(call, names))


def _followed(call: Call, names: list[str]) -> Running:
    """Show what comes at the end of files, on and on; one that there is not may come.

    Source: BusyBox, coreutils/tail.c.
    """
    seen, shown = {name: call.shell.read(name) for name in names}, names[-1]
    while True:
        yield Watches()
        for name, before in seen.items():
            text = seen[name] = call.shell.read(name)
            if text is None or text == before:
                continue
            if before is None:
                yield Wrote(2, f"{call.name}: {name} has appeared; following end of new file\n")
            if name != shown:
                yield Wrote(1, f"\n==> {name} <==\n")
                shown = name
            before = before or ""
            yield Wrote(1, _fresh(before, text))


def _fresh(before: str, text: str) -> str:
    """Return what has come to a text; one that was written anew is shown from its beginning."""
    if len(before) > VALUE_LENGTH_MAX // 2 and not text.startswith(before):
        # Of one that grows no more than its end is kept.
        at = before.find(text[: VALUE_LENGTH_MAX // 8])
        if at > 0 and text.startswith(before[at:]):
            return text[len(before) - at :]
    return text[len(before) :] if text.startswith(before) else text


def _shown(call: Call, given: dict[str, str], names: list[str], *, tail: bool) -> Running:
    code, texts = 0, (yield from inputs(call, names))
    for place, (name, text) in enumerate(texts):
        if text is None:
            code = yield from wrong(call, f"can't open '{name}': No such file or directory")
            continue
        if len(texts) > 1 and "q" not in given:
            yield Wrote(1, ("\n" if place else "") + f"==> {name} <==\n")
        pieces: Any = text if "c" in given else text.splitlines(keepends=True)
        asked = given.get("c") or given.get("n") or "10"
        count = number_of(asked.lstrip("+"), 10)
        if not tail:
            kept = pieces[:count]
        elif asked.startswith("+"):
            kept = pieces[max(0, count - 1) :]
        else:
            kept = pieces[max(0, len(pieces) - abs(count)) :]
        yield Wrote(1, "".join(kept))
    return code


def _wc(call: Call) -> Running:
    given, names = options(call)
    code, total = 0, [0] * 4
    texts = yield from inputs(call, names)
    wanted = [at for at, letter in enumerate("lwmc") if letter in given] or [0, 1, 3]
    for name, text in texts:
        if text is None:
            code = yield from wrong(call, f"{name}: No such file or directory")
            continue
        counts = [text.count("\n"), len(text.split()), len(text), len(text.encode())]
        total = [one + other for one, other in zip(total, counts, strict=True)]
        yield Wrote(1, " ".join([*(str(counts[at]) for at in wanted), *([name] if name != "-" else [])]) + "\n")
    if len(texts) > 1:
        yield Wrote(1, " ".join([*(str(total[at]) for at in wanted), "total"]) + "\n")
    return code


def _sorted(call: Call) -> Running:
    keys = [word for before, word in pairwise(call.words) if before == "-k"]
    keys += [word[2:] for word in call.words if word.startswith("-k") and len(word) > 2]
    given, names = options(call, "kto")
    lines, code = yield from lines_of(call, names)
    call.shell.spend(len(lines) >> 6)
    wanted = [found for one in (keys or ([given["k"]] if "k" in given else [])) if (found := _KEY.fullmatch(one))]
    if given.keys() & {"h", "V", "M", "R"}:
        raise Unplayable("sort by such an order is nothing that this simulation knows")

    def key(line: str) -> tuple[Any, ...]:
        found: list[Any] = []
        for one in wanted:
            fields = line.split(given["t"][:1] or None) if "t" in given else line.split()
            text = " ".join(fields[int(one[1]) - 1 : int(one[3]) if one[3] else None])
            flags = (one[2] or "") + (one[4] or "")
            found.append(_Turned(_order(text, given, flags), "r" in flags))
        return tuple(found) if wanted and given.keys() & {"s", "u"} else (*found, _order(line, given, ""))

    lines.sort(key=key, reverse="r" in given)
    if "u" in given:
        alike = {key(line): line for line in reversed(lines)}
        lines = list(alike.values())[::-1]
    text = "".join(f"{line}\n" for line in lines)
    if "o" in given:
        call.shell.write(given["o"], text, more=False)
    else:
        yield Wrote(1, text)
    return code


def _order(text: str, given: dict[str, str], flags: str) -> tuple[float, str]:
    if "n" in flags or ("n" in given and not flags.strip("r")):
        found = _NUMBER.match(text)
        return (float(found[0]) if found else 0.0), "" if flags else text
    return 0.0, text.casefold() if "f" in given or "f" in flags else text


class _Turned:
    """A key that is compared the other way round, where it is told so."""

    __slots__ = ("_key", "_turned")

    def __init__(self, key: tuple[float, str], turned: bool) -> None:
        self._key, self._turned = key, turned

    def __lt__(self, other: _Turned) -> bool:
        return other._key < self._key if self._turned else self._key < other._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turned) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _uniq(call: Call) -> Running:
    given, names = options(call, "fsw")
    lines, code = yield from lines_of(call, names[:1])
    groups: list[tuple[str, int]] = []
    for line in lines:
        same = groups and (groups[-1][0] == line or ("i" in given and groups[-1][0].casefold() == line.casefold()))
        if same:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((line, 1))
    for line, count in groups:
        if (count > 1 or "d" not in given) and (count == 1 or "u" not in given):
            yield Wrote(1, (f"{count:7} " if "c" in given else "") + line + "\n")
    return code


def _cut(call: Call) -> Running:
    given, names = options(call, "dfcb")
    ranges = _ranges(given.get("f") or given.get("c") or given.get("b") or "")
    if not ranges:
        return (yield from wrong(call, "expected a list of bytes, characters, or fields"))
    mark = (given.get("d") or "\t")[:1]
    lines, code = yield from lines_of(call, names)
    for line in lines:
        if "f" in given and mark not in line:
            yield Wrote(1, "" if "s" in given else line + "\n")
            continue
        pieces: list[str] = line.split(mark) if "f" in given else [*line]
        kept = [one for at, one in enumerate(pieces, 1) if any(first <= at <= last for first, last in ranges)]
        yield Wrote(1, (mark if "f" in given else "").join(kept) + "\n")
    return code


def _ranges(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first or last) or not (first + last).isdecimal() or len(first + last) > 9:
            return []
        found.append((int(first or 1), int(last) if last else (10**9 if dash else int(first))))
    return found


def _seq(call: Call) -> Running:
    words = list(call.arguments)
    mark, wide = "\n", False
    while words and words[0].startswith("-") and _DECIMAL.fullmatch(words[0]) is None:
        word = words.pop(0)
        if word == "-w":
            wide = True
        elif word.startswith("-s"):
            mark = word[2:] or (words.pop(0) if words else "\n")
        else:
            return (yield from wrong(call, f"unrecognized: {word}"))
    if not 1 <= len(words) <= 3 or any(_DECIMAL.fullmatch(word) is None for word in words):
        return (yield from wrong(call, f"invalid number '{words[0] if words else ''}'"))
    places = max(len(word.partition(".")[2]) for word in words)
    first, step, last = {
        1: (1.0, 1.0, float(words[-1])),
        2: (float(words[0]), 1.0, float(words[-1])),
        3: (float(words[0]), float(words[1 % len(words)]), float(words[-1])),
    }[len(words)]
    if step == 0:
        return (yield from wrong(call, "increment must not be 0"))
    count = min(LINES_MAX, int((last - first) / step + 1e-9) + 1) if (last - first) * step >= 0 else 0
    numbers = [f"{first + at * step:.{places}f}" for at in range(count)]
    width = max(map(len, numbers), default=0) if wide else 0
    if numbers:
        yield Wrote(1, mark.join(one.zfill(width) for one in numbers) + "\n")
    return 0


def _xargs(call: Call) -> Running:
    """Call a command with what is read: all at once, `-n` so many at a time, `-I {}` in its words."""
    words = list(call.arguments)
    given: dict[str, str] = {}
    while words and words[0].startswith("-"):
        word = words.pop(0)
        letter = word[1:2]
        given[letter] = (word[2:] or (words.pop(0) if words else "")) if letter in "nILPd" else ""
    text = yield from call.input()
    command = words or ["echo"]
    if "I" in given:
        calls = [[word.replace(given["I"], line) for word in command] for line in text.splitlines() if line.strip()]
    else:
        if "0" in given or "d" in given:
            items = text.split("\0" if "0" in given else given["d"][:1] or "\n")
            items = items[:-1] if items[-1:] == [""] else items
        else:
            try:
                items = shlex.split(text)
            except ValueError:
                return (yield from wrong(call, "unterminated quote"))
        size = max(1, number_of(given.get("n") or given.get("L"), len(items) or 1))
        calls = [[*command, *items[at : at + size]] for at in range(0, len(items), size)]
        calls = calls or ([] if "r" in given else [command])
    code = 0
    for one in calls:
        if "t" in given:
            yield Wrote(2, " ".join(one) + "\n")
        code = 123 if (yield from call.shell.invoke([word[:VALUE_LENGTH_MAX] for word in one], Sent())) else code
    return code


COLUMNS: Final[dict[str, Program]] = {
    "head": _head, "tail": _tail, "wc": _wc, "sort": _sorted, "uniq": _uniq, "cut": _cut, "seq": _seq, "xargs": _xargs,
}  # fmt: skip
