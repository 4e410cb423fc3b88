"""A past decision taken again in a changed world, and the difference that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.log.store import Gone
from controllers.scheduler.decisions import taken_again
from controllers.scheduler.past import Past
from controllers.whatif.changes import Change, refused
from controllers.whatif.world import Documents, World
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said
from scheduler_core.framework.profile import ProfileError
from scheduler_core.scheduler.replay import all_refusals_again, prepared
from scheduler_core.scheduler.run import CycleInput
from scheduler_core.snapshot.node_info import PodInfo

_OF_WHAT_WAS: Final = frozenset({"explanation", "undone", "undoneBy"})
"""What an envelope tells of the attempt as it went."""


class Decision:
    """One kept decision, ready to be taken again."""

    def __init__(self, past: Past, envelope: Mapping[str, Any]) -> None:
        """Look at what the attempt saw.

        Args:
            past: the session, at any revision.
            envelope: as `Store.trace` gave it.

        Raises:
            Gone: the revision that it saw, or the configuration that decided, is no longer kept.
            ApiError: 422, the plugins that are installed now cannot run its configuration.
        """
        self.envelope = envelope
        self._then = past.at(envelope["input"]["seenRevision"])
        if self._then.settings.hash != envelope["input"]["configuration"]:
            raise Gone
        if all(info.uid != envelope["uid"] for info in self._then.pods):
            raise Gone
        self._documents = Documents(self._then)

    def world(self, changes: Sequence[Change] = ()) -> World:
        """Return what the attempt saw, with changes.

        Raises:
            ApiError: 422, one cannot be; fields as `changes[i]`.
        """
        world = World(self._documents, self.envelope["uid"], self.envelope["input"]["profile"])
        for index, change in enumerate(changes):
            world.apply(change, f"changes[{index}]")
        return world

    def taken(self, world: World) -> Document:
        """Return the decision's trace as it would be in a world: `result`, and `explanation` where there is one.

        What came after the choice (a Permit, a binding, a preemption's steps) is no part of it.

        Raises:
            ApiError: 422, its profile cannot run.
        """
        try:
            shown = taken_again(
                world.seen,
                self.envelope["uid"],
                self._given(world),
                world.configuration,
                world.settings.registry(),
                world,
                world.past.store.seed,
            )
        except ProfileError as wrong:
            raise refused(
                Cause("changes", said("whatif.cannotRun", "the scheduler cannot run so: {wrong}", wrong=wrong))
            ) from wrong
        return {key: value for key, value in self.envelope.items() if key not in _OF_WHAT_WAS} | shown

    def refusals(self, world: World) -> Mapping[str, Sequence[Document]]:
        """Return node → every filter's no with its amounts, as `GET …/refusals` tells it; of all nodes that have one.

        Raises:
            ProfileError: its profile cannot run.
        """
        core, run = prepared(
            world.seen,
            self.envelope["uid"],
            self._given(world),
            world.configuration,
            world.settings.registry(),
            seed=world.past.store.seed,
            listers=world,
        )
        return all_refusals_again(core, run, most=len(world.nodes))

    def _given(self, world: World) -> Mapping[str, Any]:
        """Return the attempt's input, without what is not there any more."""
        given = self.envelope["input"]
        names = {node.name for node in world.nodes}
        there = {info.uid for info in world.pods}
        # PostFilter read the pod afresh; of a pod that was changed in thought it reads the change.
        kept = {key: value for key, value in given.items() if key != "preemptor" or not world.has_another_pod}
        for key in ("assumed", "nominations"):
            kept[key] = {uid: name for uid, name in given[key].items() if uid in there and name in names}
        kept["waiting"] = [uid for uid in given["waiting"] if uid in kept["assumed"]]
        return kept


def is_pending(info: PodInfo) -> bool:
    """Return whether a pod waits for a node."""
    pod = info.pod
    return not (pod.spec.node_name or pod.is_finished or pod.metadata.deletion_timestamp)


def attempt_now(past: Past, pod: PodInfo, attempt: int) -> Document:
    """Return the envelope of an attempt that nobody has made: a pending pod on the cluster as it stands."""
    given = CycleInput(
        seen_revision=past.revision,
        attempt=attempt,
        assumed={},
        nominations={
            info.uid: info.pod.status.nominated_node_name
            for info in past.pods
            if is_pending(info) and info.pod.status.nominated_node_name
        },
        waiting=(),
        start=0,
        order=(),
        configuration=past.settings.hash,
        profile=pod.pod.spec.scheduler_name,
        now_ms=0,
    )
    return {"id": f"{pod.uid}-{attempt}", "pod": pod.key, "uid": pod.uid, "attempt": attempt, "input": given.as_dict()}


def difference(before: Document, after: Document) -> Document:
    """Return what differs between two traces of one attempt.

    `chosen`: [before, after], None where no node was chosen; `verdicts`: node, and who refused it before and after;
    `scores`: node, and its total before and after with every plugin whose weighted score differs. Nodes in order of
    name, those that do not differ left out.
    """
    first, second = before.get("result") or {}, after.get("result") or {}
    return {
        "chosen": [first.get("chosen"), second.get("chosen")],
        "verdicts": [
            {"node": name, "before": old, "after": new}
            for name in sorted(_nodes(first) | _nodes(second))
            if (old := _verdict(first, name)) != (new := _verdict(second, name))
        ],
        "scores": list(_scores(first.get("scores") or {}, second.get("scores") or {})),
    }


def _nodes(result: Mapping[str, Any]) -> set[str]:
    return {*(result.get("firstFail") or {}), *(result.get("feasible") or ())}


def _verdict(result: Mapping[str, Any], name: str) -> Any:
    """Return who refused the node and why; `fits` where nobody did; None where it was not looked at."""
    failed = (result.get("firstFail") or {}).get(name)
    if failed is not None:
        return failed
    return "fits" if name in (result.get("feasible") or ()) else None


def _scores(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Document]:
    old, new = _by_node(first), _by_node(second)
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        earlier, later = was or _NOT_SCORED, now or _NOT_SCORED
        yield {
            "node": name,
            "before": earlier.total,
            "after": later.total,
            "plugins": [
                {"plugin": plugin, "before": earlier.parts.get(plugin), "after": later.parts.get(plugin)}
                for plugin in sorted(earlier.parts.keys() | later.parts.keys())
                if earlier.parts.get(plugin) != later.parts.get(plugin)
            ],
        }


class _Score(NamedTuple):
    total: int | None
    parts: Mapping[str, int]


_NOT_SCORED: Final = _Score(None, {})


def _by_node(scores: Mapping[str, Any]) -> dict[str, _Score]:
    """Return node → its weighted scores, of a trace's `scores`; nothing where fewer than two nodes were feasible."""
    plugins = scores.get("plugins") or {}
    return {
        name: _Score(scores["total"][row], {plugin: part["weighted"][row] for plugin, part in plugins.items()})
        for row, name in enumerate(scores.get("nodes") or ())
    }
