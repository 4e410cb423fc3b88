"""CEL expressions: what compiles and what is refused, where; what they come to; that none runs away."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.cel.documents import Documents, measure
from scheduler_core.cel.language import (
    COST_PER_CYCLE_MAX,
    EXPRESSION_CHARS_MAX,
    EvaluationError,
    ExpressionError,
    Size,
    Wanted,
    compile_expression,
)
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from tests.core.objects import info, node, pod

WEB = pod("web-1", labels={"app": "web"}, requests={"cpu": "500m"}, priority=7)
DB = pod("db-1", labels={"app": "db", "tier": "gold"}, requests={"cpu": "1", "memory": "1Gi"}, priority=0)
NODE = info(node("n1", labels={"zone": "a", "gen": "5"}, taints=[{"key": "k", "effect": "NoSchedule"}]), WEB, DB)


def value(source: str, one: PodInfo = WEB, on: NodeInfo = NODE, wanted: Wanted = "bool") -> Any:
    """Return what an expression comes to."""
    program = compile_expression(source, wanted)
    documents = Documents([program])
    (about_pod, pod_size), (about_node, node_size) = documents.of_pod(one), documents.of_node(on)
    return program.evaluate(about_pod | about_node, pod_size.with_(node_size), 1)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("pod.metadata.labels['app'] == 'web'", True),
        ("node.metadata.labels.zone == 'b'", False),
        ("has(node.metadata.labels.rack)", False),
        ("node.metadata.labels[?'rack'].orValue('none') == 'none'", True),
        ("pod.spec.?nodeSelector[?'zone'].orValue(node.metadata.labels.zone) == node.metadata.labels.zone", True),
        ("node.metadata.?annotations.optMap(a, a.x == 'y').orValue(true)", True),
        ("pod.metadata.name == 'web-1' && pod.metadata.namespace == 'default'", True),
        ("node.spec.taints.exists(t, t.key == 'k' && t.effect == 'NoSchedule')", True),
        ("pod.spec.containers.all(c, c.image.matches('^i:[0-9]+$'))", True),
        ("pods.size() == 2 && pods[1].metadata.name == 'db-1'", True),
        ("pods.filter(p, p.metadata.labels.app == 'db').all(q, q.metadata.labels.tier == 'gold')", True),
        ("pods.exists_one(p, p.spec.priority > pod.spec.priority)", False),
        ("pods.map(p, p.spec.priority) == [7, 0]", True),
        ("requests.cpu == 500 && requested.cpu == 1500 && allocatable.cpu == 4000", True),
        ("requested.memory == 1024 * 1024 * 1024 && requested.pods == 0", True),
        ("requests['ephemeral-storage'] == 0", True),
        ("pod.spec.priority == 7 && !has(pod.spec.hostNetwork)", True),
        ("'zone' in node.metadata.labels && 'a' in ['a', 'b']", True),
        ("int(node.metadata.labels.gen) + 1 == 6", True),
        ("node.status.allocatable.cpu == '4'", True),
        ("has(pod.status.phase) || has(pod.spec.affinity)", False),
        ("pod == pod && node != pod", True),
        # Of two sides one is enough, as ever in CEL.
        ("pod.metadata.labels.missing == 'x' || true", True),
    ],
)
def test_what_they_come_to(source: str, expected: bool) -> None:
    assert value(source) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("100 * requested.cpu / allocatable.cpu", 37),
        ("100.0 * double(requested.cpu) / double(allocatable.cpu)", 37.5),
        ("math.greatest(1, requests.cpu, 3)", 500),
        ("node.metadata.labels.zone == 'a' ? 10 : 0", 10),
        ("pods.filter(p, p.metadata.labels.app == 'web').size()", 1),
    ],
)
def test_numbers(source: str, expected: float) -> None:
    assert value(source, wanted="number") == expected


@pytest.mark.parametrize(
    ("source", "wanted", "places", "text"),
    [
        ("pod.metadata.name =", "bool", [(1, 19)], "Syntax error"),
        ("true &&\n  && false", "bool", [(2, 3)], "Syntax error"),
        ("", "bool", [(1, 1)], "Syntax error"),
        ("nod.metadata.name == 'a'", "bool", [(1, 1)], "there is no nod here"),
        ("1 + 'a' == 2", "bool", [(1, 3)], "no matching overload"),
        ("pod.spec.nodName == 'a'", "bool", [(1, 9)], "undefined field 'nodName': did you mean nodeName?"),
        ("true ||\n pod['spec'].x == 1", "bool", [(2, 13)], "undefined field 'x'"),
        ("pod.metadata['nam'] == ''", "bool", [(1, 13)], "did you mean name?"),
        ("has(node.spec.taint)", "bool", [(1, 4)], "did you mean taints?"),
        ("pods.all(p, p.metadata.label.app == 'x')", "bool", [(1, 23)], "did you mean labels?"),
        ("pod.x == 1 && node.y == 1", "bool", [(1, 4), (1, 19)], "undefined field"),
        ("pods.size()", "bool", [(1, 1)], "it comes to the type int, not a bool"),
        ("true", "number", [(1, 1)], "it comes to the type bool, not a number"),
        ("pod.metadata.name.matches(node.metadata.name)", "bool", [(1, 40)], "must be written out"),
        ("pod.metadata.name.matches('a{9}')", "bool", [(1, 27)], "cannot count"),
        (f"pod.metadata.name.matches('{'a' * 201}')", "bool", [(1, 27)], "at most 200"),
        ("pods.map(p, p.metadata.name + 'x').size() > 1", "bool", [(1, 29)], "adds numbers only"),
        ("[1].all(a, [1].all(b, [1].all(c, [1].all(d, a + b == c + d))))", "bool", [(1, 8)], "at most 3"),
        ("+".join(["requests.cpu"] * 200), "bool", [(1, 1)], "characters: at most 2000"),
        ("[" + ",".join("1" * 500) + "].size() > 1", "bool", [(1, 1010)], "operations: at most 400"),
        ("(" * 40 + "true" + ")" * 40, "bool", [(1, 1)], "recursion limit"),
        ("true\x00", "bool", [(1, 1)], "control characters"),
        ("'\ud800' == ''", "bool", [(1, 1)], ""),
    ],
)
def test_what_is_refused(source: str, wanted: Wanted, places: list[tuple[int, int]], text: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        compile_expression(source, wanted)
    found = refused.value.problems
    assert [(one.line, one.column) for one in found] == places
    assert text in found[0].message


@pytest.mark.parametrize(
    "source",
    [
        "__import__('os').system('id') == 0",
        "pod.__class__.__mro__ == []",
        "pods.__len__() == 1",
        "().__class__ == 1",
        "eval('1') == 1",
        "open('/etc/passwd') == ''",
        "getattr(pod, 'x') == 1",
        "lambda: 1",
        "[x for x in pods] == []",
        "f'{pod}' == ''",
        "now() > timestamp('2020-01-01T00:00:00Z')",
        "type(pod) == map",
        "dyn(pod) == 1",
        "google.protobuf.Any{} == null",
        "cel.bind(x, 1, x == 1)",
        "timestamp('2020-01-01T00:00:00Z').getHours('America/New_York') == 1",
        "pod.spec.containers.map(c, c.image.format([1])).size() == 1",
    ],
)
def test_nothing_else_can_be_called(source: str) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(source, "bool")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("pod.metadata.labels.missing == 'x'", 'Key not found in map : "missing"'),
        ("1 / (requests.cpu - 500) == 1", "divide by zero"),
        ("9223372036854775807 + requests.cpu > 0", "integer overflow"),
        ("int(pod.metadata.name) == 1", "cannot convert"),
        ("pods[7].spec.priority == 1", "Index error"),
        ("pod.spec.priority.startsWith('x')", "No matching overloads"),
        ("pod.metadata.labels", "it comes to the type map, not a bool"),
    ],
)
def test_expressions_without_a_value(source: str, text: str) -> None:
    with pytest.raises(EvaluationError) as wrong:
        value(source)
    assert text in str(wrong.value)
    assert "\n" not in str(wrong.value)


MANY = info(node("big", labels={f"l{index}": "v" for index in range(90)}), *(pod(f"p{index}") for index in range(90)))


@pytest.mark.parametrize(
    "source",
    [
        "pods.all(a, pods.all(b, pods == pods))",
        "pods.all(a, pods.all(b, !(a in [b, a, b])))",
        "[pods.map(p, [p, p, p, p, p, p, p, p])].all(g, pods.all(q, g == g))",
        "pods.all(a, pods.all(b, pods.all(c, pod == node)))",
        "pods.map(a, pods.map(b, [a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, b])) == []",
        "pods.all(a, pods.all(b, node.metadata.labels == node.metadata.labels))",
    ],
)
def test_what_would_take_too_long_is_not_begun(source: str) -> None:
    with pytest.raises(EvaluationError, match="units of work"):
        value(source, on=MANY)


def test_loops_end() -> None:
    with pytest.raises(EvaluationError, match="budget"):
        value("pods.all(a, pods.all(b, [1, 2].all(c, true)))", on=MANY)


def test_each_node_and_each_expression_has_its_share() -> None:
    program = compile_expression("pods.all(p, p.metadata.name != 'x')", "bool")
    size = Size(500, 100, 1)
    cost = program.cost(size)
    assert program.evaluate({"pods": []}, size, COST_PER_CYCLE_MAX // cost) is True
    with pytest.raises(EvaluationError, match=f"up to {cost} units"):
        program.evaluate({"pods": []}, size, COST_PER_CYCLE_MAX // cost + 1)


def test_only_what_is_read_is_handed_over() -> None:
    program = compile_expression("pods.all(p, p.metadata.labels.app != pod.metadata.name)", "bool")
    documents = Documents([program])
    assert documents.of_pod(WEB)[0] == {"pod": {"metadata": {"name": "web-1"}, "spec": {}, "status": {}}}
    shown, size = documents.of_node(NODE)
    assert list(shown) == ["pods"]
    assert shown["pods"][0] == {"metadata": {"labels": {"app": "web"}}, "spec": {}, "status": {}}
    assert size == Size(1).with_(measure(shown["pods"]))


def test_documents_follow_their_objects() -> None:
    documents = Documents([compile_expression("requested.cpu > pods.size() && has(node.metadata.labels)", "bool")])
    changing = info(node("n"), WEB)
    assert documents.of_node(changing)[0]["requested"]["cpu"] == 500
    changing.add_pod(DB)
    assert documents.of_node(changing)[0]["requested"]["cpu"] == 1500
    assert len(documents.of_node(changing)[0]["pods"]) == 2
    changing.set_node(node("n", labels={"a": "b"}))
    assert documents.of_node(changing)[0]["node"]["metadata"] == {"labels": {"a": "b"}}


TOKENS = st.sampled_from(
    [
        "pod", "node", "pods", "requests", "requested", ".metadata", ".labels", ".spec", ".size()", "[0]", "['app']",
        ".all(p, ", ".exists(q, ", ".map(a, ", ".filter(p, ", ")", "(", "p", "a", " == ", " + ", " in ", " && ", " ? ",
        " : ", "!", "-", "1", "2.5", "'x'", "[", "]", ",", "{", "}", "true", "null", ".matches('a+')", "has(", ".?x",
        "orValue(", "string(", "int(", ".cpu", "b'x'", "0xff", "1u", "\n", "//", "é", "\\", "'", '"',
    ]
)  # fmt: skip


def outcome(source: str, wanted: Wanted) -> Any:
    """Return an expression's value, or what is said instead."""
    try:
        return value(source, on=MANY, wanted=wanted)
    except (ExpressionError, EvaluationError) as wrong:
        return wrong


@settings(max_examples=200)
@given(st.lists(TOKENS, max_size=25).map("".join), st.sampled_from(["bool", "number"]))
def test_whatever_is_typed_is_refused_with_its_place_or_has_a_value(source: str, wanted: Wanted) -> None:
    modules = set(sys.modules)
    found = outcome(source, wanted)
    if isinstance(found, ExpressionError):
        assert all(1 <= one.line <= source.count("\n") + 1 and one.column >= 1 for one in found.problems)
        assert all(one.message for one in found.problems)
    elif isinstance(found, EvaluationError):
        assert str(found)
    else:
        assert isinstance(found, bool if wanted == "bool" else int | float)
    assert set(sys.modules) == modules


@settings(max_examples=100)
@given(st.text(max_size=EXPRESSION_CHARS_MAX + 5))
def test_any_text_is_compiled_or_refused(source: str) -> None:
    assert isinstance(outcome(source, "bool"), bool | ExpressionError | EvaluationError)
