"""Handlers are told of what they look at, and of nothing that they have not heard of before."""

from __future__ import annotations

from typing import Any

from controllers.kit.informer import Lister, by_node
from controllers.kit.interest import NODE_NAME


def pod(version: int, *, owner: str | None = None, node: str | None = None, **labels: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"namespace": "a", "name": "p", "uid": "u", "resourceVersion": str(version)}
    if owner is not None:
        metadata["ownerReferences"] = [{"kind": owner, "name": "o", "controller": True}]
    return {"metadata": metadata | {"labels": labels}, "spec": {"nodeName": node} if node is not None else {}}


def heard(*changes: dict[str, Any] | None, **interest: Any) -> list[tuple[str | None, str | None]]:
    """Return the versions of the states that a handler was told of, of an object that goes through the changes."""
    lister, told = Lister("pods"), []

    def handler(old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        told.append(tuple(None if one is None else one["metadata"]["resourceVersion"] for one in (old, new)))

    lister.add_handler(handler, **interest)
    last: dict[str, Any] = {}
    for document in changes:
        if document is None:
            lister.remove("a", "p", last)
        else:
            last = document
            lister.put("a", "p", document)
    return told


def test_a_handler_hears_of_everything() -> None:
    assert heard(pod(1), pod(2), None) == [(None, "1"), ("1", "2"), ("2", None)]


def test_a_handler_that_reads_a_part_hears_of_its_changes_alone() -> None:
    changes = pod(1), pod(2, app="x"), pod(3, node="n", app="x"), pod(4, node="n"), None
    assert heard(*changes, reads=(NODE_NAME,)) == [(None, "1"), ("2", "3"), ("4", None)]
    assert heard(*changes, reads=()) == [(None, "1"), ("4", None)]


def test_a_handler_hears_of_what_its_kind_controls_or_did_and_of_orphans() -> None:
    changes = pod(1, owner="Job"), pod(2, owner="ReplicaSet"), pod(3, owner="ReplicaSet"), pod(4, owner="Job"), pod(5)
    assert heard(*changes, owned_by="ReplicaSet") == [("1", "2"), ("2", "3"), ("3", "4"), ("4", "5")]
    assert heard(*changes, owned_by="DaemonSet") == [("4", "5")]


def test_both_hold_together() -> None:
    changes = pod(1, owner="Job"), pod(2, owner="Job", node="n"), pod(3, owner="Job", node="n"), pod(4, node="n")
    assert heard(*changes, owned_by="Job", reads=(NODE_NAME,)) == [(None, "1"), ("1", "2")]


def test_an_index_is_level_whatever_a_state_shares_with_the_one_before() -> None:
    lister = Lister("pods")
    lister.add_index("node", by_node, of=(NODE_NAME,))
    first = pod(1, node="n")
    for document in (first, {**first, "metadata": pod(2)["metadata"]}, pod(3, node="n"), pod(4, node="m"), pod(5)):
        lister.put("a", "p", document)
        name = document["spec"].get("nodeName")
        for one in ("n", "m"):
            assert lister.indexed("node", one) == ([document] if one == name else [])


def test_a_handler_hears_only_while_an_index_of_another_copy_holds_anything() -> None:
    pods, budgets, told = Lister("pods"), Lister("poddisruptionbudgets.policy"), list[str]()
    budgets.add_index("guarding", lambda budget: ["all"] if budget["spec"].get("guards") else [])
    pods.add_handler(
        lambda _, new: told.append((new or {})["metadata"]["resourceVersion"]), while_any=(budgets, "guarding")
    )

    def budget(version: int, **spec: Any) -> None:
        metadata = {"namespace": "a", "name": "b", "uid": "v", "resourceVersion": str(version)}
        budgets.put("a", "b", {"metadata": metadata, "spec": spec})

    pods.put("a", "p", pod(1))
    budget(2)
    pods.put("a", "p", pod(3))
    budget(4, guards=True)
    pods.put("a", "p", pod(5))
    budget(6, guards=True, more=True)
    pods.put("a", "p", pod(7))
    budget(8)
    pods.put("a", "p", pod(9))
    budget(10, guards=True)
    pods.put("a", "p", pod(11))
    budgets.remove("a", "b", {})
    pods.put("a", "p", pod(12))
    assert told == ["5", "7", "11"]
