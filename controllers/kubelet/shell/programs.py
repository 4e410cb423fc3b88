"""Programs that work on text, and what a shell does itself: each a generator of what it prints.

Source: POSIX.1-2024, Utilities; busybox for wording and for what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Generator, MutableMapping, Sequence
from typing import Final

from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.running import FOREVER_MS, MISSING, Happening, Running, Sent, Wrote

_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION: Final = re.compile(r"(\d{1,9})(?:\.(\d{1,3}))?([smhd]?)", re.ASCII)
SIMULATED: Final = "this container is simulated: no process runs in it"
LINES_MAX: Final = 20_000
"""Lines of `seq`."""


def options(
    call: Call, valued: str = "", every: MutableMapping[str, list[str]] | None = None
) -> tuple[dict[str, str], list[str]]:
    """Return (letter of an option → its value, the other arguments); `every` takes all values of a letter."""
    found: dict[str, str] = {}
    rest: list[str] = []
    words = iter(call.arguments)
    for word in words:
        if word == "--":
            rest += words
        elif len(word) > 1 and word[0] == "-" and not word.startswith("--"):
            if word[1:].isdecimal():
                found["n"] = word[1:]
                continue
            for index, letter in enumerate(word[1:], 2):
                if letter in valued:
                    found[letter] = word[index:] or next(words, "")
                    if every is not None:
                        every[letter].append(found[letter])
                    break
                found[letter] = ""
        else:
            rest.append(word)
    return found, rest


def wrong(call: Call, text: str, code: int = 1) -> Running:
    """Say what is wrong, as the program."""
    yield Wrote(2, f"{call.name}: {text}\n")
    return code


def inputs(call: Call, names: Sequence[str]) -> Generator[Happening, None, list[tuple[str, str | None]]]:
    """Return (name, text or None where there is no such file) of each; standard input where no file is named."""
    found: list[tuple[str, str | None]] = []
    for name in names or ("-",):
        found.append((name, (yield from call.input()) if name == "-" else call.shell.read(name)))
        if found[-1][1] is None and not call.shell.lacks(name):
            call.shell.unknown.add(name)
    return found


def _cat(call: Call) -> Running:
    code = 0
    for name, text in (yield from inputs(call, options(call)[1])):
        if text is None:
            code = yield from wrong(call, f"can't open '{name}': No such file or directory")
        elif text:
            yield Wrote(1, text)
    return code


def _grep(call: Call) -> Running:
    given, names = options(call, "e")
    pattern = given["e"] if "e" in given else (names.pop(0) if names else "")
    # A pattern of a person's is no regular expression of ours: it could take for ever.
    wanted = pattern.casefold() if "i" in given else pattern
    starts, ends = wanted.startswith("^"), wanted.endswith("$")
    core = [one for one in wanted.strip("^$").replace("\\|", "|").split("|") if one] or [""]
    hits = 0
    for _, text in (yield from inputs(call, names)):
        for number, line in enumerate((text or "").splitlines(), 1):
            seen = line.casefold() if "i" in given else line
            hit = any(
                (not starts or seen.startswith(one)) and (not ends or seen.endswith(one)) and one in seen
                for one in (part.replace("\\", "").replace(".*", "") for part in core)
            )
            if hit == ("v" in given):
                continue
            hits += 1
            if "q" not in given and "c" not in given:
                yield Wrote(1, (f"{number}:" if "n" in given else "") + line + "\n")
    if "c" in given:
        yield Wrote(1, f"{hits}\n")
    return 0 if hits else 1


def _head(call: Call) -> Running:
    given, names = options(call, "n")
    count = number_of(given.get("n"), 10)
    for _, text in (yield from inputs(call, names)):
        yield Wrote(1, "".join((text or "").splitlines(keepends=True)[:count]))
    return 0


def _tail(call: Call) -> Running:
    given, names = options(call, "n")
    count = number_of(given.get("n", "").lstrip("+"), 10)
    for name, text in (yield from inputs(call, names)):
        if text is None:
            return (yield from wrong(call, f"can't open '{name}': No such file or directory"))
        lines = text.splitlines(keepends=True)
        yield Wrote(1, "".join(lines[-count:] if count else []))
    if given.keys() & {"f", "F"}:
        yield from call.shell.waits(FOREVER_MS)
    return 0


def _wc(call: Call) -> Running:
    given, names = options(call)
    for name, text in (yield from inputs(call, names)):
        held = text or ""
        counts = {"l": held.count("\n"), "w": len(held.split()), "c": len(held.encode())}
        wanted = [counts[letter] for letter in "lwc" if letter in given] or list(counts.values())
        yield Wrote(1, " ".join([*map(str, wanted), *([name] if name != "-" else [])]) + "\n")
    return 0


def _sorted(call: Call) -> Running:
    given, names = options(call)
    texts = yield from inputs(call, names)
    lines = [line for _, text in texts for line in (text or "").splitlines()]
    lines.sort(
        key=(lambda line: (number_of(line.split()[0] if line.split() else "", 0), line)) if "n" in given else None
    )
    if "u" in given:
        lines = list(dict.fromkeys(lines))
    yield Wrote(1, "".join(f"{line}\n" for line in (reversed(lines) if "r" in given else lines)))
    return 0


def _uniq(call: Call) -> Running:
    before: str | None = None
    for _, text in (yield from inputs(call, options(call)[1])):
        for line in (text or "").splitlines():
            if line != before:
                yield Wrote(1, line + "\n")
            before = line
    return 0


def _cut(call: Call) -> Running:
    given, names = options(call, "dfc")
    mark, wanted = given.get("d", "\t") or "\t", number_of(given.get("f"), 1)
    for _, text in (yield from inputs(call, names)):
        for line in (text or "").splitlines():
            fields = line.split(mark)
            yield Wrote(1, (fields[wanted - 1] if 0 < wanted <= len(fields) else "") + "\n")
    return 0


def _seq(call: Call) -> Running:
    numbers = [number_of(word, 1) for word in call.arguments]
    first, last = (1, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[-1]) if numbers else (1, 0)
    yield Wrote(1, "".join(f"{number}\n" for number in range(first, min(last, first + LINES_MAX) + 1)))
    return 0


def _tee(call: Call) -> Running:
    given, names = options(call)
    text = yield from call.input()
    for name in names:
        call.shell.write(name, text, more="a" in given)
    yield Wrote(1, text)
    return 0


def _sleep(call: Call) -> Running:
    total = 0
    for word in call.arguments:
        found = _DURATION.fullmatch(word)
        if found is None:
            if word != "infinity":
                return (yield from wrong(call, f"invalid number '{word}'"))
            total = FOREVER_MS
        else:
            total += (int(found[1]) * 1000 + int((found[2] or "0").ljust(3, "0"))) * _UNITS[found[3]]
    yield from call.shell.waits(min(total, FOREVER_MS))
    return 0


def _ends(code: int) -> Program:
    def run(call: Call) -> Running:
        yield from ()
        return code

    return run


def _sh(call: Call) -> Running:
    words = list(call.arguments)
    flags = set[str]()
    while words and words[0][:1] in ("-", "+") and words[0] != "--":
        word = words.pop(0)
        if not word.startswith("--"):
            flags |= set(word[1:])
        if word[1:].endswith("o") and words and not word.startswith("--"):
            flags.add(words.pop(0))
    bash = call.name == "bash"
    how = frozenset(flags - {"c", "l", "i", "s", "o"})
    if "c" in flags:
        text, arguments = words[0] if words else "", words[1:] or (call.words[0],)
        return (yield from call.shell.within(text, arguments, call.stdin, bash=bash, options=how))
    if words:
        held = call.shell.read(words[0])
        if held is None:
            if not call.shell.lacks(words[0]):
                call.shell.unknown.add(words[0])
            yield Wrote(2, f"{call.name}: can't open '{words[0]}': No such file or directory\n")
            return MISSING
        return (yield from call.shell.within(held, words, call.stdin, bash=bash, options=how))
    return (yield from call.shell.within((yield from call.input()), (call.words[0],), Sent(), bash=bash, options=how))


def _which(call: Call) -> Running:
    code = 0
    for name in call.arguments:
        if name.startswith("-"):
            continue
        if name in call.shell.programs and call.inside.has(name):
            yield Wrote(1, f"/bin/{name}\n")
        else:
            code = 1
    return code


def _xargs(call: Call) -> Running:
    text = yield from call.input()
    return (yield from call.shell.call([*(call.arguments or ["echo"]), *text.split()], Sent()))


def _timeout(call: Call) -> Running:
    words = [word for word in call.arguments if not word.startswith("-")]
    return (yield from call.shell.call(words[1:], call.stdin)) if len(words) > 1 else 0


def number_of(text: str | None, default: int) -> int:
    """Return a whole number; the default where there is none."""
    return int(text) if text and re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else default


SHELLS: Final = ("sh", "ash", "bash", "dash")

TEXT: Final[dict[str, Program]] = {
    "cat": _cat, "grep": _grep, "egrep": _grep, "fgrep": _grep, "head": _head,
    "tail": _tail, "wc": _wc, "sort": _sorted, "uniq": _uniq, "cut": _cut, "seq": _seq, "tee": _tee, "sleep": _sleep,
    "usleep": _ends(0), "sync": _ends(0), "chmod": _ends(0), "chown": _ends(0), "which": _which, "xargs": _xargs,
    "timeout": _timeout, **dict.fromkeys(SHELLS, _sh),
}  # fmt: skip
