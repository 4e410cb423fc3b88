"""`awk`: reading programs, as far as they are known here: functions of one's own, `getline` and redirections are not.

Source: POSIX.1-2024, Utilities, awk, Grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from controllers.kubelet.shell.escapes import unescaped
from controllers.kubelet.shell.tree import SyntaxProblem, Unplayable

TOKENS_MAX: Final = 2_000
"""Words and signs of a program of `awk`; what a longer one does is not known."""

DEPTH_MAX: Final = 16
"""Statements and values within each other; what a deeper program of `awk` does is not known."""

NODES_DEEP_MAX: Final = 100
"""Signs of one value that follow each other."""

_TOKEN: Final = re.compile(
    r"[ \t]*(?:(?P<number>0[xX][0-9A-Fa-f]{1,12}|(?:\d{1,15}\.?\d{0,15}|\.\d{1,15})(?:[eE][-+]?\d{1,2})?)"
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)'
    r"|(?P<sign>\|\||&&|\+\+|--|[-+*/%^=!<>]=|!~|[-+*/%^!<>~?:=$(),;{}\[\]|\n])|(?P<rest>\\\n|\#[^\n]*))",
    re.ASCII,
)
_KEYWORDS: Final = frozenset({
    "BEGIN", "END", "if", "else", "while", "for", "in", "print", "printf", "next", "exit", "do", "break", "continue",
    "delete", "function", "func", "getline", "return",
})  # fmt: skip
FUNCTIONS: Final = frozenset({
    "length", "substr", "index", "split", "toupper", "tolower", "sub", "gsub", "int", "sprintf", "match", "sqrt",
})  # fmt: skip
_VALUE_BEFORE: Final = frozenset({")", "]", "$", "++", "--"})

Node = tuple[object, ...]
"""A name, and what belongs to it: `("number", 1.0)`, `("+", left, right)`, `("print", (values))` …"""


@dataclass(frozen=True, slots=True)
class Rule:
    """When something is done: `BEGIN`, `END`, a condition, or always; `last`: of lines from one to another."""

    when: str
    condition: Node | None
    body: tuple[Node, ...] | None
    last: Node | None = None


def read(text: str) -> list[Rule]:
    """Return a program.

    Raises:
        SyntaxProblem: it is none.
        Unplayable: it uses what is not known here.
    """
    rules = _Reader(_tokens(text)).rules()
    left: list[tuple[object, int]] = [(part, 0) for rule in rules for part in (rule.condition, rule.last, rule.body)]
    while left:
        part, depth = left.pop()
        if depth > NODES_DEEP_MAX:
            raise Unplayable("a program of awk is too deep")
        if isinstance(part, tuple):
            left += [(one, depth + 1) for one in part]
    return rules


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        if len(found) > TOKENS_MAX:
            raise Unplayable("a program of awk is too long")
        one = _TOKEN.match(text, at)
        if one is None:
            if not text[at:].strip():
                break
            raise SyntaxProblem(f"awk: syntax error at {text[at : at + 20]!r}")
        at = one.end()
        if one["sign"] in ("/", "/=") and not _is_value(found):
            expression = re.compile(r"((?:[^/\\\n\[]|\\.|\[\^?\]?[^\]]*\])*)/").match(text, at - len(one["sign"]) + 1)
            if expression is None:
                raise SyntaxProblem("awk: unterminated regexp")
            found.append(("pattern", expression[1]))
            at = expression.end()
        elif one["number"]:
            found.append(("number", one["number"]))
        elif one["text"] is not None:
            found.append(("text", unescaped(one["text"].replace("\\/", "/"))))
        elif one["name"]:
            name = one["name"]
            kind = "word" if name in _KEYWORDS else "function" if name in FUNCTIONS else "name"
            if kind == "name" and text[at : at + 1] == "(":
                raise Unplayable(f"awk's {name} is nothing that this simulation knows")
            found.append((kind, name))
        elif one["sign"]:
            found.append(("sign", one["sign"]))
    return found


def _is_value(found: list[tuple[str, str]]) -> bool:
    kind, text = found[-1] if found else ("", "")
    return kind in ("number", "text", "name") or (kind == "sign" and text in _VALUE_BEFORE)


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0
        self._within = 0
        """In how many brackets it is: there `>` compares."""

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _sees(self, *texts: str) -> bool:
        kind, text = self._peek()
        return kind in ("sign", "word") and text in texts

    def _skip(self, *texts: str) -> str:
        if not self._sees(*texts):
            return ""
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _need(self, text: str) -> None:
        if not self._skip(text):
            raise self._wrong()

    def _wrong(self) -> SyntaxProblem:
        kind, text = self._peek()
        if text in ("function", "func", "getline", "return", "do", "|"):
            return Unplayable(f"awk's {text} is nothing that this simulation knows")
        return SyntaxProblem(f"awk: syntax error at or near {'end of program' if kind == 'end' else text!r}")

    def _ends(self) -> None:
        while self._skip(";", "\n"):
            pass

    def rules(self) -> list[Rule]:
        found: list[Rule] = []
        self._ends()
        while self._peek()[0] != "end":
            if when := self._skip("BEGIN", "END"):
                found.append(Rule(when, None, self._block()))
            elif self._sees("{"):
                found.append(Rule("", None, self._block()))
            else:
                condition = self._value()
                last = None
                if self._skip(","):
                    last = self._value()
                found.append(Rule("", condition, self._block() if self._sees("{") else None, last))
            self._ends()
        return found

    def _block(self) -> tuple[Node, ...]:
        self._need("{")
        found: list[Node] = []
        self._ends()
        while not self._skip("}"):
            found.append(self._statement())
            self._ends()
        return tuple(found)

    def _statement(self) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise Unplayable("a program of awk is too deep")
        node = self._inner()
        self._depth -= 1
        return node

    def _inner(self) -> Node:
        if self._sees("{"):
            return ("block", self._block())
        match self._skip("if", "while", "for", "next", "exit", "break", "continue", "delete", "print", "printf"):
            case "if":
                condition, body = self._bracketed(), self._body()
                mark = self._at
                self._ends()
                if self._skip("else"):
                    return ("if", condition, body, self._body())
                self._at = mark
                return ("if", condition, body, ("block", ()))
            case "while":
                return ("while", self._bracketed(), self._body())
            case "for":
                return self._for()
            case "exit":
                return ("exit", None if self._sees(";", "\n", "}") or self._peek()[0] == "end" else self._value())
            case "next" | "break" | "continue" as word:
                return (word,)
            case "delete":
                _, name = self._peek()
                self._at += 1
                return ("delete", name, self._index() if self._sees("[") else None)
            case "print" | "printf" as word:
                return self._print(word)
            case _:
                return ("value", self._value())

    def _body(self) -> Node:
        while self._skip("\n"):
            pass
        return ("block", ()) if self._skip(";") else self._statement()

    def _bracketed(self) -> Node:
        self._need("(")
        self._within += 1
        value = self._value()
        self._within -= 1
        self._need(")")
        return value

    def _for(self) -> Node:
        self._need("(")
        ahead = [text for _, text in self._tokens[self._at : self._at + 4]]
        if len(ahead) == 4 and ahead[1] == "in" and ahead[3] == ")":
            self._at += 4
            return ("each", ahead[0], ahead[2], self._body())
        self._within += 1
        first = None if self._sees(";") else self._value()
        self._need(";")
        condition = None if self._sees(";") else self._value()
        self._need(";")
        step = None if self._sees(")") else self._value()
        self._within -= 1
        self._need(")")
        return ("for", first, condition, step, self._body())

    def _print(self, word: str) -> Node:
        values: list[Node] = []
        if not (self._sees(";", "\n", "}") or self._peek()[0] == "end"):
            values.append(self._value())
            while self._skip(","):
                values.append(self._value())
        if len(values) == 1 and values[0][0] == "list":
            values = list(values[0][1])  # type: ignore[call-overload]
        if self._sees(">", "|"):
            raise Unplayable("what awk prints to a file or a program is not known here")
        return (word, tuple(values))

    # -- values -------------------------------------------------------------------------------------------------

    def _value(self) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise Unplayable("a program of awk is too deep")
        left = self._choice()
        if left[0] in ("name", "element", "field") and (sign := self._skip("=", "+=", "-=", "*=", "/=", "%=", "^=")):
            left = ("=", sign[:-1], left, self._value())
        self._depth -= 1
        return left

    def _choice(self) -> Node:
        condition = self._either()
        if not self._skip("?"):
            return condition
        yes = self._value()
        self._need(":")
        return ("?", condition, yes, self._value())

    def _either(self) -> Node:
        left = self._both()
        while self._skip("||"):
            left = ("||", left, self._both())
        return left

    def _both(self) -> Node:
        left = self._member()
        while self._skip("&&"):
            left = ("&&", left, self._member())
        return left

    def _member(self) -> Node:
        left = self._fits()
        while self._skip("in"):
            left = ("in", left, self._peek()[1])
            self._at += 1
        return left

    def _fits(self) -> Node:
        left = self._compared()
        while sign := self._skip("~", "!~"):
            left = (sign, left, self._compared())
        return left

    def _compared(self) -> Node:
        left = self._joined()
        signs = ("<", "<=", "==", "!=", ">=") + ((">",) if self._within else ())
        if sign := self._skip(*signs):
            left = ("compare", sign, left, self._joined())
        elif self._sees(">") and self._depth == 1:
            self._at += 1
            left = ("compare", ">", left, self._joined())
        return left

    def _joined(self) -> Node:
        left = self._added()
        while self._peek()[0] in ("number", "text", "name", "function") or self._sees("$", "(", "++", "--"):
            left = ("join", left, self._added())
        return left

    def _added(self) -> Node:
        left = self._times()
        while sign := self._skip("+", "-"):
            left = ("reckon", sign, left, self._times())
        return left

    def _times(self) -> Node:
        left = self._signed()
        while sign := self._skip("*", "/", "%"):
            left = ("reckon", sign, left, self._signed())
        return left

    def _signed(self) -> Node:
        if sign := self._skip("!", "-", "+"):
            self._depth += 1
            if self._depth > DEPTH_MAX:
                raise Unplayable("a program of awk is too deep")
            value = self._signed()
            self._depth -= 1
            return ("not", value) if sign == "!" else ("reckon", sign, ("number", 0.0), value)
        left = self._after()
        return ("reckon", "^", left, self._signed()) if self._skip("^") else left

    def _after(self) -> Node:
        if sign := self._skip("++", "--"):
            return ("before", sign, self._one())
        value = self._one()
        if value[0] in ("name", "element", "field") and (sign := self._skip("++", "--")):
            return ("after", sign, value)
        return value

    def _one(self) -> Node:
        kind, text = self._peek()
        self._at += 1
        match kind, text:
            case "number", _:
                return ("number", float(int(text, 16)) if text[:2] in ("0x", "0X") else float(text))
            case (("text" | "pattern"), _):
                return (kind, text)
            case "function", _:
                return ("call", text, self._arguments() if self._sees("(") else ())
            case "name", _:
                return ("element", text, self._index()) if self._sees("[") else ("name", text)
            case "sign", "$":
                self._depth += 1
                if self._depth > DEPTH_MAX:
                    raise Unplayable("a program of awk is too deep")
                value = self._after() if not self._sees("-") else self._signed()
                self._depth -= 1
                return ("field", value) if value[0] != "after" else ("after", value[1], ("field", value[2]))
            case "sign", "(":
                self._within += 1
                values = [self._value()]
                while self._skip(","):
                    values.append(self._value())
                self._within -= 1
                self._need(")")
                return ("group", values[0]) if len(values) == 1 else ("list", tuple(values))
            case _:
                self._at -= 1
                raise self._wrong()

    def _index(self) -> Node:
        self._need("[")
        self._within += 1
        values = [self._value()]
        while self._skip(","):
            values.append(self._value())
        self._within -= 1
        self._need("]")
        return values[0] if len(values) == 1 else ("list", tuple(values))

    def _arguments(self) -> tuple[Node, ...]:
        self._need("(")
        self._within += 1
        found: list[Node] = []
        while not self._skip(")"):
            found.append(self._value())
            if not self._skip(",") and not self._sees(")"):
                raise self._wrong()
        self._within -= 1
        return tuple(found)
