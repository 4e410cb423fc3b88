from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import PreFilterResult
from scheduler_core.framework.status import SKIP, SUCCESS, error, unresolvable
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import filtered, hint, scored

MISSED = unresolvable("node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def term(*expressions: dict[str, Any], names: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"matchExpressions": list(expressions), "matchFields": names or []}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}


def preferred(*terms: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"weight": weight, "preference": one} for weight, one in terms]
    return {"preferredDuringSchedulingIgnoredDuringExecution": listed}


def name_in(*names: str) -> dict[str, Any]:
    return expression("metadata.name", "In", *names)


NODES = (
    info(node("a", labels={"zone": "x", "gen": "3"})),
    info(node("b", labels={"zone": "y", "gen": "q"})),
    info(node("c", labels={"gen": ""})),
)


@pytest.mark.parametrize(
    ("affinity", "passing"),
    [
        (required(term(expression("zone", "In", "x", "y"))), "ab"),
        (required(term(expression("zone", "NotIn", "x"))), "bc"),
        (required(term(expression("zone", "Exists"))), "ab"),
        (required(term(expression("zone", "DoesNotExist"))), "c"),
        (required(term(expression("gen", "Gt", "2"))), "a"),
        (required(term(expression("gen", "Lt", "2"))), ""),
        (required(term(expression("zone", "In", "x"), expression("gen", "In", "q"))), ""),
        (required(term(expression("zone", "In", "x")), term(expression("gen", "In", "q"))), "ab"),
        (required(term()), ""),
        (required(), ""),
        (required(term(expression("gen", "Gt", "-5"))), ""),
        (required(term(expression("gen", "Gt", "-5")), term(expression("zone", "In", "y"))), "b"),
        (required(term(names=[expression("metadata.name", "NotIn", "a")])), "bc"),
        (required(term(expression("zone", "Exists"), names=[name_in("b")])), "b"),
    ],
)
def test_required_terms(affinity: dict[str, Any], passing: str) -> None:
    answers = filtered(NodeAffinity(), pod(affinity={"nodeAffinity": affinity}), *NODES)
    assert answers == [SUCCESS if name in passing else MISSED for name in "abc"]


def test_node_selector_is_taken_literally_and_with_the_terms() -> None:
    assert filtered(NodeAffinity(), pod(nodeSelector={"gen": ""}), *NODES) == [MISSED, MISSED, SUCCESS]
    both = pod(nodeSelector={"zone": "x"}, affinity={"nodeAffinity": required(term(expression("gen", "In", "q")))})
    assert filtered(NodeAffinity(), both, *NODES) == [MISSED, MISSED, MISSED]


@pytest.mark.parametrize(
    ("terms", "names", "status"),
    [
        ([term(names=[name_in("a")]), term(names=[name_in("b")])], {"a", "b"}, SUCCESS),
        ([term(names=[name_in("a")]), term(expression("zone", "Exists"))], None, SUCCESS),
        ([term(names=[name_in("a"), name_in("b")])], None, unresolvable("pod affinity terms conflict")),
        ([], None, SUCCESS),
    ],
)
def test_names_pinned_by_every_term_narrow_the_nodes(terms: list[Any], names: set[str] | None, status: Any) -> None:
    one = pod(affinity={"nodeAffinity": required(*terms)})
    result, answer = NodeAffinity().pre_filter(CycleState(), one, Snapshot(NODES))
    assert answer == status
    assert (result or PreFilterResult()).node_names == names


def test_skips_pods_that_ask_nothing_of_a_node() -> None:
    assert NodeAffinity().pre_filter(CycleState(), pod(), Snapshot(NODES)) == (None, SKIP)
    assert scored(NodeAffinity(), pod(), *NODES) == []


def test_preferred_weights_add_up_and_are_scaled() -> None:
    wanted = preferred(
        (10, term(expression("zone", "In", "x"))),
        (30, term(expression("gen", "In", "q"))),
        (5, term(expression("zone", "Exists"))),
        (9, term()),
        (0, term(expression("gen", "Exists"))),
    )
    assert scored(NodeAffinity(), pod(affinity={"nodeAffinity": wanted}), *NODES) == [42, 100, 0]


def test_a_preferred_term_that_cannot_be_read_is_an_error() -> None:
    one = pod(affinity={"nodeAffinity": preferred((1, term(expression("gen", "Gt", "-5"))))})
    status = NodeAffinity().pre_score(CycleState(), one, Snapshot(NODES), ALL_ROWS)
    assert status.code is error().code
    assert status.message.startswith('[0].matchExpressions[0].values[0][gen]: Invalid value: "-5"')


def test_added_affinity_binds_every_pod_of_the_profile() -> None:
    added = required(term(expression("zone", "In", "x"))) | preferred((2, term(expression("gen", "Exists"))))
    plugin = NodeAffinity.from_arguments({"addedAffinity": added})
    assert filtered(plugin, pod(), *NODES) == [SUCCESS, ENFORCED, ENFORCED]
    assert filtered(plugin, pod(nodeSelector={"zone": "y"}), *NODES) == [MISSED, ENFORCED, ENFORCED]
    assert scored(plugin, pod(), *NODES) == [100, 100, 100]


def test_added_affinity_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match="parsing addedAffinity"):
        NodeAffinity.from_arguments({"addedAffinity": required(term(expression("gen", "Gt", "x")))})


def test_wakes_when_a_node_begins_to_match() -> None:
    plugin, one = NodeAffinity(), pod(nodeSelector={"zone": "x"})
    matching, other = node("a", labels={"zone": "x"}), node("a")
    assert hint(plugin, one, 0, other, matching) == "Queue"
    assert hint(plugin, one, 0, None, matching) == "Queue"
    assert hint(plugin, one, 0, matching, matching) == "QueueSkip"
    assert hint(plugin, one, 0, None, other) == "QueueSkip"
