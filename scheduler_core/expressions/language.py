"""Compiles expressions of API objects as upstream's API server does, and evaluates them.

The language is CEL as its makers' own runtime has it (package `cel-expr-python`), with the libraries of
k8s.io/apiserver/pkg/cel/environment (base.go) that `library` lists. What is wrong with an expression is said in the
words of cel-go: the two runtimes' parsers share a grammar, and where their sentences differ they are turned here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NoReturn

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_optional

from scheduler_core.cel.syntax import Expr, Form, Tree, read_parsed, read_tree
from scheduler_core.expressions import complaining
from scheduler_core.expressions.constants import Complaint, complaints
from scheduler_core.expressions.declaring import is_own, typed
from scheduler_core.expressions.library import CHECKED, RUNNING
from scheduler_core.expressions.pricing import COST_MAX, price
from scheduler_core.expressions.rewriting import SPELLED, RewriteError, Rewritten, loosened, rewritten
from scheduler_core.expressions.shapes import DYN, Object, Shape

EXPRESSION_CHARS_MAX: Final = 10_000
"""Characters of one expression; upstream takes 100,000."""

OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"

Names = tuple[tuple[str, Shape], ...]
"""Variables that an expression may name, with their shapes."""

_PLACED: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^']+)' \(in container ''\)")
_FRAME: Final = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")
_APPLIED: Final = re.compile(r"(found no matching overload for '[a-zA-Z_]+' applied to )'\((.*)\)'")
_MIXED: Final = re.compile(
    r"found no matching overload for '_[<>]=?_' applied to '\((int|uint|double), (?!\1\))(?:int|uint|double)\)'"
)
_CALLED: Final = re.compile(r"\.\s*[A-Za-z_]\w*\s*\(\Z")
_KEY: Final = re.compile(r'Key not found in map : "?([^"]*)"?$')
_INDEX: Final = re.compile(r"Index error: index=(-?\d+)")
_OFTEN: Final = "teration budget exceeded"
_INSTANTIATION: Final = "program instantiation failed"


class CompileError(ValueError):
    """An expression that cannot be compiled; the text is upstream's, without what it says before it.

    Attributes:
        told: the whole of it: where upstream was, and the text.
        internal: whether upstream takes it for a fault of its own.
    """

    def __init__(self, text: str, step: str = "compilation failed", *, internal: bool = False) -> None:
        super().__init__(text)
        self.told = f"{step}: {text}"
        self.internal = internal or step == _INSTANTIATION


class _MixedError(CompileError):
    """Numbers of two types are compared, which upstream's language does and the one here only where it knows no types.

    Attributes:
        offset: where the comparison stands, in characters of what is compiled.
    """

    def __init__(self, offset: int) -> None:
        super().__init__("numbers of two types are compared")
        self.offset = offset


class Failed(Exception):
    """An expression that has no value; the text is upstream's."""


class OutOfBudget(Failed):
    """An evaluation that may cost too much."""


class Expression:
    """A compiled expression.

    Attributes:
        source: its text.
        type: what it comes to, as upstream writes types.
        shape: the same, to be named by other expressions.
        roots: the variables that it names.
    """

    def __init__(
        self, source: str, shape: Shape, told: str, program: cel.Expression, tree: Tree, roots: frozenset[str]
    ) -> None:
        self.source = source
        self.shape = shape
        self.type = told
        self.roots = roots
        self._program = program
        self._tree = tree

    @property
    def root(self) -> Expr:
        """Return the whole of it as a tree."""
        return self._tree.root

    @property
    def tree(self) -> Tree:
        """Return it as it is run, with the types that it was checked with."""
        return self._tree

    def reads(self, root: str) -> frozenset[str]:
        """Return the members of a variable that it selects by name."""
        return frozenset(chain[0].name for name, chain in _chains(self._tree.root) if name == root and chain)

    def cost(self, variables: Mapping[str, Any]) -> int:
        """Return the units of work that an evaluation takes at most."""
        return price(self._tree.root, variables)

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """Return the value: JSON values, times and durations.

        Raises:
            OutOfBudget: it may cost too much.
            Failed: there is no value.
        """
        if self.cost(variables) > COST_MAX:
            raise OutOfBudget(OUT_OF_BUDGET)
        try:
            found = self._program.eval(data={root: variables.get(root) for root in self.roots})
            if found.type().name() != "ERROR":
                return found.plain_value()
            text = str(found.value())
        except (RuntimeError, ValueError, TypeError) as wrong:
            text = str(wrong)
        if _OFTEN in text:
            raise OutOfBudget(OUT_OF_BUDGET)
        raise Failed(_ran(text))


def _ran(text: str) -> str:
    """Return what went wrong in an evaluation in upstream's words."""
    text = _FRAME.sub("", text.partition("\n")[0])
    if key := _KEY.search(text):
        return f"no such key: {key[1]}"
    if index := _INDEX.search(text):
        return f"index out of bounds: {index[1]}"
    if text.startswith("No matching overloads found"):
        return "no such overload"
    if text.startswith("Applying SELECT"):
        return "no such overload"
    return _RAN.get(text, text)


_NOT_READ: Final = "type conversion error from 'string' to '"
_RAN: Final[Mapping[str, str]] = {
    "divide by zero": "division by zero",
    "modulus by zero": "modulus by zero",
    "cannot convert string to int": f"{_NOT_READ}int'",
    "cannot convert string to uint": f"{_NOT_READ}uint'",
    "cannot convert string to double": f"{_NOT_READ}double'",
    "Type conversion error from 'string' to 'bool'": f"{_NOT_READ}bool'",
    "String to Timestamp conversion failed": f"{_NOT_READ}google.protobuf.Timestamp'",
    "String to Duration conversion failed": f"{_NOT_READ}google.protobuf.Duration'",
    "int64 out of uint64 range": "unsigned integer overflow",
    "double out of int64 range": "integer overflow",
    "double out of uint64 range": "unsigned integer overflow",
}

_EXTENSIONS: Final = (ext_optional.ExtOptional(),)
_BINDING: Final = (*_EXTENSIONS, ext_bindings.ExtBindings())


@lru_cache(maxsize=64)
def _untyped(names: tuple[str, ...], binds: bool) -> cel.Env:
    extensions = _BINDING if binds else _EXTENSIONS
    return cel.NewEnv(variables=dict.fromkeys(names, cel.Type.DYN), extensions=extensions, functions=RUNNING)


def _typed(shapes: Mapping[str, str], binds: bool) -> cel.Env:
    variables = {name: typed(shape) for name, shape in shapes.items()}
    return cel.NewEnv(variables=variables, extensions=_BINDING if binds else _EXTENSIONS, functions=CHECKED)


def compiled(
    source: str, names: Mapping[str, Shape], optionals: frozenset[str] = frozenset(), *, binds: bool = False
) -> Expression:
    """Return a compiled expression.

    Args:
        source: its text.
        names: the variables that there are.
        optionals: those of them that are optionals; where it is evaluated they are lists of one value, or of none.
        binds: whether it may name a value of its own (`cel.bind`), as expressions about devices may and others not.

    Raises:
        CompileError: it is no CEL, or names what there is not.
    """
    return _compiled(source, tuple(sorted(names.items(), key=lambda one: one[0])), optionals, binds)


@lru_cache(maxsize=512)
def _compiled(source: str, names: Names, optionals: frozenset[str], binds: bool) -> Expression:
    if len(source) > EXPRESSION_CHARS_MAX:
        text = f"expression code point size exceeds limit: size: {len(source)}, limit {EXPRESSION_CHARS_MAX}"
        raise CompileError(f"ERROR: <input>:-1:0: {text}")
    shapes = {name: Shape(f"list<{_declarable(shape)}>") if name in optionals else shape for name, shape in names}
    try:
        given = rewritten(source, optionals)
    except RewriteError as wrong:
        raise CompileError(_pointed(source, *_place(source, wrong.offset), str(wrong))) from wrong
    while True:
        try:
            return _made(given, shapes, binds)
        except _MixedError as mixed:
            given = loosened(given, mixed.offset)


def _made(given: Rewritten, shapes: Mapping[str, Shape], binds: bool) -> Expression:
    types: dict[str, str] = {name: _declarable(shape) for name, shape in shapes.items()}
    try:
        program = _untyped(tuple(shapes), binds).compile(given.text)
    except (RuntimeError, ValueError, TypeError) as wrong:
        # With what is known of the variables the complaints are upstream's.
        unknown = _unknown_selects(given, shapes, types, binds)
        _checked(given, _typed(types, binds), unknown)
        raise CompileError(_told(given, str(wrong), ())) from wrong
    tree = read_tree(program.serialize())
    asked: set[str] = set()
    undefined: list[tuple[int, str]] = []
    for root, chain in _chains(tree.root):
        if root in shapes and (one := _declare(root, shapes[root], chain, types, asked)) is not None:
            undefined.append((tree.offsets.get(one.id, 0), f"undefined field '{one.name}'"))
    if undefined:
        # It may not be all that is wrong.
        _checked(given, _typed(types, binds), undefined)
        raise CompileError(_told(given, "", undefined))
    roots = frozenset(one.name for one in _all(tree.root) if one.form is Form.NAME and one.name in shapes)
    for name in asked:
        # A declared name would hide that only its presence is asked for; what it is asked of passes for a map.
        types.pop(name, None)
        while name := name.rpartition(".")[0]:
            types[name] = "dyn" if is_own(types[name]) else types[name]
    typed = _checked(given, _typed(types, binds))
    known = read_tree(typed.serialize())
    for complaint in complaints(known):
        _complain(given, complaint)
    shape = Shape(_signature(_type_of(typed)))
    told = known.types.get(known.root.id, "dyn")
    tree = replace(tree, types={**tree.types, **known.types})
    return Expression(given.source, shape, told, program, tree, roots)


def _type_of(typed: cel.Expression) -> str:
    try:
        return str(typed.return_type().name())
    except RuntimeError:
        # The runtime has no values of such a type (a map whose keys are lists), and so no name for it.
        return "DYN"


def _complain(given: Rewritten, complaint: Complaint) -> NoReturn:
    if complaint.runs:
        raise CompileError(complaint.why, _INSTANTIATION)
    place = _place(given.source, given.origin(complaint.offset))
    raise CompileError(_pointed(given.source, *place, complaint.why))


def _unknown_selects(given: Rewritten, shapes: Mapping[str, Shape], types: dict[str, str], binds: bool) -> _Places:
    """Note the types of what an expression selects that cannot be compiled; return what upstream says besides."""
    try:
        tree = read_parsed(_untyped(tuple(shapes), binds).compile(given.text, disable_check=True).serialize())
    except (RuntimeError, ValueError, TypeError):
        # It cannot be read at all.
        return ()
    told: list[tuple[int, str]] = []
    for root, chain in _chains(tree.root):
        one = None if root not in shapes else _declare(root, shapes[root], chain, types, set())
        # What is selected out of types of a name the compiler complains of itself.
        if one is not None and shapes[root].cel == DYN.cel:
            told.append((tree.offsets.get(one.id, 0), f"undefined field '{one.name}'"))
    return told


def _declare(root: str, shape: Shape, chain: tuple[Expr, ...], types: dict[str, str], asked: set[str]) -> Expr | None:
    """Note the types of what is selected out of a variable, each under its qualified name.

    Returns the select of what there is not; None: there is everything.
    """
    path = root
    for one in chain:
        if not isinstance(shape, Object):
            return None
        found = shape.fields.get(one.name)
        if found is None:
            return one
        shape = found
        path = f"{path}.{one.name}"
        types[path] = _declarable(shape)
        if one.test:
            asked.add(path)
    return None


def _declarable(shape: Shape) -> str:
    """Return the type of a variable; what only expressions themselves hold (optionals, types) is not told apart."""
    unknown = shape.cel.startswith(("optional_type", "type"))
    return "dyn" if unknown else shape.cel


_Places = Sequence[tuple[int, str]]
"""Complaints and where they stand, in characters of what is compiled."""


def _checked(given: Rewritten, environment: cel.Env, besides: _Places = ()) -> cel.Expression:
    try:
        return environment.compile(given.text)
    except (RuntimeError, ValueError, TypeError) as wrong:
        raise CompileError(_told(given, str(wrong), besides)) from wrong


def _told(given: Rewritten, text: str, besides: _Places) -> str:
    """Return the compiler's complaints, and those `besides`, as upstream lists them: by where they stand."""
    source = given.source
    lines = given.text.split("\n")
    told: list[tuple[int, int, str]] = []
    for at, said in besides:
        where = _place(source, given.origin(at))
        told.append((*where, _pointed(source, *where, said)))
    for line, column, message in _PLACED.findall(text):
        message = _FRAME.sub("", message.strip())
        row, place = int(line), int(column)
        unknown = _UNDECLARED.fullmatch(message)
        if unknown and "." in unknown[1] and f"{unknown[1]}{{" not in given.text and 1 <= row <= len(lines):
            # It points behind the first of several names, and tells all of them.
            first = unknown[1].partition(".")[0]
            start = lines[row - 1].rfind(first, 0, place - 1 + len(first))
            place = start + 1 if start >= 0 else place
            message = f"undeclared reference to '{first}' (in container '')"
        offset = _offset(given.text, row, place)
        if _MIXED.fullmatch(message):
            raise _MixedError(offset)
        if row < 1 or place < 1:
            told.append((row, place, _pointed(source, row, place, _spelled(message, is_method=False))))
            continue
        for at, said in complaining.complaints(given.text, offset, message):
            spelled = _spelled(said, is_method=_CALLED.search(given.text, 0, at + 1) is not None)
            where = _place(source, given.origin(at))
            told.append((*where, _pointed(source, *where, spelled)))
    told.sort(key=lambda one: one[:2])
    return "\n".join(dict.fromkeys(one[2] for one in told)) or _FRAME.sub("", text.partition("\n")[0])


_WORDED: Final[Mapping[str, str]] = {
    "has() argument must be a field selection": "invalid argument to has() macro",
    **{
        f"{macro}() variable name must be a simple identifier": "argument must be a simple name"
        for macro in ("all", "exists", "exists_one", "map", "filter")
    },
}


def _spelled(message: str, *, is_method: bool) -> str:
    """Return a complaint in upstream's words, with the names that were written; `is_method`: it is about a method."""
    if is_method and (found := _APPLIED.fullmatch(message)):
        first, *others = complaining.split(found[2])
        message = f"{found[1]}'{first}.({', '.join(others)})'"
    message = complaining.types_told(message.replace("\\u003F", "?"))
    message = _WORDED.get(message, message).replace("cannot be the range of a", "cannot be range of a")
    for ours, theirs in SPELLED.items():
        message = message.replace(f"'{ours}'", f"'{theirs}'")
    return message


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return sum(len(one) + 1 for one in lines[: line - 1]) + column - 1


def _pointed(source: str, line: int, column: int, message: str) -> str:
    if not source:
        return f"ERROR: <input>:1:0: {message}"
    lines = source.split("\n")
    text = f"ERROR: <input>:{line}:{column}: {message}"
    if not 1 <= line <= len(lines):
        return text
    # Upstream puts wide signs below wide letters.
    wide = [ord(one) > 127 for one in lines[line - 1][:column]]
    dots = "".join("\uff0e" if one else "." for one in wide[: column - 1])
    return f"{text}\n | {lines[line - 1]}\n | {dots}{chr(0xFF3E) if wide[column - 1 :] == [True] else '^'}"


def _place(source: str, offset: int) -> tuple[int, int]:
    before = source[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def _all(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in expr.parts:
        yield from _all(part)


def _chains(expr: Expr, bound: frozenset[str] = frozenset()) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """Yield (variable, the selects on it, the first one first) of what an expression selects out of variables."""
    selects: list[Expr] = []
    at = expr
    while at.form is Form.SELECT:
        selects.append(at)
        at = at.parts[0]
    if at.form is Form.NAME:
        if at.name not in bound:
            yield at.name, tuple(reversed(selects))
        return
    inner = bound | {at.name, at.other} if at.form is Form.MACRO else bound
    for index, part in enumerate(at.parts):
        yield from _chains(part, bound if at.form is Form.MACRO and index < 2 else inner)


_WRITTEN: Final[Mapping[str, str]] = {
    "NULL": "null_type",
    "TIMESTAMP": "timestamp",
    "DURATION": "duration",
}


def _signature(name: str) -> str:
    """Return a type as the language takes it, from how the library names it."""
    if "<" in name:
        head, _, rest = name.partition("<")
        parts = ", ".join(_signature(one) for one in complaining.split(rest.removesuffix(">")))
        return f"{head.lower()}<{parts}>"
    return _WRITTEN.get(name, name.lower() if name.isupper() else name)


_UPSTREAM: Final[Mapping[str, str]] = {
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
}


def written(signature: str) -> str:
    """Return a type as upstream writes it: `list(string)`."""
    if "<" in signature:
        head, _, rest = signature.partition("<")
        return f"{head}({', '.join(map(written, complaining.split(rest.removesuffix('>'))))})"
    return _UPSTREAM.get(signature, signature)


def expression(source: str, names: Mapping[str, Shape], wanted: tuple[str, ...]) -> Expression:
    """Return a compiled expression that comes to one of these types; `any` takes every one.

    Raises:
        CompileError: it does not; the text is the whole of upstream's detail.
    """
    try:
        found = compiled(source, names)
    except CompileError as wrong:
        raise CompileError(wrong.told, internal=wrong.internal) from wrong
    if found.type not in wanted and "any" not in wanted:
        types = wanted[0] if len(wanted) == 1 else f"one of [{' '.join(wanted)}]"
        raise CompileError(f"must evaluate to {types} but got {found.type}")
    return found


__all__ = ["DYN", "CompileError", "Expression", "Failed", "OutOfBudget", "compiled", "expression", "written"]
