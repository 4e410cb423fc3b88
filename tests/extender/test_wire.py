"""Whatever an extender answers, a record comes of it, and what it says of nodes keeps the outcome in order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.extender import wire
from scheduler_core.extender.calls import ExtenderCall, HttpAnswer, Purpose
from scheduler_core.extender.configuration import read_extenders
from scheduler_core.framework.asks import Ask, CallExtenders, Reply
from tests.scheduler.kit import Hand, node, pod, scheduler

NAMES = ["a", "b", "c", "elsewhere"]
PURPOSES: tuple[Purpose, ...] = ("filter", "prioritize", "preempt", "bind")
MEMBERS = st.sampled_from(
    [
        *("Nodes", "NodeNames", "items", "metadata", "name", "FailedNodes", "failedandunresolvablenodes", "Error"),
        *("Host", "Score", "NodeNameToMetaVictims", "Pods", "UID", "NumPDBViolations"),
        *NAMES,
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(NAMES)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4),
    max_leaves=12,
)


def call_of(purpose: Purpose, *, names_only: bool) -> ExtenderCall:
    document = {"urlPrefix": "http://x:1", "nodeCacheCapable": names_only}
    (extender,), _ = read_extenders([document])
    return ExtenderCall(extender, purpose, extender.url("verb"), {})


@given(value=VALUES, purpose=st.sampled_from(PURPOSES), names_only=st.booleans())
def test_any_json_gives_a_record_that_json_holds(value: Any, purpose: Purpose, names_only: bool) -> None:
    body = json.dumps(value).encode()
    record = wire.read(call_of(purpose, names_only=names_only), HttpAnswer(200, body, duration_ms=1.0))
    assert ("error" in record) != ("answer" in record)
    assert json.loads(json.dumps(record)) == record


@given(body=st.binary(max_size=40), purpose=st.sampled_from(PURPOSES))
def test_any_bytes_give_a_record(body: bytes, purpose: Purpose) -> None:
    record = wire.read(call_of(purpose, names_only=True), HttpAnswer(200, body))
    assert ("error" in record) != ("answer" in record)


REASONS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["full", "far", ""]), max_size=4)
ANSWERS = st.fixed_dictionaries(
    {"NodeNames": st.lists(st.sampled_from(NAMES[:3]), max_size=4), "FailedNodes": REASONS},
    optional={"FailedAndUnresolvableNodes": REASONS},
)


@pytest.mark.parametrize("cordoned", [(), ("a",)])
@given(answers=st.lists(ANSWERS, min_size=1, max_size=3))
def test_what_extenders_say_only_ever_takes_nodes_away(cordoned: tuple[str, ...], answers: list[Any]) -> None:
    documents = [
        {"urlPrefix": f"http://x:{number + 1}", "filterVerb": "f", "nodeCacheCapable": True, "ignorable": True}
        for number in range(len(answers))
    ]
    extenders, _ = read_extenders(documents)
    core = scheduler(extenders=extenders)
    for name in NAMES[:3]:
        core.observe_node(node(name, **({} if name not in cordoned else {"labels": {"out": "yes"}})))
    core.observe_pod(pod("web", spec={"nodeSelector": {}} if not cordoned else {"affinity": AWAY}))
    asked: list[list[str]] = []

    def carry_out(ask: Ask) -> Reply:
        if not isinstance(ask, CallExtenders):
            return Reply()
        (call,) = ask.calls
        asked.append(call.body["NodeNames"])
        told = answers[extenders.index(call.extender)]
        return Reply(value=[wire.read(call, HttpAnswer(200, json.dumps(told).encode()))])

    run = Hand(core).attempt(carry_out)
    assert run is not None
    assert run.outcome is not None
    left = [name for name in NAMES[:3] if name not in cordoned]
    for place, given_names in enumerate(asked):
        assert given_names == left
        told = answers[place]["NodeNames"]
        # A node that it was not given is an error, and these extenders may be ignored.
        if set(told) <= set(left):
            left = [name for name in left if name in told]
    names = run.snapshot.names
    assert [names[row] for row in run.outcome.feasible.tolist()] == left
    failed = dict(run.outcome.failed())
    assert sorted(names[row] for row in failed) == sorted(set(NAMES[:3]) - set(left))
    assert all(not status.ok for status in failed.values())
    assert (run.result == "scheduled") == bool(left)


AWAY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "out", "operator": "DoesNotExist"}]}]
        }
    }
}
