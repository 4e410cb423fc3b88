"""Predicates compiled and asked. The functions are declared here, one line each, beside what answers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

import msgspec
from cel_expr_python import cel
from msgspec import inspect

from controllers.predicates import shapes
from controllers.predicates.view import View
from scheduler_core.cel.kinds import Kind
from scheduler_core.cel.language import EXTENSIONS, Dialect, EvaluationError, Program, Size, Wanted, compile_expression

SCHEDULER: Final = "kube-scheduler"
"""The component that `leaders()` counts when none is named."""

Value = bool | int | float | str

_T = cel.Type
_TEXT, _WHOLE, _TRUTH, _MAP = _T.STRING, _T.INT, _T.BOOL, _T("map<string,dyn>")
_VIEW: ContextVar[View] = ContextVar("view")
"""What the functions of the evaluation under way look at: the language has one set of functions for all."""


class Unanswered(Exception):
    """A predicate that has no value now: a key that is not there, or too much work; the message says which."""


class _Function(NamedTuple):
    """One way to call a function: its parameters, its answer's type and kind, and what answers."""

    parameters: tuple[Any, ...]
    answer: Any
    kind: Kind
    of: Callable[..., Any]


def _struct(of: type[msgspec.Struct]) -> Kind:
    return inspect.type_info(of)


def _structs(of: type[msgspec.Struct]) -> Kind:
    return inspect.VarTupleType(inspect.type_info(of))


def _plain(found: msgspec.Struct | list[Any]) -> Any:
    return msgspec.to_builtins(found)


_MAPS: Final = _T("list<map<string,dyn>>")
_INT: Final = inspect.IntType()

FUNCTIONS: Final[Mapping[str, tuple[_Function, ...]]] = {
    "pod": (_Function((_TEXT,), _MAP, _struct(shapes.PodFacts), lambda view, name: _plain(view.pod(name))),),
    "pods": (
        _Function((_TEXT,), _MAPS, _structs(shapes.PodFacts), lambda view, chosen: _plain(view.pods(chosen))),
        _Function((), _MAPS, _structs(shapes.PodFacts), lambda view: _plain(view.pods(""))),
    ),
    "creations": (_Function((_TEXT,), _WHOLE, _INT, lambda view, name: view.creations(name)),),
    "node": (_Function((_TEXT,), _MAP, _struct(shapes.NodeFacts), lambda view, name: _plain(view.node(name))),),
    "nodes": (_Function((), _MAPS, _structs(shapes.NodeFacts), lambda view: _plain(view.nodes())),),
    "count": (
        _Function((_TEXT, _TEXT), _WHOLE, _INT, lambda view, resource, selector: view.count(resource, selector)),
        _Function((_TEXT,), _WHOLE, _INT, lambda view, resource: view.count(resource, "")),
    ),
    "object": (_Function((_TEXT, _TEXT), _MAP, None, lambda view, resource, name: view.object(resource, name)),),
    "trace": (
        _Function((_TEXT,), _MAP, _struct(shapes.TraceFacts), lambda view, pod: _plain(view.trace(pod))),
        _Function((_TEXT, _WHOLE), _MAP, _struct(shapes.TraceFacts), lambda view, pod, at: _plain(view.trace(pod, at))),
    ),
    "total": (_Function((_TEXT, _TEXT), _WHOLE, _INT, lambda view, pod, node: _total(view, pod, node)),),
    "lease": (_Function((_TEXT,), _MAP, _struct(shapes.LeaseFacts), lambda view, name: _plain(view.lease(name))),),
    "leaders": (
        _Function((_TEXT,), _WHOLE, _INT, lambda view, component: view.leaders(component)),
        _Function((), _WHOLE, _INT, lambda view: view.leaders(SCHEDULER)),
    ),
    "replica": (_Function((_TEXT,), _MAP, _struct(shapes.ReplicaFacts), lambda view, one: _plain(view.replica(one))),),
    "events": (_Function((_TEXT,), _WHOLE, _INT, lambda view, reason: view.events(reason)),),
    "queue": (_Function((_TEXT,), _MAP, _struct(shapes.QueueFacts), lambda view, one: _plain(view.queue(one))),),
    "writers": (
        _Function(
            (_TEXT, _TEXT),
            _T("list<string>"),
            inspect.VarTupleType(inspect.StrType()),
            lambda view, resource, name: view.writers(resource, name),
        ),
    ),
    "time": (_Function((), _T.DYN, inspect.FloatType(), lambda view: view.time()),),
    "since": (_Function((), _T.DYN, inspect.FloatType(), lambda view: view.since()),),
    "waited": (_Function((), _T.DYN, inspect.FloatType(), lambda view: view.waited()),),
    "held": (_Function((), _TEXT, inspect.StrType(), lambda view: view.held()),),
    "point": (_Function((), _TEXT, inspect.StrType(), lambda view: view.point()),),
}
"""Name → the ways to call it; `docs/lessons.md` has a line for each."""


def _total(view: View, pod: str, node: str) -> int:
    found = view.trace(pod)
    if node not in found.total:
        scored = ", ".join(found.total) or "none"
        raise ValueError(f"{pod} has no total for {node}: scored are {scored}")
    return found.total[node]


def _declared(name: str, number: int, one: _Function) -> cel.Overload:
    def answer(*arguments: Any) -> Any:
        return one.of(_VIEW.get(), *arguments)

    return cel.Overload(f"{name}_{number}", one.answer, list(one.parameters), impl=answer)


SESSIONS: Final = Dialect(
    cel.NewEnv(
        functions=[
            cel.FunctionDecl(name, [_declared(name, number, one) for number, one in enumerate(ways)])
            for name, ways in FUNCTIONS.items()
        ],
        extensions=EXTENSIONS,
    ),
    {},
    {name: ways[0].kind for name, ways in FUNCTIONS.items()},
)
"""Of predicates: functions over one session."""


class Predicate:
    """A compiled predicate.

    Attributes:
        source: its text.
    """

    def __init__(self, program: Program) -> None:
        self.source = program.source
        self._program = program

    @classmethod
    def compile(cls, source: str, wanted: Wanted = "bool") -> Predicate:
        """Return a predicate that comes to a truth value, or to what else is wanted.

        Raises:
            ExpressionError: it cannot be compiled; with line and column of each problem.
        """
        return cls(compile_expression(source, wanted, SESSIONS))

    def value(self, view: View) -> Value:
        """Return what it comes to.

        Raises:
            Unanswered: it has no value now.
        """
        token = _VIEW.set(view)
        try:
            found: Value = self._program.evaluate({}, _size(view), 1)
        except EvaluationError as wrong:
            raise Unanswered(str(wrong)) from wrong
        finally:
            _VIEW.reset(token)
        return found

    def holds(self, view: View) -> bool:
        """Return whether it is true; one that has no value now is not."""
        try:
            return self.value(view) is True
        except Unanswered:
            return False


def _size(view: View) -> Size:
    """Return how large what a predicate looks at is: what is listed, a thing's fields counted as FIELDS."""
    listed = len(view.store.list("nodes")[0]) + len(view.store.list("pods")[0])
    return Size(FIELDS * (listed + 1), listed, 4)


FIELDS: Final = 32
"""Single values that one thing counts as in the price of an evaluation."""
