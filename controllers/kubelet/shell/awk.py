"""`awk`: running programs.

Source: POSIX.1-2024, Utilities, awk, Extended description.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from controllers.kubelet.shell.awkread import Node, Rule, read
from controllers.kubelet.shell.escapes import unescaped
from controllers.kubelet.shell.interpreter import Call
from controllers.kubelet.shell.patterns import compiled
from controllers.kubelet.shell.printing import formatted
from controllers.kubelet.shell.programs import inputs, wrong
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX, Running, Wrote
from controllers.kubelet.shell.tree import SyntaxProblem, Unplayable
from controllers.kubelet.shell.variables import ARRAY_LENGTH_MAX

_NUMBER: Final = re.compile(r"\s*[-+]?(\d{1,18}\.?\d{0,18}|\.\d{1,18})([eE][-+]?\d{1,2})?", re.ASCII)
_FIELDS_MAX: Final = 1_000

WORK_OF_STEP: Final = 50
"""Values and statements of a program that count as one command of a script."""

Value = str | float


class _Input(str):
    """A text that was read: where it looks like a number, it compares like one."""

    __slots__ = ()


class _Jump(Exception):
    """`next`, `exit`, `break`, `continue`."""

    def __init__(self, word: str, code: int = 0) -> None:
        super().__init__(word)
        self.word, self.code = word, code


def awk(call: Call) -> Running:
    """Run `awk [-F MARK] [-v NAME=VALUE] PROGRAM [FILE]…`."""
    sets: list[tuple[str, str]] = []
    words = list(call.arguments)
    while words and words[0].startswith("-") and words[0] not in ("-", "--"):
        word = words.pop(0)
        if word[:2] not in ("-F", "-v"):
            raise Unplayable(f"awk {word[:20]} is nothing that this simulation knows")
        text = word[2:] or (words.pop(0) if words else "")
        name, _, value = ("FS", "", text) if word[1] == "F" else text.partition("=")
        sets.append((name, "\t" if (name, value) == ("FS", "t") else unescaped(value)))
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        return (yield from wrong(call, "usage: awk [-F FS] [-v VAR=VALUE] 'PROGRAM' [FILE]...", 2))
    try:
        rules = read(words[0])
    except Unplayable:
        raise
    except SyntaxProblem as problem:
        yield Wrote(2, f"{problem}\n")
        return 2
    running = _Awk(rules, call.shell.spend, call.shell.environment())
    running.names |= {name: _Input(value) for name, value in sets}
    lines: list[str] = []
    code = 0
    if any(rule.when != "BEGIN" for rule in rules):
        for name, held in (yield from inputs(call, words[1:])):
            if held is None:
                code = yield from wrong(call, f"cannot open {name} (No such file or directory)", 2)
            else:
                lines += held.splitlines()
                running.names["FILENAME"] = "" if name == "-" else name
    printed = "".join(running.run(lines))
    yield Wrote(1, printed[:VALUE_LENGTH_MAX])
    return running.code or code


class _Awk:
    """A program while it runs."""

    def __init__(self, rules: list[Rule], spend: Callable[[int], None], environment: dict[str, str]) -> None:
        self._rules, self._spend = rules, spend
        self.names: dict[str, Value] = {"FS": " ", "OFS": " ", "ORS": "\n", "NR": 0.0, "NF": 0.0, "SUBSEP": "\034"}
        held: dict[str, Value] = {name: _Input(text) for name, text in environment.items()}
        self._arrays: dict[str, dict[str, Value]] = {"ENVIRON": held}
        self._fields: list[str] = [""]
        self._between: set[int] = set()
        self.code = self._worked = 0

    def _works(self) -> None:
        """Count a statement or a value: so many are one step of the shell."""
        self._worked += 1
        if self._worked % WORK_OF_STEP == 0:
            self._spend(1)

    def run(self, lines: list[str]) -> Iterator[str]:
        if self.names.get("RS", "\n") != "\n":
            raise Unplayable("awk's RS is nothing that this simulation knows")
        try:
            yield from self._all("BEGIN")
            if self.names.get("RS", "\n") != "\n":
                raise Unplayable("awk's RS is nothing that this simulation knows")
            for number, line in enumerate(lines, 1):
                self.names["NR"] = self.names["FNR"] = float(number)
                self._take(line)
                try:
                    yield from self._all("")
                except _Jump as jump:
                    if jump.word != "next":
                        raise
        except _Jump as jump:
            self.code = jump.code
            if jump.word == "exit" and jump.code < 0:
                return
        try:
            yield from self._all("END")
        except _Jump as jump:
            self.code = jump.code

    def _all(self, when: str) -> Iterator[str]:
        for place, rule in enumerate(self._rules):
            if rule.when != when or not self._chosen(place, rule):
                continue
            if rule.body is None:
                yield f"{self._fields[0]}{self._text(self.names['ORS'])}"
            else:
                yield from self._block(rule.body)

    def _chosen(self, place: int, rule: Rule) -> bool:
        if rule.condition is None:
            return True
        if rule.last is None:
            return self._true(self._value(rule.condition))
        if place not in self._between:
            if not self._true(self._value(rule.condition)):
                return False
            self._between.add(place)
        if self._true(self._value(rule.last)):
            self._between.discard(place)
        return True

    # -- statements -------------------------------------------------------------------------------------------------

    def _block(self, nodes: tuple[Node, ...]) -> Iterator[str]:
        for node in nodes:
            yield from self._do(node)

    def _do(self, node: Node) -> Iterator[str]:
        self._works()
        match node:
            case ("block", tuple(nodes)):
                yield from self._block(nodes)
            case ("value", tuple(value)):
                self._value(value)
            case ("print", tuple(values)):
                texts = [self._text(self._value(one)) for one in values] or [self._fields[0]]
                yield self._text(self.names["OFS"]).join(texts) + self._text(self.names["ORS"])
            case ("printf", tuple(values)):
                texts = [self._text(self._value(one)) for one in values]
                yield formatted(texts[0] if texts else "", texts[1:])
            case ("if", tuple(condition), tuple(body), tuple(otherwise)):
                yield from self._do(body if self._true(self._value(condition)) else otherwise)
            case ("while", tuple(condition), tuple(body)):
                yield from self._loop(condition, None, body)
            case ("for", first, condition, step, tuple(body)):
                if first is not None:
                    self._value(first)
                yield from self._loop(condition, step, body)
            case ("each", str(name), str(array), tuple(body)):
                for key in list(self._arrays.get(array, {})):
                    self.names[name] = _Input(key)
                    if (yield from self._once(body)):
                        break
            case ("delete", str(name), index):
                if index is None:
                    self._arrays.pop(name, None)
                else:
                    self._arrays.get(name, {}).pop(self._key(index), None)
            case ("exit", value):
                raise _Jump("exit", 0 if value is None else int(self._number(self._value(value))) & 255)
            case _:
                raise _Jump(str(node[0]))

    def _loop(self, condition: Any, step: Any, body: Node) -> Iterator[str]:
        while condition is None or self._true(self._value(condition)):
            if (yield from self._once(body)):
                return
            if step is not None:
                self._value(step)

    def _once(self, body: Node) -> Any:
        """Run a body once; whether the loop is left."""
        try:
            yield from self._do(body)
        except _Jump as jump:
            if jump.word not in ("break", "continue"):
                raise
            return jump.word == "break"
        return False

    # -- values -----------------------------------------------------------------------------------------------------

    def _value(self, node: Any) -> Value:
        self._works()
        match node:
            case ("number" | "text", value):
                return value  # type: ignore[no-any-return]
            case ("pattern", str(text)):
                return float(self._fits(self._fields[0], text))
            case ("group", inner):
                return self._value(inner)
            case ("name", str(name)):
                return self.names.get(name, _Input(""))
            case ("field", number):
                return self._field(self._value(number))
            case ("element", str(name), index):
                return self._array(name).setdefault(self._key(index), _Input(""))
            case ("=", str(sign), target, value):
                return self._assigned(sign, target, value)
            case ("before" | "after" as when, str(sign), target):
                before = self._number(self._value(target))
                self._put(target, after := before + (1 if sign == "++" else -1))
                return after if when == "before" else before
            case ("?", condition, yes, no):
                return self._value(yes if self._true(self._value(condition)) else no)
            case ("||", left, right):
                return float(self._true(self._value(left)) or self._true(self._value(right)))
            case ("&&", left, right):
                return float(self._true(self._value(left)) and self._true(self._value(right)))
            case ("not", value):
                return float(not self._true(self._value(value)))
            case ("in", index, str(name)):
                return float(self._key(index) in self._arrays.get(name, {}))
            case ("~" | "!~" as sign, left, right):
                return float(self._fits(self._text(self._value(left)), self._pattern(right)) == (sign == "~"))
            case ("compare", str(sign), left, right):
                return float(self._compared(sign, self._value(left), self._value(right)))
            case ("join", left, right):
                joined = self._text(self._value(left)) + self._text(self._value(right))
                self._spend(len(joined) >> 12)
                return joined[:VALUE_LENGTH_MAX]
            case ("reckon", str(sign), left, right):
                return self._reckoned(sign, self._number(self._value(left)), self._number(self._value(right)))
            case ("call", str(name), tuple(arguments)):
                return self._called(name, arguments)
            case _:
                raise Unplayable("a program of awk uses what this simulation does not know")

    def _assigned(self, sign: str, target: Node, value: Node) -> Value:
        new = self._value(value)
        if sign:
            new = self._reckoned(sign, self._number(self._value(target)), self._number(new))
        self._put(target, new)
        return new

    def _put(self, target: Any, value: Value) -> None:
        match target:
            case ("name", str(name)):
                self.names[name] = value
                if name == "NF":
                    count = max(0, min(_FIELDS_MAX, int(self._number(value))))
                    self._fields = [*self._fields, *[""] * count][: count + 1]
                    self._rejoin()
            case ("element", str(name), index):
                array = self._array(name)
                array[self._key(index)] = value
                if len(array) > ARRAY_LENGTH_MAX:
                    raise Unplayable("an array is too long")
            case ("field", number):
                place = int(self._number(self._value(number)))
                if place == 0:
                    self._take(self._text(value))
                elif 0 < place < _FIELDS_MAX:
                    self._fields += [""] * (place + 1 - len(self._fields))
                    self._fields[place] = self._text(value)
                    self._rejoin()
            case _:
                raise Unplayable("a program of awk uses what this simulation does not know")

    def _rejoin(self) -> None:
        self._fields[0] = self._text(self.names["OFS"]).join(self._fields[1:])
        self.names["NF"] = float(len(self._fields) - 1)

    def _take(self, line: str) -> None:
        self._spend(len(line) >> 10)
        self._fields = [line, *self._split(line, self._text(self.names["FS"]))]
        self.names["NF"] = float(len(self._fields) - 1)

    def _split(self, text: str, mark: str) -> list[str]:
        if mark == " ":
            return text.split()
        if not text:
            return []
        if len(mark) == 1 and mark not in "\\":
            return text.split(mark)
        if not mark:
            return [*text]
        found, at = list[str](), 0
        for one in compiled(mark, posix=True).finditer(text):
            if one.end() > one.start():
                found.append(text[at : one.start()])
                at = one.end()
        return [*found, text[at:]]

    def _field(self, number: Value) -> Value:
        place = int(self._number(number))
        if place < 0:
            raise Unplayable("a field before the first is nothing that this simulation knows")
        return _Input(self._fields[place] if place < len(self._fields) else "")

    def _array(self, name: str) -> dict[str, Value]:
        return self._arrays.setdefault(name, {})

    def _key(self, index: Any) -> str:
        if index[0] == "list":
            return self._text(self.names["SUBSEP"]).join(self._text(self._value(one)) for one in index[1])
        return self._text(self._value(index))

    def _pattern(self, node: Any) -> str:
        return str(node[1]) if node[0] == "pattern" else self._text(self._value(node))

    def _fits(self, text: str, pattern: str) -> bool:
        self._spend(len(text) * len(pattern) >> 16)
        return compiled(pattern, posix=True).search(text) is not None

    def _true(self, value: Value) -> bool:
        if isinstance(value, _Input) and _NUMBER.fullmatch(value.strip()):
            return self._number(value) != 0
        return value not in ("", 0.0)

    def _number(self, value: Value) -> float:
        if isinstance(value, float):
            return value
        found = _NUMBER.match(value)
        return float(found[0]) if found else 0.0

    def _text(self, value: Value) -> str:
        if isinstance(value, str):
            return str(value)
        if value == int(value) and abs(value) < 1e16:
            return str(int(value))
        return f"{value:.6g}"

    def _compared(self, sign: str, left: Value, right: Value) -> bool:
        one: Any = self._text(left)
        other: Any = self._text(right)
        if _like_a_number(left) and _like_a_number(right):
            one, other = self._number(left), self._number(right)
        match sign:
            case "<":
                return bool(one < other)
            case "<=":
                return bool(one <= other)
            case "==":
                return bool(one == other)
            case "!=":
                return bool(one != other)
            case ">":
                return bool(one > other)
            case _:
                return bool(one >= other)

    def _reckoned(self, sign: str, left: float, right: float) -> float:
        try:
            value = {
                "+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right,
                "/": lambda: left / right, "%": lambda: math.fmod(left, right), "^": lambda: math.pow(left, right),
            }[sign]()  # fmt: skip
        except (ArithmeticError, ValueError) as problem:
            raise Unplayable("a program of awk divides by nothing, or reckons too far") from problem
        if not math.isfinite(value):
            raise Unplayable("a program of awk reckons too far")
        return value

    # -- functions --------------------------------------------------------------------------------------------------

    def _called(self, name: str, nodes: tuple[Node, ...]) -> Value:
        if name in ("sub", "gsub"):
            return self._replaced(nodes, every=name == "gsub")
        if name == "length" and nodes and nodes[0][0] == "name" and str(nodes[0][1]) in self._arrays:
            return float(len(self._arrays[str(nodes[0][1])]))
        if name == "split" and len(nodes) > 1:
            text = self._text(self._value(nodes[0]))
            mark = self._pattern(nodes[2]) if len(nodes) > 2 else self._text(self.names["FS"])
            pieces = self._split(text, mark)
            self._spend(len(pieces) >> 4)
            if len(pieces) > ARRAY_LENGTH_MAX:
                raise Unplayable("an array is too long")
            self._arrays[str(nodes[1][1])] = {str(at): _Input(piece) for at, piece in enumerate(pieces, 1)}
            return float(len(pieces))
        if name == "match" and len(nodes) > 1:
            found = compiled(self._pattern(nodes[1]), posix=True).search(self._text(self._value(nodes[0])))
            self.names["RSTART"] = 0.0 if found is None else found.start() + 1.0
            self.names["RLENGTH"] = -1.0 if found is None else float(found.end() - found.start())
            return self.names["RSTART"]
        values = [self._value(one) for one in nodes]
        first = self._text(values[0]) if values else self._fields[0]
        match name:
            case "length":
                return float(len(first))
            case "toupper":
                return first.upper()
            case "tolower":
                return first.lower()
            case "int":
                return float(int(self._number(values[0]))) if values else 0.0
            case "sqrt" if values and self._number(values[0]) >= 0:
                return math.sqrt(self._number(values[0]))
            case "index" if len(values) > 1:
                return float(first.find(self._text(values[1])) + 1)
            case "sprintf":
                return formatted(first, [self._text(one) for one in values[1:]])
            case "substr" if len(values) > 1:
                begin = round(self._number(values[1]))
                end = begin + round(self._number(values[2])) if len(values) > 2 else len(first) + 1
                return first[max(0, begin - 1) : max(0, end - 1)]
            case _:
                raise Unplayable(f"awk's {name} so is nothing that this simulation knows")

    def _replaced(self, nodes: tuple[Node, ...], *, every: bool) -> Value:
        target: Node = nodes[2] if len(nodes) > 2 else ("field", ("number", 0.0))
        if len(nodes) < 2:
            raise Unplayable("awk's sub so is nothing that this simulation knows")
        text, other = self._text(self._value(target)), self._text(self._value(nodes[1]))
        pattern = self._pattern(nodes[0])
        self._spend(len(text) * len(pattern) >> 16)
        parts, at, count = list[str](), 0, 0
        for found in compiled(pattern, posix=True).finditer(text):
            parts += (text[at : found.start()], _filled(other, found.group(0)))
            at, count = found.end(), count + 1
            if not every:
                break
        if count:
            self._put(target, "".join([*parts, text[at:]])[:VALUE_LENGTH_MAX])
        return float(count)


def _like_a_number(value: Value) -> bool:
    if isinstance(value, float):
        return True
    return isinstance(value, _Input) and (value == "" or _NUMBER.fullmatch(value.strip()) is not None)


def _filled(text: str, hit: str) -> str:
    return re.sub(r"\\?&", lambda one: "&" if len(one[0]) > 1 else hit, text)
