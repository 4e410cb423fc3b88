"""Compiles expressions, and evaluates them for one pod and one node.

The language is CEL as its makers' own C++ runtime has it (package `cel-expr-python`), with optionals and the `math`
extension. It has no functions that call out of it, no clock and no chance; regular expressions are RE2's, which take
linear time; texts deeper than 32 levels are refused and 10,000 turns of loops are the most that it makes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import mul
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from cel_expr_python import cel
from cel_expr_python.ext import ext_math, ext_optional

from scheduler_core.cel.check import Facts, examine
from scheduler_core.cel.kinds import VARIABLES, Kind, there_are
from scheduler_core.cel.syntax import read_tree

EXPRESSION_CHARS_MAX: Final = 2_000
"""Characters of one expression; a longer one is refused."""

COST_PER_NODE_MAX: Final = 1_000_000
"""Units of work that one expression may cost for one node, estimated from above: a unit is an operation, or the look at
one value of a document inside an operation. Costlier: the attempt ends with an error."""

COST_PER_CYCLE_MAX: Final = 10_000_000
"""Units of work, some seconds of one processor, that all filters of a profile may cost for all nodes in one attempt,
trying victims included; each node, each expression there and each time it is asked has an equal share. Costlier: as
above."""

ASKED_MIN: Final = 10
"""How often a node counts as asked in an attempt at least. A filter that looks at pods is asked once for each of them
while preemption gives victims back, so its share on a node is that of one question more than the node has pods."""

_TURNS_MAX: Final = 10_000

Wanted = Literal["bool", "number", "value"]
"""What an expression must come to; a value is a number, a text or a truth value."""

_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "bool": frozenset({"BOOL"}),
    "number": frozenset({"INT", "UINT", "DOUBLE"}),
    "value": frozenset({"INT", "UINT", "DOUBLE", "STRING", "BOOL"}),
}


class Dialect(NamedTuple):
    """What expressions of one place may name.

    Attributes:
        environment: the language with these names.
        variables: name → its kind.
        functions: name → the kind of what it answers.
    """

    environment: cel.Env
    variables: Mapping[str, Kind]
    functions: Mapping[str, Kind] = MappingProxyType({})


EXTENSIONS: Final = (ext_math.ExtMath(), ext_optional.ExtOptional())
"""What every dialect has beside the language itself."""

NODES: Final = Dialect(
    cel.NewEnv(
        variables={
            "pod": cel.Type("map<string,dyn>"),
            "node": cel.Type("map<string,dyn>"),
            "pods": cel.Type("list<map<string,dyn>>"),
            "requests": cel.Type("map<string,int>"),
            "requested": cel.Type("map<string,int>"),
            "allocatable": cel.Type("map<string,int>"),
        },
        extensions=EXTENSIONS,
    ),
    VARIABLES,
)
"""Of filters and scores: one pod and one node."""

_PLACED: Final = re.compile(r"^(?:[A-Z_]+: )?ERROR: <input>:(-?\d+):(-?\d+): (.*)$", re.MULTILINE)
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^'.]+)")
_FRAME: Final = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")


class Problem(NamedTuple):
    """Something wrong with an expression: where, both counted from 1, and what."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


class ExpressionError(ValueError):
    """An expression that cannot be compiled.

    Attributes:
        problems: at least one, in the order of the text.
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


class EvaluationError(Exception):
    """An expression that has no value for this pod and this node."""


class Size(NamedTuple):
    """How large what an expression looks at is.

    Attributes:
        values: single values; 64 characters of a text count as one.
        longest: elements of the longest list or map.
        text: the longest text, in values.
    """

    values: int
    longest: int = 0
    text: int = 0

    def with_(self, other: Size) -> Size:
        """Return the size of both together."""
        return Size(self.values + other.values, max(self.longest, other.longest), max(self.text, other.text))


class Program:
    """A compiled expression.

    Attributes:
        source: its text.
        wanted: what it comes to.
        reads: (variable, path of at most two members) of everything that it looks at.
    """

    def __init__(self, source: str, wanted: Wanted, compiled: cel.Expression, facts: Facts) -> None:
        self.source = source
        self.wanted: Wanted = wanted
        self.reads = frozenset(facts.reads)
        self._expression = compiled
        self._types = _TYPES[wanted]
        self._facts = facts

    def cost(self, size: Size) -> int:
        """Return the units of work that an evaluation takes at most."""
        facts = self._facts
        grown = 1 + facts.additions
        turns = [1]
        for _ in facts.light[1:]:
            turns.append(min(turns[-1] * max(size.longest, facts.longest, 1) * grown, _TURNS_MAX))
        text, scan = grown * (1 + size.text), grown * (size.longest + size.text)
        # Lists that the expression makes may hold everything there is, once an element.
        whole = grown * (1 + size.values) * (1 + sum(map(mul, facts.built, turns)))
        each = zip(turns, facts.light, facts.texts, facts.scans, facts.wholes, strict=True)
        return sum(
            often * (light + texts * text + scans * scan + wholes * whole)
            for often, light, texts, scans, wholes in each
        )

    def evaluate(self, variables: Mapping[str, Any], size: Size, shares: int) -> Any:
        """Return the value: a truth value, or a number.

        Args:
            variables: what the expression reads, at least; JSON values.
            size: how large that is.
            shares: nodes × expressions × times asked of the cycle, at least 1, that the work has to be shared among.

        Raises:
            EvaluationError: there is no value (a key that is missing, numbers out of range), it is of another type, or
                working it out would cost too much.
        """
        cost, most = self.cost(size), min(COST_PER_NODE_MAX, COST_PER_CYCLE_MAX // shares)
        if cost > most:
            text = (
                f"it takes up to {cost} units of work, and {most} is its share with so many nodes, pods and expressions"
            )
            raise EvaluationError(f"{text}; loop over less, or compare single values instead of lists and maps")
        try:
            found = self._expression.eval(data=variables)
            kind = found.type().name()
            if kind in self._types:
                return found.value()
            text = found.value() if kind == "ERROR" else ""
        except (RuntimeError, ValueError, TypeError) as wrong:
            raise EvaluationError(_FRAME.sub("", str(wrong).partition("\n")[0])) from wrong
        if text:
            raise EvaluationError(_FRAME.sub("", str(text).partition("\n")[0]))
        raise EvaluationError(f"it comes to {_named(kind)}, not a {self.wanted}")


def _named(kind: str) -> str:
    return f"the type {kind.partition('<')[0].lower()}"


def compile_expression(source: str, wanted: Wanted, dialect: Dialect = NODES) -> Program:
    """Return a compiled expression.

    Args:
        source: its text.
        wanted: what it has to come to.
        dialect: what it may name.

    Raises:
        ExpressionError: it is too long, is no CEL, names what there is not, or comes to another type; with line and
            column of each.
    """
    if len(source) > EXPRESSION_CHARS_MAX:
        raise ExpressionError((Problem(1, 1, f"{len(source)} characters: at most {EXPRESSION_CHARS_MAX}"),))
    if not source.isprintable() and any(ord(one) < 32 and one not in "\n\r\t" for one in source):
        raise ExpressionError((Problem(1, 1, "control characters cannot stand in an expression"),))
    try:
        compiled = dialect.environment.compile(source)
    except (RuntimeError, ValueError, TypeError) as wrong:
        raise ExpressionError(_problems(source, str(wrong), dialect)) from wrong
    facts = examine(read_tree(compiled.serialize()), dialect.variables, dialect.functions)
    if facts.problems:
        raise ExpressionError(tuple(_placed(source, one.offset, one.message) for one in sorted(facts.problems)))
    kind = compiled.return_type().name()
    if kind != "DYN" and kind not in _TYPES[wanted]:
        raise ExpressionError((Problem(1, 1, f"it comes to {_named(kind)}, not a {wanted}"),))
    return Program(source, wanted, compiled, facts)


def _problems(source: str, text: str, dialect: Dialect) -> tuple[Problem, ...]:
    """Return the problems that the compiler lists, -1 standing for the whole."""
    found = [
        _told(source, int(line), int(column), message.strip(), dialect)
        for line, column, message in _PLACED.findall(text)
    ]
    # It lists some twice.
    return tuple(dict.fromkeys(found)) or (Problem(1, 1, _FRAME.sub("", text.partition("\n")[0])),)


def _told(source: str, line: int, column: int, message: str, dialect: Dialect) -> Problem:
    unknown = _UNDECLARED.match(message)
    lines = source.split("\n")
    if unknown and 1 <= line <= len(lines):
        # It points at what follows the name.
        start = lines[line - 1].rfind(unknown[1], 0, column - 1 + len(unknown[1]))
        column = start + 1 if start >= 0 else column
        message = f"there is no {unknown[1]} here; {there_are(dialect.variables, dialect.functions)}"
    return Problem(max(line, 1), max(column, 1), message)


def _placed(source: str, offset: int, message: str) -> Problem:
    before = source[:offset]
    return Problem(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, message)
