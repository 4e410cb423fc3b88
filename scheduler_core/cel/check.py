"""What an expression may do, what it reads, and what it can cost at most: worked out once from its tree.

The language's own checker knows that `pod` is a map; here the fields of pods and nodes are known as well, so that a
misspelt one is found where it stands. The bounds are in the manner of Kubernetes' cost limits for CEL
(apiserver `cel.RuntimeCELCostBudget`, DRA's selectors): a bound on the work, worked out from sizes, never a clock, so
that the same question always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import inspect

from scheduler_core.cel.kinds import (
    VARIABLES,
    Kind,
    Value,
    element_of,
    fields_of,
    is_scalar,
    loop_kind,
    member_of,
    there_are,
)
from scheduler_core.cel.syntax import Expr, Form, Tree

OPERATIONS_MAX: Final = 400
"""Operations of one expression, those that a macro is made of included; a longer one is refused."""

NESTED_MACROS_MAX: Final = 3
"""Macros (all, exists, map, filter …) inside one another; deeper ones are refused."""

PATTERN_CHARS_MAX: Final = 200
"""Characters of a regular expression; a longer one is refused."""

COUNT: Final = ("",)
"""The path of `pods` in `Facts.reads` where only their number matters."""

_PATTERN_WEIGHT: Final = 5
"""How much longer a regular expression looks at a text than others do."""

_ELEMENT_WEIGHT: Final = 5
"""How much longer an element of a new list or map takes than another operation."""

_ACCUMULATOR: Final = "@result"
_UNIT: Final = "#unused"

_OPERATORS: Final = """
    _&&_ _||_ !_ _?_:_ _[_] _[?_] _?._ _<_ _<=_ _>_ _>=_ _-_ _*_ _/_ _%_ -_ @not_strictly_false
"""
_NUMBERS: Final = "math.@max math.@min math.ceil math.floor math.round math.trunc math.abs math.sign"
_OPTIONALS: Final = "hasValue value or orValue optional.of optional.none"
_LIGHT: Final = frozenset(f"{_OPERATORS} {_NUMBERS} {_OPTIONALS}".split())
"""Functions whose work does not grow with their arguments."""
_ON_TEXTS: Final = "size contains startsWith endsWith matches int double string bool timestamp duration"
_TEXTS: Final = frozenset(_ON_TEXTS.split())
"""Functions that may look at all of a text."""
_WHOLES: Final = frozenset(("_==_", "_!=_", "@in", "_+_"))
"""Functions that may look at all of a list or map, and at what is in it."""
_ADDITIONS: Final = frozenset({"add_int64", "add_uint64", "add_double"})


class Problem(NamedTuple):
    """Something wrong with an expression: characters from its beginning, and what it is."""

    offset: int
    message: str


class Facts:
    """What was found out about an expression.

    Attributes:
        problems: what is wrong with it.
        reads: (variable, path of at most two members) of everything that it looks at.
        light: operations, by the number of loops around them.
        texts: those of them that look at whole texts, likewise; a regular expression counts as several.
        scans: those of them that look at all elements of a list of single values, likewise.
        wholes: those of them that look at whole lists and maps, likewise.
        built: elements of lists and maps that the expression makes itself, likewise.
        longest: elements of the longest of those.
        additions: how often lists or texts are added up.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.reads: set[tuple[str, tuple[str, ...]]] = set()
        self.light = [0] * (NESTED_MACROS_MAX + 1)
        self.texts = [0] * (NESTED_MACROS_MAX + 1)
        self.scans = [0] * (NESTED_MACROS_MAX + 1)
        self.wholes = [0] * (NESTED_MACROS_MAX + 1)
        self.built = [0] * (NESTED_MACROS_MAX + 1)
        self.longest = 0
        self.additions = 0


def examine(
    tree: Tree, variables: Mapping[str, Kind] = VARIABLES, functions: Mapping[str, Kind] = MappingProxyType({})
) -> Facts:
    """Return what is to be known of a checked expression.

    Args:
        tree: the expression.
        variables: what it may name.
        functions: what it may call beside the language's own, with the kinds of their values.
    """
    walker = _Walker(tree, variables, functions)
    operations, nested = _size(tree.root)
    if operations > OPERATIONS_MAX:
        walker.wrong(tree.root, f"{operations} operations: at most {OPERATIONS_MAX}; split the expression")
    elif nested > NESTED_MACROS_MAX:
        walker.wrong(tree.root, f"{nested} macros inside one another: at most {NESTED_MACROS_MAX}")
    else:
        walker.used(tree.root, dict.fromkeys(variables), 0)
    return walker.facts


def _size(expr: Expr) -> tuple[int, int]:
    """Return how many operations there are, and how many macros inside one another."""
    sizes = [_size(part) for part in expr.parts]
    nested = max((depth for _, depth in sizes), default=0)
    return 1 + sum(count for count, _ in sizes), nested + (expr.form is Form.MACRO)


_Scope = Mapping[str, Value | None]
"""Names that may be used; None: a variable of the environment."""


class _Walker:
    def __init__(self, tree: Tree, variables: Mapping[str, Kind], functions: Mapping[str, Kind]) -> None:
        self.facts = Facts()
        self._tree = tree
        self._variables = variables
        self._functions = functions
        self._seen: set[int] = set()

    def wrong(self, expr: Expr, message: str) -> None:
        # What a macro repeats is wrong once.
        offset = self._tree.offsets.get(expr.id, 0)
        if offset not in self._seen:
            self._seen.add(offset)
            self.facts.problems.append(Problem(offset, message))

    def used(self, expr: Expr, scope: _Scope, loops: int, inside: bool = False) -> Value:
        """Walk an expression whose whole value is looked at."""
        value = self.walk(expr, scope, loops, inside)
        if value.root:
            self.facts.reads.add((value.root, value.path))
        return value

    def _counted(self, expr: Expr, scope: _Scope, loops: int, inside: bool) -> Value:
        """Walk a list of which only the length is looked at, or what is looked at element by element."""
        value = self.walk(expr, scope, loops, inside)
        if value.root:
            self.facts.reads.add((value.root, COUNT if value.root == "pods" and not value.path else value.path))
        return value

    def walk(self, expr: Expr, scope: _Scope, loops: int, inside: bool) -> Value:
        """Return what is known of an expression's value.

        Args:
            expr: the expression.
            scope: what the names mean.
            loops: how many loops are around it.
            inside: whether it is inside a macro.
        """
        self.facts.light[loops] += 1
        match expr.form:
            case Form.NAME:
                return self._name(expr, scope)
            case Form.SELECT:
                value = self._member(expr, self.walk(expr.parts[0], scope, loops, inside), expr.name)
                if not expr.test:
                    return value
                if value.root:
                    self.facts.reads.add((value.root, value.path))
                return Value(inspect.BoolType())
            case Form.CALL:
                return self._call(expr, scope, loops, inside)
            case Form.MACRO:
                return self._macro(expr, scope, loops, inside)
            case Form.STRUCT if expr.name:
                self.wrong(expr, f"messages such as {expr.name} are not to be had here; maps are, as {{'key': value}}")
            case Form.CONSTANT if expr.text is not None:
                return Value(inspect.StrType())
        if any(part.form is not Form.CONSTANT for part in expr.parts):
            self.facts.built[loops] += len(expr.parts)
        self.facts.light[loops] += _ELEMENT_WEIGHT * len(expr.parts)
        self.facts.longest = max(self.facts.longest, len(expr.parts))
        for part in expr.parts:
            self.used(part, scope, loops, inside)
        return Value()

    def _name(self, expr: Expr, scope: _Scope) -> Value:
        if expr.name not in scope:
            self.wrong(expr, f"{expr.name} cannot be used here; {there_are(self._variables, self._functions)}")
            return Value()
        bound = scope[expr.name]
        return Value(self._variables[expr.name], expr.name) if bound is None else bound

    def _member(self, expr: Expr, value: Value, field: str) -> Value:
        fields = fields_of(value.kind)
        if fields is not None and field not in fields:
            close = get_close_matches(field, fields, 1, 0.6)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(fields)}"
            self.wrong(expr, f"undefined field '{field}': {hint}")
            return Value()
        return member_of(value, field)

    def _call(self, expr: Expr, scope: _Scope, loops: int, inside: bool) -> Value:
        name, parts = expr.name, expr.parts
        if name in self._functions:
            # Whatever it answers is made anew each time.
            self.facts.wholes[loops] += 1
            for part in parts:
                self.used(part, scope, loops, inside)
            return Value(self._functions[name])
        if name not in _LIGHT and name not in _TEXTS and name not in _WHOLES:
            self.wrong(expr, f"function {name} is not to be had here")
        if name in ("_?._", "_[_]", "_[?_]"):
            key = parts[1].text
            value = self.walk(parts[0], scope, loops, inside)
            if key is not None and fields_of(value.kind) is not None:
                return self._member(expr, value, key)
            if value.root and fields_of(value.kind) is not None:
                self.facts.reads.add((value.root, value.path))
            self.used(parts[1], scope, loops, inside)
            return Value(element_of(value.kind), value.root, value.path)
        if name in ("value", "orValue", "or", "optional.of") and parts:
            values = [self.walk(part, scope, loops, inside) for part in parts]
            for value in values[1:]:
                if value.root:
                    self.facts.reads.add((value.root, value.path))
            return values[0]
        look = self._counted if name == "size" else self.used
        values = [look(part, scope, loops, inside) for part in parts]
        if name in _TEXTS:
            self.facts.texts[loops] += _PATTERN_WEIGHT if name == "matches" else 1
        elif name in _WHOLES:
            self._whole(expr, values, loops, inside)
        if name == "matches":
            self._pattern(parts[-1])
        return Value(inspect.BoolType()) if expr.id in self._tree.scalars else Value()

    def _scalar(self, expr: Expr, value: Value) -> bool:
        return is_scalar(value.kind) or expr.id in self._tree.scalars or expr.form is Form.CONSTANT

    def _whole(self, expr: Expr, values: list[Value], loops: int, inside: bool) -> None:
        """Count an operation that may look at whole lists and maps, unless what it looks at is known to be small."""
        if expr.name == "_+_":
            own = expr.parts[0].form is Form.NAME and expr.parts[0].name == _ACCUMULATOR
            if own or _ADDITIONS.issuperset(self._tree.overloads.get(expr.id, ("",))):
                # Numbers; or what `map` and its like are made of, which append in place.
                return
            self.facts.additions += 1
            if inside:
                text = "inside a macro + adds numbers only, so that texts and lists cannot grow without end"
                self.wrong(expr, f"{text}; where the type is not known write int(…) + int(…)")
        elif expr.name == "@in":
            among = values[1].kind
            if isinstance(among, inspect.DictType | inspect.StructType):
                return
            if is_scalar(element_of(among)):
                self.facts.scans[loops] += 1
                return
        elif any(map(self._scalar, expr.parts, values)):
            return
        self.facts.wholes[loops] += 1

    def _pattern(self, expr: Expr) -> None:
        if expr.text is None:
            self.wrong(expr, "the pattern of matches must be written out, so that it is compiled once")
        elif len(expr.text) > PATTERN_CHARS_MAX:
            self.wrong(expr, f"a pattern of {len(expr.text)} characters: at most {PATTERN_CHARS_MAX}")
        elif "{" in expr.text:
            self.wrong(expr, "a pattern cannot count with {…}: write the repetitions out, or use * and +")

    def _macro(self, expr: Expr, scope: _Scope, loops: int, inside: bool) -> Value:
        over, initial, condition, step, result = expr.parts
        ranged = self._counted(over, scope, loops, inside)
        if expr.name == _UNIT:
            # optMap and its like bind a name and loop over nothing.
            bound = self.walk(initial, scope, loops, inside)
            return self.walk(result, {**scope, expr.other: bound}, loops, True)
        self.used(initial, scope, loops, inside)
        element = loop_kind(ranged.kind)
        # An element of `pods` is a pod of its own right: what is read of it is kept apart.
        names: dict[str, Value | None] = {**scope, expr.other: Value()}
        names[expr.name] = Value(element, "pods") if ranged.root == "pods" and not ranged.path else Value(element)
        self.used(condition, names, loops + 1, True)
        if _is_filter(expr.name, step):
            # What it keeps is as it was, and is read only by whoever goes on with it.
            self.used(step.parts[0], names, loops + 1, True)
            self.facts.light[loops + 1] += 5 + _ELEMENT_WEIGHT
            self.facts.built[loops + 1] += 1
            return ranged if isinstance(ranged.kind, inspect.VarTupleType) else Value()
        self.used(step, names, loops + 1, True)
        self.used(result, {**scope, expr.other: Value()}, loops, True)
        return Value()


def _is_filter(name: str, step: Expr) -> bool:
    """Return whether a macro's step is that of `filter`: condition ? kept + [element] : kept."""
    if step.name != "_?_:_" or step.parts[1].name != "_+_":
        return False
    added = step.parts[1].parts[1]
    return added.form is Form.LIST and [(one.form, one.name) for one in added.parts] == [(Form.NAME, name)]
