"""Words as they stand in a script, and what becomes of them.

Source: POSIX.1-2024, Shell Command Language, 2.6; the Bash Reference Manual, 3.5.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence
from functools import lru_cache

from controllers.kubelet.shell.arithmetic import value_of
from controllers.kubelet.shell.parameters import Segments, braced, cased, replaced, shown, trimmed
from controllers.kubelet.shell.running import Happening
from controllers.kubelet.shell.surroundings import Words
from controllers.kubelet.shell.tree import Output, Parameter, Part, Sum, Text, Unplayable, Word
from controllers.kubelet.shell.variables import Trouble

BLANKS = " \t\n"


Value = str | list[str] | Word
"""What a part comes to: a text, texts that stay apart, or a word that stands in its place."""

_Expanding = Generator[Happening, None, Value]


def text_of(shell: Words, word: Word) -> Generator[Happening, None, str]:
    """Return a word expanded to one text."""
    return "".join(text for text, _ in (yield from segments_of(shell, word)))


def segments_of(shell: Words, word: Word) -> Generator[Happening, None, Segments]:
    """Return a word expanded as a pattern: (letters, whether they are quoted)."""
    found: Segments = []
    for part in word:
        value = yield from _value(shell, part)
        if isinstance(value, tuple):
            found += yield from segments_of(shell, value)
        else:
            found.append((value if isinstance(value, str) else " ".join(value), part.quoted))
    shell.spend(sum(len(text) for text, _ in found) >> 12)
    return found


def fields_of(shell: Words, words: Sequence[Word]) -> Generator[Happening, None, list[str]]:
    """Return words expanded: braces, then what is not quoted is split, and stars stand for files."""
    found: list[str] = []
    for word in words:
        for one in braced(word) if shell.bash else [word]:
            fields = _Fields(shell.held("IFS"))
            yield from _fill(shell, fields, one, expanded=False)
            fields.close()
            for segments in fields.done:
                text = "".join(text for text, _ in segments)
                star = any(not quoted and letter in text for text, quoted in segments for letter in "*?[")
                names = shell.matching(segments) if star and "f" not in shell.options else None
                found += names or [text]
            shell.spend((len(fields.done) >> 6) + (sum(map(len, found[-len(fields.done) :])) >> 12))
    return found


class _Fields:
    """Fields while they are put together."""

    def __init__(self, separators: str | None) -> None:
        self.done: list[Segments] = []
        self._open: Segments | None = None
        self._separators = BLANKS if separators is None else separators

    def add(self, text: str, *, quoted: bool) -> None:
        if self._open is None:
            self._open = []
        self._open.append((text, quoted))

    def close(self) -> None:
        if self._open is not None:
            self.done.append(self._open)
        self._open = None

    def split(self, text: str) -> None:
        """Add a text that is split at separators."""
        pieces, begins, ends = split(text, self._separators)
        if begins:
            self.close()
        for number, piece in enumerate(pieces):
            if number:
                self.close()
            self.add(piece, quoted=False)
        if ends:
            self.close()


def _fill(shell: Words, fields: _Fields, word: Word, *, expanded: bool) -> Generator[Happening, None, None]:
    """Add a word's parts to fields; `expanded`: it stands in another one's place, so its letters are split too."""
    for part in word:
        value = yield from _value(shell, part)
        if isinstance(value, tuple):
            yield from _fill(shell, fields, value, expanded=True)
        elif isinstance(value, list):
            for number, one in enumerate(value):
                if number:
                    fields.close()
                if part.quoted:
                    fields.add(one, quoted=True)
                else:
                    fields.split(one)
        elif part.quoted or (isinstance(part, Text) and not expanded):
            fields.add(value, quoted=part.quoted)
        else:
            fields.split(value)


def split(text: str, separators: str) -> tuple[list[str], bool, bool]:
    """Return (pieces, whether a separator stands before them, whether one stands after them)."""
    if not separators:
        return ([text] if text else []), False, False
    blanks, between = _separators(separators)
    stripped = text.lstrip(blanks) if blanks else text
    begins = len(stripped) < len(text)
    inner = stripped.rstrip(blanks) if blanks else stripped
    ends = len(inner) < len(stripped)
    if not inner:
        return [], begins, ends
    pieces = between.split(inner)
    if not pieces[-1]:
        pieces.pop()
        ends = True
    return pieces, begins, ends


@lru_cache(maxsize=64)
def _separators(letters: str) -> tuple[str, re.Pattern[str]]:
    """Return (the blanks among separators, what stands between fields)."""
    blanks = "".join(letter for letter in letters if letter in BLANKS)
    others = re.escape("".join(letter for letter in letters if letter not in BLANKS))
    blank = f"[{re.escape(blanks)}]" if blanks else ""
    choices = [f"{blank}*[{others}]{blank}*" if blank else f"[{others}]"] if others else []
    return blanks, re.compile("|".join([*choices, *([f"{blank}+"] if blank else [])]))


# -- parts ----------------------------------------------------------------------------------------------------------


def _value(shell: Words, part: Part) -> _Expanding:
    match part:
        case Text(text, _):
            return text
        case Output(script, _, file):
            return (yield from shell.output_file(script) if file else shell.output(script))
        case Sum(expression, _):
            return str(value_of((yield from text_of(shell, expression)), shell))
        case Parameter():
            return (yield from _parameter(shell, part))


def _parameter(shell: Words, part: Parameter) -> _Expanding:
    value = yield from _looked_up(shell, part)
    if part.counted:
        return str(len(value or ""))
    how = part.how
    if how.lstrip(":") in ("-", "=", "?", "+") and how != ":":
        return (yield from _defaulted(shell, part, value))
    if value is None:
        if "u" in shell.options:
            why = "unbound variable" if shell.bash else "parameter not set"
            raise Trouble(f"{part.name}: {why}", 127 if shell.bash else 2)
        value = ""
    if how == ":":
        value = yield from _cut_out(shell, part, value)
    elif how:
        value = yield from _changed(shell, part, value)
    if isinstance(value, list) and part.quoted and (part.name == "*" or part.index == (Text("*", quoted=False),)):
        separators = shell.held("IFS")
        return (" " if separators is None else separators[:1]).join(value)
    return value


def _looked_up(shell: Words, part: Parameter) -> Generator[Happening, None, str | list[str] | None]:
    """Return what a name holds, before an operator changes it."""
    name, index = part.name, part.index
    whole = index in ((Text("@", quoted=False),), (Text("*", quoted=False),))
    if part.indirect and whole:
        return [str(key) for key in shell.elements(name)]
    if part.indirect:
        name, _, rest = (shell.variable(name) or "").partition("[")
        index = (Text(rest[:-1], quoted=True),) if rest.endswith("]") else None
        if not name:
            raise Trouble(f"{part.name}: invalid indirect expansion", 1)
        whole = rest in ("@]", "*]")
    if whole:
        return list(shell.elements(name).values())
    if index is not None:
        return shell.element(name, (yield from text_of(shell, index)))
    if name in ("@", "*"):
        return list(shell.arguments[1:])
    return shell.variable(name)


def _defaulted(shell: Words, part: Parameter, value: str | list[str] | None) -> _Expanding:
    empty = value is None or value == [] or (part.how[0] == ":" and not "".join(value))
    match part.how[-1]:
        case "+":
            return "" if empty else part.word
        case _ if not empty and value is not None:
            return value
        case "-":
            return part.word
        case "=":
            text = yield from text_of(shell, part.word)
            index = None if part.index is None else (yield from text_of(shell, part.index))
            shell.put(part.name, text, index)
            return text
        case _:
            text = (yield from text_of(shell, part.word)) or "parameter null or not set"
            raise Trouble(f"{part.name}: {text}", 127 if shell.bash else 2)


def _cut_out(shell: Words, part: Parameter, value: str | list[str]) -> Generator[Happening, None, str | list[str]]:
    """Return `${name:begin:length}`, of an array or the arguments the elements."""
    begin = value_of((yield from text_of(shell, part.word)), shell)
    length = None if part.other is None else value_of((yield from text_of(shell, part.other)), shell)
    if part.name in ("@", "*"):
        value = list(shell.arguments) or [shell.variable("0") or ""]
        if begin < 0:
            begin += len(value)
    elif begin < 0:
        begin += len(value)
    if begin < 0:
        return [] if isinstance(value, list) else ""
    if length is None:
        return value[begin:]
    if length < 0:
        if isinstance(value, list) or len(value) + length < begin:
            raise Trouble(f"{length}: substring expression < 0", 1)
        return value[begin : len(value) + length]
    return value[begin : begin + length]


def _changed(shell: Words, part: Parameter, value: str | list[str]) -> Generator[Happening, None, str | list[str]]:
    """Return a value with a pattern taken away or replaced, or in other letters; of texts each."""
    pattern = yield from segments_of(shell, part.word)
    other = yield from text_of(shell, part.other or ())
    texts = value if isinstance(value, list) else [value]
    shell.spend(sum(map(len, texts)) * sum(len(text) for text, _ in pattern) >> 16)
    found = list(_each(part.how, texts, pattern, other))
    return found if isinstance(value, list) else found[0]


def _each(how: str, texts: Iterable[str], pattern: Segments, other: str) -> Iterable[str]:
    name = "".join(text for text, _ in pattern)
    for text in texts:
        if how[0] in "#%":
            yield trimmed(text, how, pattern)
        elif how[0] == "/":
            yield replaced(text, how, pattern, other)
        elif how == "@" and name == "Q":
            yield shown(text) if "'" in text else f"'{text}'"
        elif how == "@" and name in ("U", "L", "u"):
            yield cased(text, {"U": "^^", "L": ",,", "u": "^"}[name])
        elif how != "@" and not name:
            yield cased(text, how)
        else:
            raise Unplayable(f"${{name{how}{name[:20]}}} is nothing that this simulated shell knows")
