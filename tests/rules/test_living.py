"""A drawn cluster that comes up in a session: the engine does there what the task was marked by."""

from __future__ import annotations

import pytest

from controllers.bootstrap import initial_objects
from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.log.stamps import wire_time
from controllers.predicates import Moment, Predicate, View
from controllers.rules.cases import ASKED, SORTS
from controllers.rules.finding import Found
from controllers.rules.homework import task
from controllers.rules.living import Living
from tests.tools.lab import Lab


def lived(one: Found) -> Lab:
    """Return the cluster with everything on it, and the pod in question just come."""
    living = Living.of(one.case)
    store = MemoryStore(seed=1)
    for result in found(store, [*initial_objects(scheduler=living.scheduler or None), *living.objects]):
        assert result.error is None, result.error
    lab = Lab(store=store)
    for operation in living.beginning(wire_time(store.epoch_ms)):
        lab.do(operation)
    until = Predicate.compile(living.until)
    for _ in range(60):
        if until.holds(View(store, Moment(lab.cluster.now_ms))):
            break
        lab.run(1)
    else:
        raise AssertionError(f"it does not come up: {living.until}")
    for operation in living.asking():
        lab.do(operation)
    return lab


@pytest.mark.parametrize("rule", sorted(SORTS))
@pytest.mark.parametrize("seed", [3, 8])
def test_the_engine_does_there_what_the_task_was_marked_by(rule: str, seed: int) -> None:
    one = task(rule, seed)
    lab = lived(one)
    lab.run(5)
    trace = View(lab.store, Moment(lab.cluster.now_ms)).trace(ASKED, 1)
    assert trace.exists
    (node,) = one.engine.nodes or ("",)
    assert (trace.nominated if one.engine.nominated else trace.chosen) == node
    wanted = one.engine.victims.get(node, ()) if one.engine.nominated else ()
    assert sorted(f"default/{name}" for name in trace.victims) == sorted(wanted)


def test_everybody_who_is_there_runs_until_the_pod_in_question_comes() -> None:
    one = task("only-bound-counts", 3)
    living = Living.of(one.case)
    assert len(one.case.held) > 0
    assert ASKED not in {document["metadata"]["name"] for document in living.objects}
    assert all("uid" not in document["metadata"] for document in living.objects)
