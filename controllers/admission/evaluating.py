"""Expressions of one policy, or of one webhook's match conditions, evaluated for one write.

Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating/validator.go, …/plugin/cel, …/webhook/matchconditions,
v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.admission.matching import asked_in, name_of, place_of, request_of, subresource_of
from controllers.registry.admission import Attempt
from controllers.registry.kind import Kind
from scheduler_core.expressions.authorizing import asking, authorizer_of
from scheduler_core.expressions.language import OUT_OF_BUDGET, CompileError, Expression, Failed, OutOfBudget, expression
from scheduler_core.expressions.policies import NAMES, PARAMETERIZED, in_messages, shape_of
from scheduler_core.expressions.shapes import Shape, object_of

REQUEST_COST_MAX: Final = 5_000_000
"""Units of work that all expressions asked about one write may cost together, estimated from above."""

MESSAGE_CHARS_MAX: Final = 5 * 1024
"""Characters that a messageExpression may come to; a longer one is not used."""

_NAMESPACES: Final = "namespaces"


class Decision(NamedTuple):
    """Why a write is not to be: a sentence, the reason of the refusal, the place of the validation in its policy."""

    message: str
    reason: str = "Invalid"
    place: int = 0


class Annotation(NamedTuple):
    """One audit annotation; `wrong`: why it has no value."""

    key: str
    value: str
    wrong: str = ""


class _Stopped(Exception):
    """Nothing more is evaluated; the text says why."""


class Evaluation:
    """What is evaluated for one write: what is handed in is made once."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._left = REQUEST_COST_MAX
        self._given: dict[str, dict[str, Any]] = {}

    def given(self, kind: Kind) -> dict[str, Any]:
        """Return the variables in one version of the kind that is written."""
        given = self._given.get(kind.resource)
        if given is None:
            asked = asked_in(self._attempt, kind)
            given = self._given[kind.resource] = {
                "object": asked.document,
                "oldObject": asked.old,
                "request": request_of(self._attempt, kind),
                "namespaceObject": self._home(),
                "authorizer": self._authorizer(kind),
            }
        return given

    def _authorizer(self, kind: Kind) -> Mapping[str, Any]:
        attempt = self._attempt
        return authorizer_of(kind.group, kind.plural, subresource_of(attempt), place_of(attempt), name_of(attempt))

    def _home(self) -> dict[str, Any] | None:
        if not self._attempt.namespace or self._attempt.kind.resource == _NAMESPACES:
            return None
        home = self._attempt.lookup.get(_NAMESPACES, "", self._attempt.namespace)
        if home is None:
            return None
        metadata = {key: home["metadata"][key] for key in home["metadata"] if key not in _HIDDEN}
        return {"metadata": metadata, "spec": home.get("spec") or {}, "status": home.get("status") or {}}

    def of(
        self, spec: Mapping[str, Any], kind: Kind, parameters: Mapping[str, Any] | None
    ) -> tuple[Sequence[Decision], Sequence[Annotation]]:
        """Return why a policy does not want the write, and its audit annotations."""
        asked = _Policy(self, spec, {**self.given(kind), "params": parameters})
        ignored = spec.get("failurePolicy") == "Ignore"
        try:
            if not asked.conditions(spec.get("matchConditions") or (), ignored=ignored):
                return (), ()
            return asked.validations(ignored=ignored), asked.annotations(ignored=ignored)
        except (_Stopped, OutOfBudget) as stopped:
            return (() if ignored else (Decision(str(stopped)),)), ()

    def conditions(self, hook: Mapping[str, Any], kind: Kind) -> bool:
        """Return whether a webhook's match conditions let it be asked.

        Raises:
            Failed: one of them has no value, and the webhook does not let that pass.
        """
        asked = _Policy(self, {}, self.given(kind))
        try:
            return asked.conditions(hook.get("matchConditions") or (), ignored=hook.get("failurePolicy") == "Ignore")
        except _Stopped as stopped:
            raise Failed(str(stopped)) from stopped

    def evaluate(self, asked: Expression, given: Mapping[str, Any]) -> Any:
        """Return an expression's value, within what is left for this write.

        Raises:
            OutOfBudget: nothing is left.
            Failed: it has no value.
        """
        cost = asked.cost(given)
        if cost > self._left:
            raise OutOfBudget(OUT_OF_BUDGET)
        self._left -= cost
        with asking(self._attempt.context.authorize):
            return asked.evaluate(given)


_HIDDEN: Final = frozenset({"managedFields", "ownerReferences", "selfLink"})


class _Policy:
    """One policy asked about one write, with one set of parameters."""

    def __init__(self, evaluation: Evaluation, spec: Mapping[str, Any], given: dict[str, Any]) -> None:
        self._evaluation = evaluation
        self._spec = spec
        self._given = given
        self._names: dict[str, Shape] = dict(PARAMETERIZED if spec.get("paramKind") is not None else NAMES)
        self._variables: dict[str, tuple[str, dict[str, Shape]]] = {}
        self._known: dict[str, Any] = {}
        self._failed: dict[str, str] = {}
        shapes: dict[str, Shape] = {}
        for variable in spec.get("variables") or ():
            self._names = {**self._names, "variables": object_of(**shapes)}
            self._variables[variable["name"]] = (variable["expression"], self._names)
            shapes[variable["name"]] = shape_of(variable["expression"], self._names)
        if shapes:
            self._names = {**self._names, "variables": object_of(**shapes)}

    def _value(self, source: str, wanted: tuple[str, ...], names: Mapping[str, Shape] | None = None) -> Any:
        try:
            asked = expression(source, self._names if names is None else names, wanted)
        except CompileError as wrong:
            raise Failed(f"compilation error: {wrong}") from wrong
        reads = asked.reads("variables")
        for name in reads:
            self._work_out(name)
        try:
            return self._evaluation.evaluate(asked, {**self._given, "variables": self._known})
        except OutOfBudget:
            raise
        except Failed as wrong:
            text = str(wrong)
            failed = next((name for name in reads if text == f"no such key: {name}" and name in self._failed), None)
            if failed is not None:
                text = f'composited variable "{failed}" fails to evaluate: {self._failed[failed]}'
            raise Failed(text) from wrong

    def _work_out(self, name: str) -> None:
        """Work out a variable that is read, and those that it reads."""
        if name in self._known or name in self._failed or name not in self._variables:
            return
        source, names = self._variables[name]
        try:
            self._known[name] = self._value(source, ("any",), names)
        except OutOfBudget:
            raise
        except Failed as wrong:
            self._failed[name] = str(wrong)

    def conditions(self, written: Sequence[Mapping[str, Any]], *, ignored: bool) -> bool:
        """Return whether all hold.

        Raises:
            _Stopped: one has no value, and none of the others is false.
        """
        wrong: list[str] = []
        for condition in written:
            source = condition["expression"]
            try:
                if self._value(source, ("bool",)) is False:
                    return False
            except OutOfBudget as spent:
                if ignored:
                    return False
                raise _Stopped(str(spent)) from spent
            except Failed as failed:
                wrong.append(_resulted(source, failed))
        if not wrong:
            return True
        if ignored:
            return False
        several = list(dict.fromkeys(wrong))
        raise _Stopped(several[0] if len(several) == 1 else f"[{', '.join(several)}]")

    def validations(self, *, ignored: bool) -> list[Decision]:
        """Return what the validations forbid."""
        decisions = []
        for index, rule in enumerate(self._spec.get("validations") or ()):
            try:
                good = self._value(rule["expression"], ("bool",)) is True
            except OutOfBudget:
                raise
            except Failed as failed:
                if not ignored:
                    decisions.append(Decision(_resulted(rule["expression"], failed), place=index))
                continue
            if not good:
                decisions.append(Decision(self._message(rule), rule.get("reason") or "Invalid", index))
        return decisions

    def _message(self, rule: Mapping[str, Any]) -> str:
        source = rule.get("messageExpression") or ""
        if source.strip():
            try:
                told = self._value(source, ("string",), in_messages(self._names))
            except Failed:
                told = ""
            told = told.strip() if isinstance(told, str) else ""
            if told and len(told) <= MESSAGE_CHARS_MAX and "\n" not in told:
                return told
        return (rule.get("message") or "").strip() or f"failed expression: {rule['expression'].strip()}"

    def annotations(self, *, ignored: bool) -> list[Annotation]:
        """Return the audit annotations."""
        found = []
        for one in self._spec.get("auditAnnotations") or ():
            try:
                value = self._value(one["valueExpression"], ("string", "null_type"))
            except OutOfBudget:
                raise
            except Failed as failed:
                if not ignored:
                    found.append(Annotation(one["key"], "", _resulted(one["valueExpression"], failed)))
                continue
            if isinstance(value, str) and value.strip():
                found.append(Annotation(one["key"], value.strip()))
        return found


def _resulted(source: str, failed: Failed) -> str:
    text = str(failed)
    return text if text.startswith("compilation error") else f"expression '{source}' resulted in error: {text}"
