"""What predicates see of a session: a table of expressions over small clusters, and what is not there."""

from __future__ import annotations

import pytest

from controllers.log.operations import Delete, Patch
from controllers.predicates import ExpressionError, Moment, Predicate, Unanswered, View
from tests.tools.lab import Lab, node, pod, workload


def request(name: str, cpu: str, **spec: object) -> dict[str, object]:
    made = pod(name)
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    made["spec"].update(spec)
    return made


@pytest.fixture(scope="module")
def lab() -> Lab:
    """Two nodes, three pods of a ReplicaSet, one pod that fits nowhere, one that was made twice."""
    made = Lab([node("n1", cpu="2", memory="4Gi"), node("n2", cpu="8", memory="16Gi")], seed=4)
    made.run(2)
    made.create(workload("ReplicaSet", "web", replicas=3), request("huge", "64"), request("twice", "1"))
    made.run(4)
    made.do(Delete("pods", "default", "twice", grace_period_seconds=0))
    made.run(1)
    made.create(request("twice", "1"))
    made.do(Patch("nodes", "", "n1", {"spec": {"unschedulable": True}}))
    made.run(4)
    return made


def value(lab: Lab, text: str, **moment: object) -> object:
    now = Moment(lab.cluster.now_ms, **moment)  # type: ignore[arg-type]
    return Predicate.compile(text, "value").value(View(lab.store, now))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pod('huge').phase", "Pending"),
        ("pod('huge').reason", "Unschedulable"),
        (
            "pod('huge').message.startsWith('0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were')",
            True,
        ),
        ("pod('nobody').exists || pod('nobody').phase != '' || pod('nobody').priority != 0", False),
        ("pod('default/twice').ready && pod('twice').node == 'n2'", True),
        ("size(pods('web-'))", 3),
        ("size(pods('app=web'))", 3),
        ("size(pods('app!=web'))", 2),
        ("size(pods('app in (web, db)'))", 3),
        ("size(pods('kube-system/'))", 0),
        ("size(pods())", 5),
        ("pods('web-').all(p, p.owner == 'web' && p.labels.app == 'web')", True),
        ("creations('twice')", 2),
        ("creations('nobody')", 0),
        (
            "node('n1').unschedulable && node('n1').ready && 'node.kubernetes.io/unschedulable' in node('n1').taints",
            True,
        ),
        ("node('n1').allocatable.cpu", 2000),
        ("node('n2').requested.memory >= 1073741824", True),
        ("'twice' in node('n2').pods", True),
        ("node('n9').exists", False),
        ("size(nodes())", 2),
        ("nodes().filter(n, n.ready).map(n, n.name) == ['n1', 'n2']", True),
        ("count('pods')", 5),
        ("count('replicasets.apps', 'app=web')", 0),
        ("count('replicasets')", 1),
        ("count('nodes')", 2),
        ("object('replicasets.apps', 'web').status.readyReplicas", 3),
        ("object('replicasets', 'nobody') == {}", True),
        ("has(object('nodes', 'n1').metadata.uid)", True),
        ("events('Scheduled') >= 5", True),
        ("events('Nonsense')", 0),
        ("trace('huge').result", "unschedulable"),
        ("trace('huge').feasible == []", True),
        ("trace('huge').failed == {'n1': 'NodeUnschedulable', 'n2': 'NodeResourcesFit'}", True),
        ("trace('huge', 1).reasons['n1'][0]", "Insufficient cpu"),
        ("trace('huge', 9).exists || trace('nobody').exists", False),
        ("trace('twice').chosen", "n2"),
        ("trace('twice').total == {}", True),
        ("total(pods('web-')[0].name, 'n2') == trace(pods('web-')[0].name).total['n2']", True),
        ("trace(pods('web-')[0].name).score['TaintToleration']['n1']", 300),
        ("trace(pods('web-')[0].name).raw['TaintToleration']['n1']", 0),
        ("trace(pods('web-')[0].name).normalised['TaintToleration']['n1']", 100),
        (
            "trace('huge').nominated + string(size(trace('huge').victims)) + string(size(trace('huge').candidates))",
            "00",
        ),
        ("queue('kube-scheduler-0').unschedulable == ['huge']", True),
        ("queue('kube-scheduler-7').active == []", True),
        ("lease('kube-scheduler').holder", "kube-scheduler-0"),
        ("lease('kube-scheduler').duration", 15),
        ("time() - lease('kube-scheduler').renewed <= 2.0", True),
        ("lease('nothing').exists", False),
        ("leaders() + leaders('kube-controller-manager')", 2),
        ("replica('kube-scheduler-0').leading && replica('kube-scheduler-0').rate == 1.0", True),
        ("replica('kube-scheduler-0').exit", -1),
        ("replica('kube-scheduler-9').exists", False),
        ("writers('pods', 'huge') == ['person', 'kube-scheduler']", True),
        ("writers('pods', 'nobody') == []", True),
        ("held() + point()", ""),
        ("time() >= 11", True),
    ],
)
def test_what_a_predicate_sees(lab: Lab, text: str, expected: object) -> None:
    assert value(lab, text) == expected


def test_pods_are_counted_from_where_the_wait_began_what_a_scene_made_is_none_of_its_answer(lab: Lab) -> None:
    assert value(lab, "creations('twice')", waits_ms=lab.cluster.now_ms + 1) == 0
    assert value(lab, "creations('twice')", waits_ms=0) == 2


def test_time_is_counted_from_where_the_step_and_its_wait_began(lab: Lab) -> None:
    now = lab.cluster.now_ms
    assert value(lab, "since()", began_ms=now - 2_500) == 2.5
    assert value(lab, "waited()") == 0.0
    assert value(lab, "waited()", waits_ms=now - 4_000) == 4.0


def test_what_is_held_comes_from_whoever_drives_or_from_the_clock(lab: Lab) -> None:
    assert value(lab, "held() + point()", held="default/web", point="QueueSort") == "webQueueSort"
    assert value(lab, "held()", held="other/web") == "other/web"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trace('huge').total['n1'] > 0", "n1"),
        ("total('huge', 'n1')", "huge has no total for n1: scored are none"),
        ("count('nothings')", "no resource 'nothings' is served"),
        ("size(pods('a==='))", ""),
        ("pods('nobody')[0].name", ""),
        ("node('n1').requested", "it comes to the type map, not a value"),
    ],
)
def test_what_has_no_value_says_why_and_does_not_hold(lab: Lab, text: str, message: str) -> None:
    with pytest.raises(Unanswered) as why:
        value(lab, text)
    assert message in str(why.value)
    view = View(lab.store, Moment(lab.cluster.now_ms))
    assert Predicate.compile(text, "value").holds(view) is False


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pod('web').redy", "line 1, column 11: undefined field 'redy': did you mean ready?"),
        ("pod('web')\n.nod == ''", "line 2, column 1: undefined field 'nod'"),
        ("pods().all(p, p.phse == '')", "did you mean phase?"),
        ("trace('w').toal", "did you mean total?"),
        ("nope()", "line 1, column 1: there is no nope here; functions are pod, pods,"),
        ("web == 1", "there is no web here; functions are pod"),
        ("pod(1).ready", "found no matching overload for 'pod' applied to '(int)'"),
        ("held()", "it comes to the type string, not a bool"),
        ("size(pods())", "it comes to the type int, not a bool"),
        ("pod('web'", "Syntax error"),
        ("", "Syntax error"),
        ("true" + " || true" * 500, "characters: at most"),
        ("pods().all(a, pods().all(b, pods().all(c, pods().all(d, true))))", "macros inside one another"),
        ("'a'.matches('x{99}')", "a pattern cannot count"),
    ],
)
def test_what_cannot_be_compiled_says_where(text: str, problem: str) -> None:
    with pytest.raises(ExpressionError) as wrong:
        Predicate.compile(text)
    assert problem in str(wrong.value)


def test_a_predicate_is_priced_before_it_runs() -> None:
    lab = Lab([node(f"n{number}") for number in range(60)])
    view = View(lab.store, Moment(0))
    dear = "nodes().all(a, nodes().all(b, nodes().all(c, a.name + b.name != c.name || size(pods()) >= 0)))"
    with pytest.raises(Unanswered, match="units of work"):
        Predicate.compile(dear.replace("a.name + b.name != c.name || ", "")).value(view)
    assert Predicate.compile("nodes().all(n, n.exists)").value(view) is True


def test_predicates_of_two_sessions_do_not_meet() -> None:
    one, other = Lab([node("n1")]), Lab([node("n2"), node("n3")])
    asked = Predicate.compile("size(nodes())", "value")
    views = [View(lab.store, Moment(0)) for lab in (one, other, one)]
    assert [asked.value(view) for view in views] == [1, 2, 1]
