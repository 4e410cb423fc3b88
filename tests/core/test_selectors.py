from __future__ import annotations

import pytest

from scheduler_core.api.errors import ApiError
from scheduler_core.api.label_names import label_value_errors, qualified_name_errors
from scheduler_core.api.meta import view
from scheduler_core.api.selector_text import parse_field_selector, parse_label_selector
from scheduler_core.api.selectors import (
    LabelSelector,
    NodeSelectorTerm,
    SelectorError,
    compile_term,
    matches_all,
    read_selector,
    requirement,
    selects,
)

LABELS = {"app": "web", "tier": "gold", "gen": "3", "empty": ""}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web,tier=gold", True),
        ("app!=web", False),
        ("absent!=web", True),
        ("app in (web, db)", True),
        ("app notin (web,db)", False),
        ("absent notin (x)", True),
        ("app", True),
        ("absent", False),
        ("!absent", True),
        ("!app", False),
        ("gen>2,gen<4", True),
        ("gen>3", False),
        ("app>1", False),
        ("empty=", True),
        ("empty in (,x)", True),
        ("example.com/team=x", False),
    ],
)
def test_label_selector_text(text: str, matches: bool) -> None:
    assert matches_all(parse_label_selector(text), LABELS) is matches


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("app=web,", "found '', expected: identifier after ','"),
        (",app=web", "found ',', expected: !, identifier, or 'end of string'"),
        ("app in web", "unable to parse requirement: found 'web' expected: '('"),
        ("app in (web", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("app in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("app in (a,=)", "unable to parse requirement: found '=', expected: ',', or identifier"),
        ("=web", "found '=', expected: !, identifier, or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a===b", "unable to parse requirement: found '=', expected: identifier"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("!!a", "unable to parse requirement: found '!', expected: identifier"),
        ("a in ()b", "found 'b', expected: ',' or 'end of string'"),
        ("-x=y", 'unable to parse requirement: <nil>: Invalid value: "-x": name part must consist of'),
        ("x/y/z", 'unable to parse requirement: <nil>: Invalid value: "x/y/z": a qualified name must consist of'),
        ("a=%", 'unable to parse requirement: values[0][a]: Invalid value: "%": a valid label must be'),
        ("gen>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value"),
    ],
)
def test_label_selector_text_that_cannot_be_read_is_refused_in_upstreams_words(text: str, says: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_label_selector(text)
    assert caught.value.code == 400
    assert caught.value.message.startswith(says)


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("metadata.name=web", True),
        ("metadata.name==web,status.phase!=Running", True),
        ("metadata.name!=web", False),
        ("spec.nodeName=", True),
        (r"metadata.name=a\,b", False),
        ("", True),
    ],
)
def test_field_selector_text(text: str, matches: bool) -> None:
    fields = {"metadata.name": "web", "status.phase": "Pending"}
    found = all(one.matches(lambda name: fields.get(name, "")) for one in parse_field_selector(text))
    assert found is matches


def test_escapes_in_field_selectors() -> None:
    (one,) = parse_field_selector(r"metadata.name=a\,b\=c\\d")
    assert one.value == "a,b=c\\d"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_field_selector_text_that_cannot_be_read_is_refused_in_upstreams_words(text: str, says: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_field_selector(text)
    assert (caught.value.code, caught.value.message) == (400, says)


@pytest.mark.parametrize(
    ("document", "matches"),
    [
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}, {"key": "x", "operator": "Exists"}]}, False),
    ],
)
def test_label_selector_objects(document: dict[str, object], matches: bool) -> None:
    assert view(document, LabelSelector).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("operator", "values", "says"),
    [
        ("In", [], "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"),
        ("Gt", [], "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required"),
        ("Exists", ["x"], "must be empty"),
        ("Gt", ["1", "2"], "exactly one value"),
        ("Gt", ["x"], "must be an integer"),
        ("Near", ["x"], "Unsupported value"),
        ("In", ["-5"], "a valid label must be"),
    ],
)
def test_unreadable_requirements_say_why(operator: str, values: list[str], says: str) -> None:
    with pytest.raises(SelectorError, match=says.replace("'", ".")):
        requirement("gen", operator, values)


@pytest.mark.parametrize(
    ("operator", "values", "says"),
    [
        ("In", [], "values set can.t be empty"),
        ("Gt", ["1"], '"Gt" is not a valid label selector operator'),
        ("Near", ["x"], '"Near" is not a valid label selector operator'),
    ],
)
def test_label_selectors_know_fewer_operators_than_node_selectors(operator: str, values: list[str], says: str) -> None:
    selector = view({"matchExpressions": [{"key": "gen", "operator": operator, "values": values}]}, LabelSelector)
    with pytest.raises(SelectorError, match=says):
        selector.requirements()
    with pytest.raises(SelectorError, match=says):
        read_selector(selector)


def test_an_absent_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert not selects(read_selector(None), LABELS)
    assert selects(read_selector(LabelSelector()), LABELS)


@pytest.mark.parametrize(
    ("term", "matches"),
    [
        ({}, False),
        ({"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["2"]}]}, True),
        ({"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["-5"]}]}, False),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}, True),
        ({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}, False),
        ({"matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["n1"]}]}, False),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1", "n2"]}]}, False),
    ],
)
def test_node_selector_terms(term: dict[str, object], matches: bool) -> None:
    assert compile_term(view(term, NodeSelectorTerm)).matches("n1", LABELS) is matches


@pytest.mark.parametrize(
    ("key", "good"),
    [
        ("app", True),
        ("example.com/app", True),
        ("Example.com/app", False),
        ("/app", False),
        ("a/", False),
        ("a" * 64, False),
    ],
)
def test_label_keys(key: str, good: bool) -> None:
    assert (qualified_name_errors(key) == []) is good


@pytest.mark.parametrize(
    ("text", "good"), [("", True), ("a.b_c-d", True), ("-a", False), ("a" * 64, False), ("a b", False)]
)
def test_label_values(text: str, good: bool) -> None:
    assert (label_value_errors(text) == []) is good
