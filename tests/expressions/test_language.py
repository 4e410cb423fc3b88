"""Expressions of API objects: upstream's complaints, values, and the price that is known before they run."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.expressions.authorizing import Access, Answer, asking, authorizer_of
from scheduler_core.expressions.language import CompileError, Failed, OutOfBudget, compiled, expression
from scheduler_core.expressions.policies import NAMES, PARAMETERIZED, in_messages
from scheduler_core.expressions.pricing import COST_MAX
from scheduler_core.expressions.shapes import DYN, INT, object_of

VARIABLES = {**NAMES, "variables": object_of(replicas=INT)}
DOCUMENT: dict[str, Any] = {
    "metadata": {"labels": {"team": "a", "tier": "web"}},
    "spec": {
        "replicas": 3,
        "memory": "2Gi",
        "names": ["b", "a"],
        "containers": [{"name": "one", "image": "here/a:1"}, {"name": "two", "image": "there/b:2"}],
    },
}
GIVEN: dict[str, Any] = {
    "object": DOCUMENT,
    "oldObject": None,
    "request": {"operation": "CREATE", "userInfo": {"username": "teacher", "groups": ["class"]}},
    "namespaceObject": None,
    "variables": {"replicas": 3},
}


def wrong(source: str, names: Any = VARIABLES) -> str:
    with pytest.raises(CompileError) as raised:
        compiled(source, names)
    return str(raised.value)


@pytest.mark.parametrize(
    ("source", "line", "dots"),
    [
        ("foo.bar > 1", "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')", ""),
        ("request.foo == 'a'", "ERROR: <input>:1:8: undefined field 'foo'", "." * 7),
        ("namespaceObject.metadata.foo == 'a'", "ERROR: <input>:1:25: undefined field 'foo'", "." * 24),
        ("variables.b", "ERROR: <input>:1:10: undefined field 'b'", "." * 9),
        ("params.limit > 1", "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')", ""),
        (
            "variables.replicas > 'a'",
            "ERROR: <input>:1:20: found no matching overload for '_>_' applied to '(int, string)'",
            "." * 19,
        ),
        ("object.x.shout()", "ERROR: <input>:1:15: undeclared reference to 'shout' (in container '')", "." * 14),
        ("'\u00e9' + a", "ERROR: <input>:1:7: undeclared reference to 'a' (in container '')", ".\uff0e...."),
    ],
)  # fmt: skip
def test_what_does_not_compile_is_told_as_upstream_tells_it(source: str, line: str, dots: str) -> None:
    assert wrong(source) == f"{line}\n | {source}\n | {dots}^"


def test_a_line_of_several_is_pointed_at() -> None:
    text = wrong("object.a > 1 &&\n  nowhere.b")
    assert text == "ERROR: <input>:2:3: undeclared reference to 'nowhere' (in container '')\n |   nowhere.b\n | ..^"


def test_what_is_not_finished_lists_what_could_follow() -> None:
    assert wrong("1 +").startswith(
        "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(',"
    )


def test_the_authorizer_is_asked_step_by_step() -> None:
    assert "'path' applied to 'kubernetes.authorization.Authorizer.(int)'" in wrong("authorizer.path(5)")
    assert "undefined field 'x'" in wrong("authorizer.x")
    assert "undeclared reference to 'authorizer'" in wrong("authorizer.path('/a')", in_messages(VARIABLES))


@pytest.mark.parametrize(
    ("source", "answer", "asked"),
    [
        ("authorizer.path('/a').check('get').allowed()", True, Access(None, "get", "/a")),
        ("authorizer.requestResource.check('use').reason()", "why", Access(None, "use", "", "", "pods", "", "ns", "n")),
        (
            "authorizer.group('g').resource('r').subresource('s').namespace('n').name('x').check('v').errored()",
            False,
            Access(None, "v", "", "g", "r", "s", "n", "x"),
        ),
        (
            "authorizer.serviceAccount('a', 'b').path('/a').check('get').error()",
            "",
            Access(
                {
                    "username": "system:serviceaccount:a:b",
                    "groups": ["system:serviceaccounts", "system:serviceaccounts:a"],
                },
                "get",
                "/a",
            ),
        ),
    ],
)
def test_what_the_authorizer_is_asked_is_put_to_whoever_knows(source: str, answer: Any, asked: Access) -> None:
    put: list[Access] = []

    def authorize(access: Access) -> Answer:
        put.append(access)
        return Answer(True, "why")

    given = {**GIVEN, "authorizer": authorizer_of("", "pods", "", "ns", "n")}
    with asking(authorize):
        assert compiled(source, VARIABLES).evaluate(given) == answer
    assert put == [asked]


def test_three_checks_cost_more_than_an_expression_may() -> None:
    one = "authorizer.path('/a').check('get').allowed()"
    given = {**GIVEN, "authorizer": authorizer_of("", "pods", "", "ns", "n")}
    assert compiled(f"{one} && {one}", VARIABLES).evaluate(given) is True
    with pytest.raises(OutOfBudget):
        compiled(f"{one} && {one} && {one}", VARIABLES).evaluate(given)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("size(request)", "found no matching overload for 'size' applied to '(kubernetes.AdmissionRequest)'"),
        (
            "request.kind + 1",
            "found no matching overload for '_+_' applied to '(kubernetes.GroupVersionKind, int)'",
        ),
        (
            "namespaceObject.metadata['name']",
            "found no matching overload for '_[_]' applied to '(kubernetes.NamespaceMetadata, string)'",
        ),
    ],
)
def test_an_object_whose_fields_are_known_is_no_map(source: str, line: str) -> None:
    assert line in wrong(source).partition("\n")[0]


def test_presence_is_asked_of_objects() -> None:
    assert compiled("has(request.name) && has(request.userInfo.uid)", VARIABLES).evaluate(GIVEN) is False


def test_what_is_too_long_is_refused() -> None:
    assert "expression code point size exceeds limit: size: 10004, limit 10000" in wrong("a" * 10_004)


@pytest.mark.parametrize(
    ("source", "wanted", "text"),
    [
        ("1", ("bool",), "must evaluate to bool but got int"),
        ("object.spec.x", ("bool",), "must evaluate to bool but got dyn"),
        ("object.spec.names.map(n, 'a')", ("string",), "must evaluate to string but got list(string)"),
        ("{'a': 1}", ("string", "null_type"), "must evaluate to one of [string null_type] but got map(string, int)"),
        ("timestamp('2026-01-01T00:00:00Z')", ("bool",), "must evaluate to bool but got google.protobuf.Timestamp"),
        (
            "1 == 'a'",
            ("bool",),
            "compilation failed: ERROR: <input>:1:3: found no matching overload for '_==_'",
        ),
    ],
)
def test_what_comes_to_another_type_is_refused(source: str, wanted: tuple[str, ...], text: str) -> None:
    with pytest.raises(CompileError) as raised:
        expression(source, VARIABLES, wanted)
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("object.spec.replicas <= 5", True),
        ("has(object.spec.paused) && object.spec.paused", False),
        ("object.spec.containers.all(c, c.image.startsWith('here/'))", False),
        ("object.spec.containers.filter(c, c.name != 'one').map(c, c.image + '!')", ["there/b:2!"]),
        ("object.?spec.?paused.orValue(false)", False),
        ("oldObject == null && namespaceObject == null", True),
        ("request.operation == 'CREATE' && 'class' in request.userInfo.groups", True),
        ("variables.replicas * 2", 6),
        ("quantity(object.spec.memory).isGreaterThan(quantity('1Gi'))", True),
        ("quantity('1Gi').add(quantity('1Gi')).compareTo(quantity(object.spec.memory))", 0),
        ("quantity('1500m').isInteger() || quantity('2k').asInteger() == 2000", True),
        ("object.spec.names.isSorted()", False),
        ("[1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [3, 1].max() == 3", True),
        ("sets.contains(['a', 'b', 'c'], object.spec.names) && sets.intersects([1], [1, 2])", True),
        ("sets.equivalent([1, 2], [2, 1])", True),
        ("url('https://a.example:80/p?q=1').getHost()", "a.example:80"),
        ("isURL('::') || isIP('10.0.0.300') || isCIDR('10.0.0.0/40')", False),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3') && ip('::1').family() == 6", True),
        ("object.metadata.labels.exists(k, k == 'team')", True),
        ("'a,b'.split(',').join('-') + '%d'.format([3])", "a-b3"),
        ("object.spec.replicas == 3.0", True),
    ],
)
def test_values(source: str, value: Any) -> None:
    assert compiled(source, VARIABLES).evaluate(GIVEN) == value


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("object.spec.foo > 1", "no such key: foo"),
        ("object.spec.names[7] == 'a'", "index out of bounds: 7"),
        ("'a' + object.spec.replicas == 'a3'", "no such overload"),
        ("1 / (object.spec.replicas - 3) == 1", "division by zero"),
        ("object.spec.replicas && true", "no such overload"),
    ],
)
def test_what_has_no_value_says_so_in_upstreams_words(source: str, text: str) -> None:
    with pytest.raises(Failed, match=rf"^{text}$"):
        compiled(source, VARIABLES).evaluate(GIVEN)


DOUBLED = "optional.of(object.s)" + ".optMap(x, x + x)" * 6 + ".orValue('')"


@pytest.mark.parametrize(
    ("source", "document"),
    [
        (
            "object.l.all(a, object.l.all(b, object.s.contains('y') || a != b))",
            {"l": list(range(300)), "s": "x" * 9_000},
        ),
        (f"size({DOUBLED}) > 1", {"s": "x" * 500_000}),
        ("object.l.map(a, object.s).join(object.s).size() > 1", {"l": list(range(2_000)), "s": "x" * 20_000}),
        ("object.l.all(a, a.matches('((a{1,9}){1,9}){1,9}b'))", {"l": ["a" * 2_000] * 99}),
        ("object.s.split('').all(c, object.s.contains(c))", {"s": "x" * 60_000}),
        ("'%.100000000f'.format([1.0]) == ''", {}),
        ("object.l.all(a, a.matches(object.s))", {"l": ["x" * 2_000] * 300, "s": "(x{1,1000}){1,1000}y"}),
    ],
)
def test_what_may_cost_too_much_is_not_begun(source: str, document: Any) -> None:
    asked = compiled(source, VARIABLES)
    assert asked.cost({"object": document}) > COST_MAX
    with pytest.raises(OutOfBudget, match=r"^validation failed due to running out of cost budget"):
        asked.evaluate({"object": document})


def test_loops_that_turn_too_often_end() -> None:
    asked = compiled("object.l.all(a, object.l.all(b, object.l.all(c, a + b + c >= 0)))", VARIABLES)
    with pytest.raises(OutOfBudget):
        asked.evaluate({"object": {"l": list(range(200))}})


def test_an_ordinary_rule_costs_little_on_a_large_object() -> None:
    containers = [{"name": f"c{n}", "image": "here/" + "x" * 200, "args": ["a"] * 100} for n in range(100)]
    document = {"spec": {"containers": containers, "replicas": 3}, "metadata": {"annotations": {"a": "x" * 200_000}}}
    assert compiled("object.spec.replicas <= 5", NAMES).cost({"object": document}) < 10
    asked = compiled("object.spec.containers.all(c, c.image.matches('^here/[a-z]{1,253}$'))", PARAMETERIZED)
    assert asked.cost({"object": document}) < COST_MAX
    assert asked.evaluate({"object": document}) is True


def test_an_expression_knows_what_it_names() -> None:
    asked = compiled("variables.replicas > 1 && object.spec.names.all(object, object == 'a')", VARIABLES)
    assert asked.roots == {"object", "variables"}
    assert asked.reads("variables") == {"replicas"}
    assert compiled("params.a", {"params": DYN}).type == "dyn"


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("1 < 1.5", True),
        ("1u >= 2", False),
        ("1 + 2 * 3 > 6.5 && 3u <= 2.0", False),
        ("[1, 2].exists(x, x * 2 > 3.5)", True),
        ("object.spec.replicas > 2.5", True),
        ("{'a': 1}.a < 2.0 ? -1 < 0u : false", True),
    ],
)
def test_numbers_of_two_types_are_compared(source: str, answer: bool) -> None:
    assert compiled(source, VARIABLES).evaluate(GIVEN) is answer


def test_what_else_is_wrong_with_a_comparison_is_told_as_it_was_written() -> None:
    assert wrong("1 < 9.5 && a").startswith(
        "ERROR: <input>:1:12: undeclared reference to 'a' (in container '')\n | 1 < 9.5"
    )
    assert "'_<_' applied to '(int, string)'" in wrong("1 < 2.0 || 1 < 'a'")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("['a', 1].join('-')", "<input>:1:7: expected type 'string' but found 'int'"),
        ("{'a': 1, 'b': 'x'}", "<input>:1:15: expected type 'int' but found 'string'"),
        ("[object.a, 1]", "<input>:1:12: expected type 'dyn' but found 'int'"),
        (
            "'%d'.format(['x'])",
            "<input>:1:14: error during formatting: decimal clause can only be used on integers, was given string",
        ),
        (
            "'%f'.format([5])",
            "<input>:1:14: error during formatting: fixed-point clause can only be used on doubles, was given int",
        ),
        (
            "sets.contains([1], ['a'])",
            "<input>:1:14: found no matching overload for 'sets.contains' applied to '(list(int), list(string))'",
        ),
        ("1 == null", "<input>:1:3: found no matching overload for '_==_' applied to '(int, null)'"),
        ("has({'a': 1})", "<input>:1:5: invalid argument to has() macro"),
        ("[1].all(x.y, true)", "<input>:1:10: argument must be a simple name"),
        (
            "5.all(x, true)",
            "<input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
    ],
)
def test_types_are_told_as_upstream_tells_them(source: str, line: str) -> None:
    assert wrong(source).partition("\n")[0] == f"ERROR: {line}"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("int('x')", "type conversion error from 'string' to 'int'"),
        ("uint('-1')", "type conversion error from 'string' to 'uint'"),
        ("double('x')", "type conversion error from 'string' to 'double'"),
        ("bool('yes')", "type conversion error from 'string' to 'bool'"),
        ("'abc'.findAll('(')", "error parsing regexp: missing closing ): `(`"),
    ],
)
def test_constants_that_cannot_be_converted_are_faults_of_the_program(source: str, why: str) -> None:
    with pytest.raises(CompileError) as raised:
        compiled(source, VARIABLES)
    assert raised.value.internal
    assert raised.value.told == f"program instantiation failed: {why}"


@pytest.mark.parametrize(
    "source", ["[[], [1]]", "[{}, {'a': 1}]", "'%s'.format([[1, 'a', null]])", "[?optional.of(1), 2]"]
)
def test_lists_of_one_type_may_hold_what_has_none_yet(source: str) -> None:
    assert compiled(source, VARIABLES).source == source


def test_a_map_that_the_runtime_has_no_values_of_has_a_type() -> None:
    assert compiled("{[1]: 2}", VARIABLES).type == "map(list(int), int)"
