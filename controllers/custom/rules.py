"""Rules of a schema in CEL (`x-kubernetes-validations`): compiled when they are written, asked of every object.

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel (compilation.go, validation.go), pkg/apis/apiextensions/
validation/cel_validation.go, v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.custom.node import Node, read
from controllers.custom.rulecosts import MOST, Costs, cardinality
from controllers.custom.times import read_text
from controllers.custom.values import NOWHERE
from controllers.registry import fields
from scheduler_core.api.errors import Cause
from scheduler_core.expressions.language import OUT_OF_BUDGET, CompileError, Expression, Failed, OutOfBudget, compiled
from scheduler_core.expressions.pricing import COST_MAX
from scheduler_core.expressions.shapes import BOOL, DYN, INT, TEXT, TIME, Shape, lazy

BUDGET: Final = 10_000_000
"""Units of work that all rules may cost for one object, as upstream's RuntimeCELCostBudget."""

RULE_COST_MAX: Final = 10_000_000
"""What one rule may cost at most for the largest object that its schema takes, estimated (StaticEstimatedCostLimit)."""

TOTAL_COST_MAX: Final = 100_000_000
"""What all rules of a schema may cost together, estimated (StaticEstimatedCRDCostLimit)."""

_DEAREST: Final = 4
"""Rules that are named where all together cost too much."""

_STEP: Final = re.compile(r"\.([A-Za-z_]\w*)|\['((?:[^'\\]|\\.)*)'\]")
_PATH: Final = re.compile(rf"(?:{_STEP.pattern})+")
_BLOCKING: Final = (
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
)
_UNCHECKED: Final = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
_SHAPES: Final[Mapping[str, Shape]] = {"string": TEXT, "integer": INT, "boolean": BOOL, "number": Shape("double")}
_TIMES: Final = ("date", "date-time")
_FORMATTED: Final[Mapping[tuple[str, Any], Shape]] = {
    **{("string", name): TIME for name in _TIMES},
    ("string", "duration"): Shape("duration"),
    ("string", "byte"): Shape("bytes"),
}
"""Texts that are something else to the language (apiserver, pkg/cel/common/schemas.go)."""

_ENVELOPE: Final[Mapping[str, Shape]] = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": lazy(lambda: {"name": TEXT, "generateName": TEXT}),
}


def shape_of(node: Node, *, root: bool = False) -> Shape:
    """Return what a value is to the language."""
    if node.int_or_string or (node.preserves and not node.properties):
        return DYN
    if node.type == "array":
        return Shape(f"list<{shape_of(node.items).cel if node.items is not None else 'dyn'}>")
    if node.type == "object" or node.embedded:
        if node.extra is not None:
            return Shape(f"map<string,{shape_of(node.extra).cel}>")
        members = {escaped(name): one for name, one in node.properties.items()}
        more = _ENVELOPE if root or node.embedded else {}
        return lazy(lambda: {**{name: shape_of(one) for name, one in members.items()}, **more})
    return _FORMATTED.get((node.type, node.source.get("format")), _SHAPES.get(node.type, DYN))


_WORDS: Final = """
    true false null in as break const continue else for function if import let loop package namespace return
"""
_RESERVED: Final = frozenset(_WORDS.split())


def escaped(name: str) -> str:
    """Return how expressions call a member (apiserver, pkg/cel/escaping.go)."""
    if name in _RESERVED:
        return f"__{name}__"
    for letters, told in (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")):
        name = name.replace(letters, told)
    return name


def rule_causes(schema: Mapping[str, Any], path: str) -> list[Cause]:
    """Return what is wrong with the rules of a schema."""
    costs: list[tuple[str, int]] = []
    causes = _causes_below(schema, path, costs, 1, root=True)
    total = min(sum(cost for _, cost in costs), MOST)
    if total > TOTAL_COST_MAX:
        dearest = sorted((one for one in costs if one[1] >= TOTAL_COST_MAX // 100), key=lambda one: -one[1])[:_DEAREST]
        why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        causes += [fields.not_allowed(where, why) for where, _ in dearest]
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        causes.append(fields.not_allowed(path, _dear(what, total, TOTAL_COST_MAX)))
    return causes


def _causes_below(
    schema: Mapping[str, Any], path: str, costs: list[tuple[str, int]], times: int | None, *, root: bool = False
) -> list[Cause]:
    """Return what is wrong with the rules in a part of a schema.

    Args:
        schema: the part.
        path: where it lies.
        costs: takes what each rule and message costs.
        times: how often values of it may stand in an object; None: that has no bound.
        root: whether it is a whole object.
    """
    causes: list[Cause] = []
    items, more = schema.get("items"), schema.get("additionalProperties")
    for name, one in (schema.get("properties") or {}).items():
        causes += _causes_below(one, f"{path}.properties[{name}]", costs, times)
    for key, inner, most in (
        ("additionalProperties", more, schema.get("maxProperties")),
        ("items", items, schema.get("maxItems")),
    ):
        if isinstance(inner, Mapping):
            below = None if most is None or times is None else times * max(int(most), 0)
            causes += _causes_below(inner, f"{path}.{key}", costs, below)
    rules = schema.get("x-kubernetes-validations") or ()
    if rules:
        node = read(schema)
        often = cardinality(node) if times is None else times
        for index, rule in enumerate(rules):
            where = f"{path}.x-kubernetes-validations[{index}]"
            causes += _rule_causes(rule, node, where, (often, costs), root=root)
    return causes


def _compile(rule: Mapping[str, Any], key: str, node: Node, *, root: bool) -> Expression:
    source = rule[key].strip()
    spot = source, _optionals(rule)
    known: Expression | None = node.programs.get(spot)
    if known is None:
        shape = shape_of(node, root=root)
        known = node.programs[spot] = compiled(source, {"self": shape, "oldSelf": shape}, _optionals(rule))
    return known


def _optionals(rule: Mapping[str, Any]) -> frozenset[str]:
    """Return which variables of a rule are optionals."""
    return frozenset({"oldSelf"}) if rule.get("optionalOldSelf") else frozenset()


def _rule_causes(
    rule: Mapping[str, Any], node: Node, path: str, charged: tuple[int, list[tuple[str, int]]], *, root: bool
) -> list[Cause]:
    """Return what is wrong with a rule; `charged`: (how often it may be asked, what takes the costs)."""
    text = (rule.get("rule") or "").strip()
    if not text:
        return []
    told = {
        "Rule": rule.get("rule") or "",
        "Message": rule.get("message") or "",
        "MessageExpression": rule.get("messageExpression") or "",
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath") or "",
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    causes: list[Cause] = []
    often, costs = charged
    found = None
    try:
        found = _compile(rule, "rule", node, root=root)
        good = found.type in ("bool", "dyn")
        why = "" if good else "cel expression must evaluate to a bool"
    except CompileError as wrong:
        why = wrong.told
    if why or found is None:
        causes.append(fields.bad(f"{path}.rule", fields.written(told), why))
    else:
        causes += _charged(found, node, f"{path}.rule", "estimated rule cost", (often, costs), root=root)
        # Nobody looks for the message of a rule that is none.
        causes += _message_causes(rule, node, path, told, costs, root=root)
    if rule.get("optionalOldSelf") is not None and (found is None or "oldSelf" not in found.roots):
        why = "may not be set if oldSelf is not used in rule"
        causes.append(fields.bad(f"{path}.optionalOldSelf", rule["optionalOldSelf"], why))
    return causes


def _message_causes(
    rule: Mapping[str, Any],
    node: Node,
    path: str,
    told: Mapping[str, Any],
    costs: list[tuple[str, int]],
    *,
    root: bool,
) -> list[Cause]:
    """Return what is wrong with the expression of a rule's message."""
    if not (rule.get("messageExpression") or "").strip():
        return []
    where = f"{path}.messageExpression"
    try:
        found = _compile(rule, "messageExpression", node, root=root)
    except CompileError as wrong:
        return [fields.bad(where, fields.written(told), f"messageExpression {wrong.told}")]
    if found.type not in ("string", "dyn"):
        return [fields.bad(where, fields.written(told), "messageExpression must evaluate to a string")]
    return _charged(found, node, where, "estimated messageExpression cost", (1, costs), root=root)


def _charged(
    found: Expression, node: Node, where: str, what: str, charged: tuple[int, list[tuple[str, int]]], *, root: bool
) -> list[Cause]:
    """Note what an expression costs, and refuse it where that is too much."""
    often, costs = charged
    cost = min(Costs(found.tree, node, _unescaped, root=root).most() * often, MOST)
    costs.append((where, cost))
    return [fields.not_allowed(where, _dear(what, cost, RULE_COST_MAX))] if cost > RULE_COST_MAX else []


def _unescaped(node: Node) -> Mapping[str, str]:
    return {escaped(name): name for name in node.properties}


def leads(path: str, node: Node) -> bool:
    """Return whether a path (`.a['b-c']`) leads to something that a schema tells of."""
    if not _PATH.fullmatch(path):
        return False
    for step in _STEP.findall(path):
        found = node.step(step[0] or step[1])
        if found is None:
            return False
        node = found
    return True


def _dear(what: str, cost: int, most: int) -> str:
    factor = cost / most
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return (
        f"{what} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, maxProperties, "
        "and maxLength where arrays, maps, and strings are declared)"
    )


class Asking:
    """One object that is asked about: what is left of its budget, and what is wrong.

    `unchanged`: it is asked of what stayed as it was, alone.
    """

    def __init__(self, *, unchanged: bool = False) -> None:
        """Begin with the whole budget."""
        self.left = BUDGET
        self.unchanged = unchanged
        self.causes: list[Cause] = []


def has_rules(node: Node) -> bool:
    """Return whether there are rules in a schema."""
    below = [*node.properties.values(), *(one for one in (node.items, node.extra) if one is not None)]
    return bool(node.rules) or any(map(has_rules, below))


def broken(value: Any, node: Node, old: Any, found: Sequence[Cause]) -> list[Cause]:
    """Return which rules an object breaks; `found`: what else is wrong with it, `old`: None where it is new."""
    if any(cause.reason in _BLOCKING for cause in found):
        return [fields.bad(NOWHERE, None, _UNCHECKED)]
    asking = Asking()
    _ask(value, node, old, "", asking, root=True)
    return asking.causes


def still_broken(value: Any, node: Node, old: Any) -> list[Cause]:
    """Return which rules a changed object breaks where it stayed as it was: nobody is refused for that."""
    asking = Asking(unchanged=True)
    _ask(value, node, old, "", asking, root=True)
    return asking.causes


def default_causes(value: Any, node: Node, path: str) -> list[Cause]:
    """Return which rules a default breaks that lies at a path: as it stays, and as it comes anew."""
    for old in (value, None):
        asking = Asking()
        _ask(value, node, old, path, asking)
        if asking.causes:
            return asking.causes
    return []


def _ask(value: Any, node: Node, old: Any, path: str, asking: Asking, *, root: bool = False) -> None:
    if asking.left < 0 or value is None:
        return
    for rule in node.rules:
        if asking.left >= 0:
            _ask_one(rule, value, node, old, path, asking, root=root)
    if isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        for name, inner in value.items():
            found = node.member(name)
            if found is not None:
                where = (
                    f"{path}.{name}" if path and name in node.properties else name if not path else f"{path}[{name}]"
                )
                _ask(inner, found, before.get(name), where, asking)
    elif isinstance(value, list) and node.items is not None:
        for index, (item, was) in enumerate(_paired(value, node, old)):
            _ask(item, node.items, was, f"{path}[{index}]", asking)


def _paired(value: list[Any], node: Node, old: Any) -> Iterator[tuple[Any, Any]]:
    if node.list_type != "map" or not isinstance(old, list):
        yield from ((item, None) for item in value)
        return

    def key_of(item: Any) -> bytes:
        return msgspec.json.encode([item.get(key) if isinstance(item, dict) else None for key in node.list_keys])

    before = {key_of(item): item for item in old}
    yield from ((item, before.get(key_of(item))) for item in value)


def _ask_one(
    rule: Mapping[str, Any], value: Any, node: Node, old: Any, path: str, asking: Asking, *, root: bool
) -> None:
    kind = node.type
    where = path or NOWHERE
    shown = (rule.get("message") or "").strip() or rule["rule"].strip()
    try:
        found = _compile(rule, "rule", node, root=root)
    except CompileError as wrong:
        asking.causes.append(fields.bad(where, kind, f"rule compile error: {wrong.told}"))
        return
    changes = "oldSelf" in found.roots
    optional = bool(_optionals(rule))
    stays = not changes and old is not None and old == value
    if (changes and old is None and not optional) or stays != asking.unchanged:
        return
    before = _told(old, node)
    variables = {"self": _told(value, node), "oldSelf": ([] if old is None else [before]) if optional else before}
    asking.left -= min(found.cost(variables), COST_MAX)
    if asking.left < 0:
        asking.causes.append(fields.bad(where, kind, OUT_OF_BUDGET))
        return
    try:
        if found.evaluate(variables) is not True:
            asking.causes.append(_cause(rule, where, kind, _message(rule, node, variables, root=root)))
    except OutOfBudget:
        asking.left = -1
        why = "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call "
        why += "cost exceeds limit for rule"
        asking.causes.append(fields.bad(where, kind, f"{why}: {shown}"))
    except Failed as wrong:
        said = f"{wrong} evaluating rule: {shown}"
        if str(wrong).startswith("no such overload"):
            said = f"'{wrong}': call arguments did not match a supported operator, function or macro signature for "
            said += f"rule: {shown}"
        asking.causes.append(fields.bad(where, kind, said))


def _told(value: Any, node: Node | None) -> Any:
    """Return a value as expressions see it: members under the names by which they are called."""
    if isinstance(value, dict) and node is not None:
        return {
            escaped(name) if name in node.properties else name: _told(inner, node.member(name))
            for name, inner in value.items()
        }
    if isinstance(value, list) and node is not None:
        return [_told(item, node.items) for item in value]
    if isinstance(value, str) and node is not None and node.type == "string":
        return read_text(value, node.source.get("format") or "")
    return value


def _message(rule: Mapping[str, Any], node: Node, variables: Mapping[str, Any], *, root: bool) -> str:
    if (rule.get("messageExpression") or "").strip():
        try:
            text = _compile(rule, "messageExpression", node, root=root).evaluate(variables)
        except (CompileError, Failed):
            text = ""
        if isinstance(text, str) and text.strip() and "\n" not in text:
            return text.strip()
    message = (rule.get("message") or "").strip()
    return message or f"failed rule: {rule['rule'].strip()}"


def _cause(rule: Mapping[str, Any], where: str, kind: str, message: str) -> Cause:
    place = rule.get("fieldPath") or ""
    path = f"{'' if where == NOWHERE else where}{place}".lstrip(".") or where
    match rule.get("reason"):
        case "FieldValueRequired":
            return fields.required(path, message)
        case "FieldValueForbidden":
            return fields.not_allowed(path, message)
        case "FieldValueDuplicate":
            return fields.duplicate(path, kind)
        case _:
            return fields.bad(path, kind, message)
