"""`sed`: scripts that change lines, without branches and without the hold space.

Source: POSIX.1-2024, Utilities, sed; GNU sed for `-E`, `-i` and `I`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from controllers.kubelet.shell.escapes import unescaped
from controllers.kubelet.shell.interpreter import Call
from controllers.kubelet.shell.patterns import compiled, of_basic
from controllers.kubelet.shell.programs import inputs, wrong
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX, Running, Wrote
from controllers.kubelet.shell.tree import Unplayable

COMMANDS_MAX: Final = 100
"""Commands of one script; what a longer one does is not known."""

_REPLACEMENT: Final = re.compile(r"\\(\d)|\\(.)|&", re.DOTALL)


@dataclass(slots=True)
class _Address:
    line: int = 0
    """0: by pattern; -1: the last one."""
    pattern: Any = None
    step: int = 0

    def fits(self, number: int, text: str, last: bool) -> bool:
        if self.pattern is not None:
            return self.pattern.search(text) is not None
        if self.step:
            return number >= self.line and (number - self.line) % self.step == 0
        return last if self.line < 0 else number == self.line


@dataclass(slots=True)
class _Command:
    name: str
    first: _Address | None = None
    second: _Address | None = None
    negated: bool = False
    pattern: Any = None
    text: str = ""
    flags: str = ""
    within: bool = False
    """Whether the lines between both addresses go on."""

    def chosen(self, number: int, text: str, last: bool) -> bool:
        return self._chosen(number, text, last) != self.negated

    def _chosen(self, number: int, text: str, last: bool) -> bool:
        if self.first is None:
            return True
        if self.second is None:
            return self.first.fits(number, text, last)
        if self.within:
            self.within = not self.second.fits(number, text, last) and not 0 < self.second.line <= number
            return True
        if not self.first.fits(number, text, last):
            return False
        self.within = not 0 < self.second.line <= number and not last
        return True


class _Reader:
    """Reads a script."""

    def __init__(self, text: str, *, extended: bool) -> None:
        self._text, self._at, self._extended = text, 0, extended

    def commands(self) -> Iterator[_Command]:
        while True:
            self._skip(" \t\n;")
            if self._at >= len(self._text):
                return
            if self._text[self._at] == "#":
                self._rest()
                continue
            yield self._command()

    def _skip(self, letters: str) -> None:
        while self._at < len(self._text) and self._text[self._at] in letters:
            self._at += 1

    def _next(self) -> str:
        letter = self._text[self._at : self._at + 1]
        self._at += 1
        return letter

    def _rest(self) -> str:
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        text, self._at = self._text[self._at : end], end
        return text

    def _command(self) -> _Command:
        found = _Command("", self._address())
        self._skip(" \t")
        if found.first is not None and self._text[self._at : self._at + 1] == ",":
            self._at += 1
            self._skip(" \t")
            found.second = self._address()
            if found.second is None:
                raise ValueError("unexpected `,'")
        self._skip(" \t")
        if self._text[self._at : self._at + 1] == "!":
            self._at += 1
            found.negated = True
            self._skip(" \t")
        found.name = self._next()
        if found.name == "s":
            mark = self._next()
            found.pattern, text = self._until(mark), self._until(mark, replaces=True)
            found.text = text
            start = self._at
            while self._text[self._at : self._at + 1].isalnum():
                self._at += 1
            found.flags = self._text[start : self._at]
            found.pattern = self._compiled(found.pattern, folded=bool({"I", "i"} & set(found.flags)))
        elif found.name == "y":
            mark = self._next()
            found.pattern, found.text = unescaped(self._until(mark)), unescaped(self._until(mark))
            if len(found.pattern) != len(found.text):
                raise ValueError("strings for `y' command are different lengths")
        elif found.name in ("a", "i", "c"):
            self._skip(" \t")
            found.text = re.sub(r"^\\\n?\s*", "", self._rest())
        elif found.name not in ("p", "d", "q", "=", "Q"):
            if found.name in "{}:btTDGHhgNnPrRwWxlez" and found.name:
                raise Unplayable(f"sed's {found.name} is nothing that this simulation knows")
            raise ValueError(f"unknown command: `{found.name}'" if found.name else "missing command")
        return found

    def _address(self) -> _Address | None:
        letter = self._text[self._at : self._at + 1]
        if letter == "$":
            self._at += 1
            return _Address(-1)
        if letter == "/":
            self._at += 1
            return _Address(pattern=self._compiled(self._until("/"), folded=False))
        found = re.compile(r"(\d{1,9})(?:~(\d{1,9}))?", re.ASCII).match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return _Address(int(found[1]), step=int(found[2] or 0))

    def _until(self, mark: str, *, replaces: bool = False) -> str:
        """Read up to a mark; a mark after a backslash is the letter alone."""
        parts: list[str] = []
        bracket = False
        while self._at < len(self._text):
            letter = self._next()
            if letter == mark and not bracket:
                return "".join(parts)
            if letter == "\\":
                following = self._next()
                parts.append(following if following == mark else "\\" + following)
                continue
            if not replaces:
                bracket = letter == "[" or (bracket and letter != "]")
            parts.append(letter)
        raise ValueError("unterminated `s' command")

    def _compiled(self, text: str, *, folded: bool) -> Any:
        text = text.replace("\\n", "\n").replace("\\t", "\t")
        return compiled(text if self._extended else of_basic(text), posix=True, folded=folded)


def sed(call: Call) -> Running:
    """Run `sed [-n] [-E] [-i] [-e] SCRIPT [FILE]…`."""
    scripts, names, quiet, extended, within = _told(call)
    if not scripts:
        if not names:
            return (yield from wrong(call, "usage: sed [-n] [-E] [-i] SCRIPT [FILE]..."))
        scripts = [names.pop(0)]
    try:
        commands = list(_Reader("\n".join(scripts), extended=extended).commands())
    except ValueError as problem:
        if isinstance(problem, Unplayable):
            raise
        return (yield from wrong(call, f"-e expression #1: {problem}"))
    if len(commands) > COMMANDS_MAX:
        raise Unplayable("a script of sed is too long")
    code, texts = 0, [(name, text) for name, text in (yield from inputs(call, names))]
    for name, text in texts:
        if text is None:
            code = yield from wrong(call, f"can't read {name}: No such file or directory", 2)
    held = [(name, text) for name, text in texts if text is not None]
    if not within:
        held = [("-", "".join(text for _, text in held))]
    for name, text in held:
        call.shell.spend(1 + (len(text) * len(scripts[0]) >> 14))
        changed = "".join(_edited(text, commands, quiet=quiet))
        if not within:
            yield Wrote(1, changed)
        elif refused := call.shell.write(name, changed, more=False):
            code = yield from wrong(call, refused, 4)
    return code


def _told(call: Call) -> tuple[list[str], list[str], bool, bool, bool]:
    """Return (scripts, files, `-n`, `-E`, `-i`)."""
    scripts: list[str] = []
    names: list[str] = []
    flags = ""
    words = iter(call.arguments)
    for word in words:
        if word in ("-e", "--expression"):
            scripts.append(next(words, ""))
        elif word.startswith("--"):
            flags += {"--quiet": "n", "--silent": "n", "--regexp-extended": "E", "--in-place": "i"}.get(word, "?")
        elif word.startswith("-") and len(word) > 1:
            flags += "i" if word.startswith("-i") else word[1:]
            if word.endswith("e") and not word.startswith("-i"):
                scripts.append(next(words, ""))
        else:
            names.append(word)
    if set(flags) - set("nErieu"):
        raise Unplayable("sed with such options is nothing that this simulation knows")
    return scripts, names, "n" in flags, bool(set(flags) & {"E", "r"}), "i" in flags


def _edited(text: str, commands: list[_Command], *, quiet: bool) -> Iterator[str]:
    lines = text.splitlines()
    end = "\n" if text.endswith("\n") else ""
    room = VALUE_LENGTH_MAX
    for number, line in enumerate(lines, 1):
        last = number == len(lines)
        ended = end if last else "\n"
        shown, after, stops, deleted = line, list[str](), False, False
        for command in commands:
            if not command.chosen(number, shown, last):
                continue
            match command.name:
                case "s":
                    shown, hit = _replaced(shown, command)
                    if hit and "p" in command.flags:
                        yield shown + "\n"
                case "y":
                    shown = shown.translate(dict(zip(map(ord, command.pattern), command.text, strict=True)))
                case "p":
                    yield shown + "\n"
                case "=":
                    yield f"{number}\n"
                case "i":
                    yield command.text + "\n"
                case "a":
                    after.append(command.text + "\n")
                case "c":
                    yield command.text + "\n"
                    deleted = True
                case "d":
                    deleted = True
                case _:
                    stops, deleted = True, command.name == "Q"
            if deleted or stops:
                break
        if not quiet and not deleted:
            yield shown + ("\n" if after else ended)
            room -= len(shown)
        yield from after
        if stops or room < 0:
            return


def _replaced(line: str, command: _Command) -> tuple[str, bool]:
    numbers = re.sub(r"\D", "", command.flags)
    wanted = int(numbers[:6]) if numbers else 1
    parts: list[str] = []
    at = count = 0
    for found in command.pattern.finditer(line):
        count += 1
        if count < wanted:
            continue
        parts += (line[at : found.start()], _filled(command.text, found))
        at = found.end()
        if "g" not in command.flags:
            break
    return ("".join([*parts, line[at:]])[:VALUE_LENGTH_MAX], bool(parts)) if parts else (line, False)


def _filled(text: str, found: Any) -> str:
    groups = (found.group(0), *found.groups())

    def put(one: re.Match[str]) -> str:
        if one[1]:
            number = int(one[1])
            return (groups[number] or "") if number < len(groups) else ""
        if one[2]:
            return {"n": "\n", "t": "\t"}.get(one[2], one[2])
        return str(groups[0])

    return _REPLACEMENT.sub(put, text)
