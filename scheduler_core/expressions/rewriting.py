"""What the language has upstream and its runtime here has not, said with what it has.

Loops over two variables (cel-go/ext, comprehensions.go) become loops over one: `l.all(i, v, p)` is
`keys(l).all(i, [l[i]].all(v, p))`. Optionals that functions of upstream's own answer are made of empty values, and
`string` is a function of ours, which takes addresses too. What was written stays known letter by letter, so that
complaints point at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from scheduler_core.expressions.addresses import CIDR, IP
from scheduler_core.expressions.declaring import NO_OVERLOAD, Function, Way, part
from scheduler_core.expressions.formatting import formatted
from scheduler_core.expressions.named import NAMED, VALIDATE

REWRITTEN_CHARS_MAX: Final = 40_000
"""Characters of what is made of an expression; loops over loops repeat what they go over."""

KEYS: Final = "_k8s_keys_"
_MAP: Final = "_k8s_map_"
_MERGED: Final = "_k8s_merged_"
_STRING: Final = "strinG"

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<string>[rRbB]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[0-9][0-9A-Za-z.]*)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_OPEN: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSED: Final = frozenset(_OPEN.values())


class RewriteError(ValueError):
    """A loop over two variables that is none.

    Attributes:
        offset: where, in characters of what was written.
    """

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(why)
        self.offset = offset


class Rewritten(NamedTuple):
    """An expression as it is compiled.

    Attributes:
        text: what is compiled.
        source: what was written.
        origins: of each character of the text, and of its end, where it stood.
    """

    text: str
    source: str
    origins: Sequence[int]

    def origin(self, offset: int) -> int:
        """Return where something stood that stands there in the text."""
        return self.origins[min(max(offset, 0), len(self.origins) - 1)]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Call(NamedTuple):
    """A method's call: its operand, name and arguments, as spans of the text."""

    name: str
    operand: tuple[int, int]
    dot: int
    arguments: tuple[tuple[int, int], ...]
    end: int


_Piece = str | tuple[int, int]
"""Letters of ours, or a span of what stands there."""


def _tokens(text: str) -> list[_Token]:
    found = (_Token(match.lastgroup or "", match[0], match.start(), match.end()) for match in _TOKEN.finditer(text))
    return [one for one in found if one.kind != "space"]


def _partners(tokens: Sequence[_Token]) -> dict[int, int]:
    """Return of each bracket the index of the other one; of a bracket without another nothing."""
    open_: list[int] = []
    pairs: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in _OPEN:
            open_.append(index)
        elif token.text in _CLOSED and open_:
            begun = open_.pop()
            pairs[begun], pairs[index] = index, begun
    return pairs


def _begin(tokens: Sequence[_Token], pairs: Mapping[int, int], at: int) -> int:
    """Return the index of the token where the operand begins that ends before a token."""
    index = at - 1
    while index >= 0:
        token = tokens[index]
        if token.text in ("]", ")", "}") and token.kind == "sign":
            begun = pairs.get(index, 0)
            before = tokens[begun - 1] if begun else None
            if before is not None and before.kind == "name" and before.text not in ("in",):
                index = begun - 1
                continue
            if token.text == "]" and before is not None and (before.text in _CLOSED or before.kind == "string"):
                index = begun - 1
                continue
            return begun
        dot = index - 1
        if dot >= 0 and tokens[dot].text == "?" and dot and tokens[dot - 1].text == ".":
            dot -= 1
        if dot >= 0 and tokens[dot].text == "." and tokens[dot].kind == "sign" and token.kind == "name":
            if not dot:
                return dot
            index = dot - 1
            continue
        return index
    return 0


def _arguments(tokens: Sequence[_Token], pairs: Mapping[int, int], begun: int) -> tuple[tuple[int, int], ...]:
    """Return the spans of a call's arguments, whose bracket stands there."""
    end = pairs[begun]
    spans, start, index = [], begun + 1, begun + 1
    while index < end:
        if tokens[index].text in _OPEN and tokens[index].kind == "sign" and index in pairs:
            index = pairs[index]
        elif tokens[index].text == "," and tokens[index].kind == "sign":
            spans.append((tokens[start].start, tokens[index].start))
            start = index + 1
        index += 1
    if start < end:
        spans.append((tokens[start].start, tokens[end].start))
    return tuple(spans)


def _holds(over: _Piece, loop: str, call: _Call) -> list[_Piece]:
    """Return whether the last argument holds: for the pair of each key, where `loop` is over the keys."""
    first, second, body = call.arguments
    inner = "all" if loop == "all" else "exists"
    return [f"{KEYS}(", over, f").{loop}(", first, ", [", over, "[", first, f"]].{inner}(", second, ", ", body, "))"]


def _each(over: _Piece, call: _Call, *, pairs: bool = False) -> list[_Piece]:
    """Return the list of what the last argument comes to where the one before it holds; `pairs`: behind its key."""
    first, second, *conditions, body = call.arguments
    made: list[_Piece] = [f"{KEYS}(", over, ")"]
    for condition in conditions:
        made += [".filter(", first, ", [", over, "[", first, "]].all(", second, ", ", condition, "))"]
    value: list[_Piece] = ["[", over, "[", first, "]].map(", second, ", ", body, ")[0]"]
    if pairs:
        value = ["[dyn(", first, "), dyn(", *value, ")]"]
    return [*made, ".map(", first, ", ", *value, ")"]


def _loop(text: str, call: _Call) -> list[_Piece] | None:
    """Return what a loop over two variables is said with; None: it is none."""
    over, count = call.operand, len(call.arguments)
    match call.name:
        case "all" | "exists" | "exists_one" if count == 3:
            made = _holds(over, call.name, call)
        case "existsOne" if count == 3:
            made = _holds(over, "exists_one", call)
        case "transformList" if count in (3, 4):
            made = _each(over, call)
        case "transformMap" if count in (3, 4):
            made = [f"{_MAP}(", *_each(over, call, pairs=True), ")"]
        case "transformMapEntry" if count in (3, 4):
            made = [f"{_MERGED}(", *_each(over, call), ")"]
        case _:
            return None
    names = []
    for start, end in call.arguments[:2]:
        name = text[start:end].strip()
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            point = name.find(".")
            raise RewriteError(start + max(point, 0), "argument must be a simple name")
        names.append(name)
    if names[0] == names[1]:
        raise RewriteError(call.arguments[1][0], f"duplicate variable name: {names[1]}")
    return made


def _own(text: str, call: _Call) -> list[_Piece] | None:
    """Return what calls a function whose answer upstream is an optional; None: it is no such call."""
    if len(call.arguments) != 1:
        return None
    if call.name == "validate":
        return ["optional.ofNonZeroValue(", call.operand, f".{VALIDATE}(", call.arguments[0], "))"]
    if call.name == "named" and text[slice(*call.operand)] == "format":
        return ["optional.ofNonZeroValue(", call.operand, f".{NAMED}(", call.arguments[0], "))"]
    return None


def _first_call(text: str) -> tuple[_Call, list[_Piece]] | None:
    tokens = _tokens(text)
    pairs = _partners(tokens)
    for index in range(1, len(tokens) - 1):
        token = tokens[index]
        if token.kind != "name" or tokens[index - 1].text != "." or tokens[index + 1].text != "(":
            continue
        if token.text not in _NAMES or index + 1 not in pairs or index < 2:
            continue
        begun = _begin(tokens, pairs, index - 1)
        span = (tokens[begun].start, tokens[index - 2].end)
        arguments = _arguments(tokens, pairs, index + 1)
        call = _Call(token.text, span, tokens[index - 1].start, arguments, tokens[pairs[index + 1]].end)
        made = _own(text, call) or _loop(text, call)
        if made is not None:
            return call, made
    return None


_OFTEN: Final = frozenset({"all", "exists", "exists_one"})
_NAMES: Final = _OFTEN | {"existsOne", "transformList", "transformMap", "transformMapEntry", "validate", "named"}


def rewritten(source: str, optionals: frozenset[str] = frozenset()) -> Rewritten:
    """Return what an expression is compiled as.

    Args:
        source: what was written.
        optionals: variables that are optionals: lists of one value, or of none, of which the first is asked for.

    Raises:
        RewriteError: a loop names no variables, or it is too long.
    """
    text, origins = source, list(range(len(source) + 1))
    if any(name in source for name in _NAMES - _OFTEN) or source.count(",") > 1:
        while found := _first_call(text):
            call, made = found
            try:
                text, origins = _replaced(text, origins, call, made)
            except RewriteError as wrong:
                raise RewriteError(origins[wrong.offset], str(wrong)) from wrong
            if len(text) > REWRITTEN_CHARS_MAX:
                raise RewriteError(0, f"expression code point size exceeds limit: limit {REWRITTEN_CHARS_MAX}")
    for token, after in _names(text, optionals):
        if token.text in optionals:
            pieces = (slice(0, token.end), slice(token.end, None))
            letters, places = ([whole[piece] for piece in pieces] for whole in (text, list(origins)))
            text, origins = f"{letters[0]}[?0]{letters[1]}", [*places[0], *[origins[token.start]] * 4, *places[1]]
        elif after == "(":
            text = text[: token.start] + _STRING + text[token.end :]
    return Rewritten(text, source, origins)


def _names(text: str, optionals: frozenset[str]) -> Iterator[tuple[_Token, str]]:
    """Yield where optionals and `string` stand, the last one first, and what stands behind each."""
    wanted = optionals | {"string"}
    if not any(name in text for name in wanted):
        return
    tokens = _tokens(text)
    for index in range(len(tokens) - 1, -1, -1):
        token, before = tokens[index], tokens[index - 1].text if index else ""
        if token.kind == "name" and token.text in wanted and before != ".":
            yield token, tokens[index + 1].text if index + 1 < len(tokens) else ""


_LOOSER: Final = frozenset("&|?:,<>=!([{")
"""Where the left operand of a comparison begins: behind one of these."""


def loosened(given: Rewritten, offset: int) -> Rewritten:
    """Return an expression in which nothing is known of the left operand of the comparison that stands there."""
    tokens = _tokens(given.text)
    pairs = _partners(tokens)
    index = next(at for at, token in enumerate(tokens) if token.end > offset)
    end = tokens[index - 1].end
    while index > 0:
        token = tokens[index - 1]
        if token.kind == "sign" and token.text in _CLOSED:
            index = pairs.get(index - 1, 0)
            continue
        optional = token.text == "?" and index > 1 and tokens[index - 2].text == "."
        if (token.kind == "sign" and token.text in _LOOSER and not optional) or token.text == "in":
            break
        index -= 1
    start = tokens[index].start
    text = f"{given.text[:start]}dyn({given.text[start:end]}){given.text[end:]}"
    origins = given.origins
    return Rewritten(
        text,
        given.source,
        [*origins[:start], *[origins[start]] * 4, *origins[start:end], origins[end - 1], *origins[end:]],
    )


def _replaced(text: str, origins: Sequence[int], call: _Call, made: Sequence[_Piece]) -> tuple[str, list[int]]:
    start, end = call.operand[0], call.end
    letters: list[str] = [text[:start]]
    places: list[int] = list(origins[:start])
    for piece in made:
        if isinstance(piece, str):
            letters.append(piece)
            places += [origins[call.dot]] * len(piece)
        else:
            letters.append(text[slice(*piece)])
            places += origins[slice(*piece)]
    letters.append(text[end:])
    return "".join(letters), [*places, *origins[end:]]


def _mapped(pairs: Sequence[Sequence[Any]]) -> dict[Any, Any]:
    return dict(pairs)  # type: ignore[arg-type]


def _merged(entries: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for entry in entries:
        for key, value in entry.items():
            if key in made:
                raise ValueError(f"insert failed: key {key} already exists")
            made[key] = value
    return made


def _string(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(part(value, IP) if IP in value else part(value, CIDR))
    if isinstance(value, str | bytes | bytearray | bool | int | float | datetime | timedelta):
        return formatted("%s", [value])
    raise ValueError(NO_OVERLOAD)


_STRINGS: Final = (IP, CIDR, "bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")

FUNCTIONS: Final = (
    Function(
        KEYS,
        Way("list<int>", ("list<dyn>",), lambda elements: list(range(len(elements)))),
        Way("list<dyn>", ("map<dyn,dyn>",), lambda entries: list(entries)),
    ),
    Function(_MAP, Way("map<dyn,dyn>", ("list<list<dyn>>",), _mapped)),
    Function(_MERGED, Way("map<dyn,dyn>", ("list<map<dyn,dyn>>",), _merged)),
    Function(_STRING, *(Way("string", (kind,), _string) for kind in _STRINGS)),
)

SPELLED: Final[Mapping[str, str]] = {_STRING: "string", VALIDATE: "validate", NAMED: "named"}
"""What complaints call a function of ours, as it was written."""
