"""Rules of defined kinds: texts of a format, what was before where there was nothing, and what is wrong with a rule."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.custom.node import read
from controllers.custom.rules import broken, rule_causes
from controllers.custom.schemas import schema_causes


def schema(of: dict[str, Any], **rule: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": {**of, "x-kubernetes-validations": [rule]}}}


def messages(of: dict[str, Any], value: Any, old: Any = None, **rule: Any) -> list[str]:
    before = None if old is None else {"v": old}
    return [one.message for one in broken({"v": value}, read(schema(of, **rule)), before, [])]


TIME = {"type": "string", "format": "date-time"}
SPAN = {"type": "string", "format": "duration"}
BYTES = {"type": "string", "format": "byte"}
INT = {"type": "integer"}
EITHER = {"x-kubernetes-int-or-string": True}
INNER = {"type": "object", "properties": {"at": TIME, "list": {"type": "array", "items": SPAN}}}


@pytest.mark.parametrize(
    ("of", "rule", "good", "bad"),
    [
        (TIME, "self.getFullYear() == 2020", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"),
        (TIME, "self.getHours('America/New_York') == 19", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00Z"),
        ({**TIME, "format": "date"}, "self.getDate() == 2", "2020-01-02", "2020-01-03"),
        (SPAN, "self < duration('1h')", "1m", "2h"),
        (SPAN, "self == duration('36h')", "1 day 12h", "1d"),
        (BYTES, "self.size() == 1", "YQ==", "YWI="),
        (
            INNER,
            "self.at < timestamp('2030-01-01T00:00:00Z') && self.list[0] > duration('1s')",
            {"at": "2020-01-01T00:00:00Z", "list": ["2s"]},
            {"at": "2020-01-01T00:00:00Z", "list": ["500ms"]},
        ),
    ],
)
def test_texts_of_a_format_are_what_they_tell(of: dict[str, Any], rule: str, good: Any, bad: Any) -> None:
    assert rule_causes(schema(of, rule=rule), "s") == []
    assert messages(of, good, rule=rule) == []
    (wrong,) = messages(of, bad, rule=rule)
    assert wrong.endswith(f"failed rule: {rule}")


def test_a_value_of_two_types_is_told_without_one() -> None:
    assert messages(EITHER, 4, rule="type(self) == int && self > 5") == [
        'Invalid value: "": failed rule: type(self) == int && self > 5'
    ]


def test_a_rule_may_ask_whether_there_was_something_before() -> None:
    rule = {"rule": "oldSelf.hasValue() ? self > oldSelf.value() : self == 1", "optionalOldSelf": True}
    assert rule_causes(schema(INT, **rule), "s") == []
    assert messages(INT, 1, **rule) == []
    assert len(messages(INT, 2, **rule)) == 1
    assert messages(INT, 3, 2, **rule) == []
    assert len(messages(INT, 2, 2, **rule)) == 1


def test_a_rule_that_names_what_was_before_is_asked_of_changes_alone() -> None:
    assert messages(INT, 1, rule="self > oldSelf") == []
    assert len(messages(INT, 1, 1, rule="self > oldSelf")) == 1


@pytest.mark.parametrize(
    ("rule", "field", "ends"),
    [
        (
            {"rule": "self > 1", "optionalOldSelf": True},
            "optionalOldSelf",
            "Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
        ({"rule": "self > 1", "fieldPath": ".c"}, "fieldPath", 'Invalid value: ".c": must be a valid path'),
        ({"rule": "self > 1", "fieldPath": "c"}, "fieldPath", 'Invalid value: "c": must be a valid path'),
        (
            {"rule": "string(self).find('(') == ''"},
            "rule",
            "program instantiation failed: error parsing regexp: missing closing ): `(`",
        ),
    ],
)
def test_what_is_wrong_with_a_rule_is_told_with_it(rule: dict[str, Any], field: str, ends: str) -> None:
    (cause,) = schema_causes(schema(INT, **rule), "s", status=False)
    assert cause.field == f"s.properties[v].x-kubernetes-validations[0].{field}"
    assert cause.message.endswith(ends)


def test_the_message_of_a_rule_that_is_none_is_not_looked_at() -> None:
    (cause,) = rule_causes(schema(INT, rule="nope(self)", messageExpression="5"), "s")
    assert cause.field.endswith(".rule")
    told = rule_causes(schema(INT, rule="nope(self)", optionalOldSelf=True), "s")
    assert [one.field.rpartition(".")[2] for one in told] == ["rule", "optionalOldSelf"]


@pytest.mark.parametrize("path", [".at", "['at']", ".list"])
def test_a_path_that_the_schema_tells_of_is_taken(path: str) -> None:
    assert rule_causes(schema(INNER, rule="has(self.at)", fieldPath=path), "s") == []


LONG: dict[str, Any] = {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3_000_000}


@pytest.mark.parametrize(
    ("of", "rule", "told"),
    [
        ({"type": "array", "items": {"type": "string"}}, "self.all(x, x.startsWith('a'))", ""),
        (LONG, "self.all(x, x == 'a')", "1.5x"),
        (LONG, "self.all(x, x.matches('^a+$'))", "2.1x"),
        (LONG, "self.all(x, self.exists(y, x == y))", "more than 100x"),
        (LONG, "self.map(x, x).all(x, x == 'a')", "5.4x"),
        ({"type": "string"}, "self.contains(self)", "more than 100x"),
        ({"type": "string", "maxLength": 10}, "self.contains(self)", ""),
        (INT, "'is ' + string(self) == 'is 1'", "more than 100x"),
    ],
)
def test_a_rule_may_not_cost_more_than_upstream_lets_it(of: dict[str, Any], rule: str, told: str) -> None:
    causes = rule_causes(schema(of, rule=rule), "s")
    assert [f"estimated rule cost exceeds budget by factor of {told} " in one.message for one in causes[:1]] == (
        [True] if told else []
    )


def test_the_message_of_a_rule_costs_and_all_together_do() -> None:
    causes = rule_causes(schema(INT, rule="self > 1", messageExpression="'not ' + string(self)"), "s")
    at = "s.properties[v].x-kubernetes-validations[0].messageExpression"
    assert [cause.field for cause in causes] == [at, at, "s"]
    assert "estimated messageExpression cost exceeds budget" in causes[0].message
    assert causes[1].message.endswith(
        "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
    )
    assert "estimated rule cost total for entire OpenAPIv3 schema exceeds budget" in causes[2].message
