"""How functions are added to the language: each declared once, for what is checked and for what is run.

Types of upstream's own (an IP address, a quantity) are told apart where an expression is checked. The runtime has no
values of such types, so where it is run they are maps of one member, whose name is the type's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from cel_expr_python import cel

Own = Mapping[str, Any]
"""A value of a type of upstream's own: type → what it is."""

NO_OVERLOAD: Final = "no such overload"
_SCALARS: Final = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_RUN: Final[Mapping[str, str]] = {"list": "list<dyn>", "map": "map<dyn,dyn>"}


class Way(NamedTuple):
    """One overload.

    Attributes:
        answer: the type of its answer, as the language writes types; one with a dot is upstream's own.
        parameters: the types of its parameters, a method's target first. `dyn` behind a list: any element.
        of: what answers; ValueError with upstream's words where it cannot.
        member: whether it is a method.
    """

    answer: str
    parameters: tuple[str, ...]
    of: Callable[..., Any]
    member: bool = False


class Function:
    """A function of the language.

    Attributes:
        name: as expressions call it.
        ways: its overloads.
    """

    def __init__(self, name: str, *ways: Way) -> None:
        self.name = name
        self.ways = ways


def part(one: Own, name: str) -> Any:
    """Return what a value of a type of upstream's own is.

    Raises:
        ValueError: it is of another type.
    """
    if not isinstance(one, Mapping) or name not in one:
        raise ValueError(NO_OVERLOAD)
    return one[name]


def is_own(name: str) -> bool:
    """Return whether a type is upstream's own."""
    return "." in name and "<" not in name


def checked(functions: Iterable[Function]) -> list[cel.FunctionDecl]:
    """Return the functions as expressions are checked against them."""
    return [
        cel.FunctionDecl(
            one.name,
            [
                cel.Overload(_name(one, index), typed(way.answer), list(map(typed, way.parameters)), way.member, way.of)
                for index, way in enumerate(one.ways)
            ],
        )
        for one in functions
    ]


def running(functions: Iterable[Function]) -> list[cel.FunctionDecl]:
    """Return the functions as they are run: overloads that the runtime cannot tell apart are one."""
    made = []
    for one in functions:
        alike: dict[tuple[bool, tuple[str, ...]], list[Way]] = {}
        for way in one.ways:
            for kinds in _kinds(way.parameters):
                alike.setdefault((way.member, kinds), []).append(way)
        overloads = []
        for index, ((member, kinds), ways) in enumerate(alike.items()):
            answers = {_kind(way.answer) for way in ways}
            answer = cel.Type(_RUN.get(*answers, *answers) if len(answers) == 1 else "dyn")
            parameters = [cel.Type(_RUN.get(kind, kind)) for kind in kinds]
            overloads.append(cel.Overload(_name(one, index), answer, parameters, member, _chosen(ways)))
        made.append(cel.FunctionDecl(one.name, overloads))
    return made


def _name(function: Function, index: int) -> str:
    return f"k8s_{function.name.replace('.', '_')}_{index}"


def typed(name: str) -> cel.Type:
    """Return a type by how the language writes it, or upstream's own."""
    return cel.Type.AbstractType(name) if is_own(name) else cel.Type(name)


def _kind(name: str) -> str:
    return "map" if is_own(name) else name.partition("<")[0]


def _kinds(parameters: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Yield what the runtime sees of parameters: it finds nothing for one of any type, so each type is named."""
    first = tuple(map(_kind, parameters))
    if "dyn" not in first:
        yield first
        return
    at = first.index("dyn")
    for kind in (*_SCALARS, *_RUN):
        yield (*first[:at], kind, *first[at + 1 :])


def _chosen(ways: list[Way]) -> Callable[..., Any]:
    """Return what asks the overload whose own types the arguments have."""
    if len(ways) == 1 or not any(is_own(name) for way in ways for name in way.parameters):
        return ways[0].of

    def answer(*values: Any) -> Any:
        for way in ways:
            pairs = zip(way.parameters, values, strict=True)
            if all(not is_own(name) or (isinstance(value, Mapping) and name in value) for name, value in pairs):
                return way.of(*values)
        raise ValueError(NO_OVERLOAD)

    return answer
