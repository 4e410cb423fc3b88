"""Programs that work on text, and what a shell does itself: each a generator of what it prints.

Source: POSIX.1-2024, Utilities; busybox for wording and for what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Generator, MutableMapping, Sequence
from typing import Final

from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.running import FOREVER_MS, MISSING, Happening, Running, Sent, Wrote
from controllers.kubelet.shell.shebang import SHELLS

_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION: Final = re.compile(r"(\d{1,9})(?:\.(\d{1,3}))?([smhd]?)", re.ASCII)
SIMULATED: Final = "this container is simulated: no process runs in it"


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
    given, names = options(call)
    code, number = 0, 0
    for name, text in (yield from inputs(call, names)):
        if text is None:
            code = yield from wrong(call, f"can't open '{name}': No such file or directory")
            continue
        if given.keys() & {"A", "e", "E", "T", "t", "v", "n", "b"}:
            lines: list[str] = []
            for line in text.splitlines(keepends=True):
                held = line.rstrip("\n")
                number += 1 if held or "b" not in given else 0
                head = f"{number:6}\t" if "n" in given or ("b" in given and held) else ""
                held = held.replace("\t", "^I") if given.keys() & {"A", "T", "t"} else held
                end = "$" if given.keys() & {"A", "e", "E"} and line.endswith("\n") else ""
                lines.append(head + held + end + line[len(line.rstrip("\n")) :])
            text = "".join(lines)
        if text:
            yield Wrote(1, text)
    return code


def _tee(call: Call) -> Running:
    given, names = options(call)
    text = yield from call.input()
    code = 0
    for name in names:
        if name in ("/dev/stdout", "/dev/stderr"):
            yield Wrote(1 if name == "/dev/stdout" else 2, text)
        elif problem := call.shell.write(name, text, more="a" in given):
            code = yield from wrong(call, problem)
    yield Wrote(1, text)
    return code


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
            return MISSING if bash else 2
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


def _timeout(call: Call) -> Running:
    words = [word for word in call.arguments if not word.startswith("-")]
    return (yield from call.shell.invoke(words[1:], call.stdin)) if len(words) > 1 else 0


def number_of(text: str | None, default: int) -> int:
    """Return a whole number; the default where there is none."""
    return int(text) if text and re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else default


TEXT: Final[dict[str, Program]] = {
    "cat": _cat, "tee": _tee, "sleep": _sleep, "usleep": _ends(0), "sync": _ends(0), "which": _which,
    "timeout": _timeout, **dict.fromkeys(SHELLS, _sh),
}  # fmt: skip
