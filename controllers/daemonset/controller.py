"""Keeps a DaemonSet's pod on every node that fits.

Source: k8s.io/kubernetes/pkg/controller/daemon (daemon_controller.go, update.go).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from controllers.daemonset import manage
from controllers.daemonset.backoff import FailureBackoff
from controllers.daemonset.placement import by_age, is_updated, node_of, placement_of, pods_for
from controllers.daemonset.revisions import Revisions, settle_revisions, unused_revisions
from controllers.flags.controllermanager import BURST_REPLICAS
from controllers.kit import history
from controllers.kit.expectations import Expectations
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.kit.ownership import claim, index_ownership, labels_of, requirements_of
from controllers.kit.podcontrol import PodControl, Step
from controllers.kit.pods import controller_of, is_available, ready_since_ms
from controllers.log.operations import Delete, Operation, Result, Update
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.selectors import Requirement, matches_all

RESOURCE: Final = "daemonsets.apps"
KIND: Final = "DaemonSet"


class DaemonSetController:
    """Reconciles DaemonSets, by key."""

    NAME: ClassVar[str] = "daemonset"
    RESOURCES: ClassVar[tuple[str, ...]] = (RESOURCE, "pods", "nodes", history.RESOURCE)

    def __init__(self, setup: Setup) -> None:
        """Index pods and revisions by owner and listen to sets, pods and nodes."""
        self._sets = setup.informers[RESOURCE]
        self._pods = setup.informers["pods"]
        self._nodes = setup.informers["nodes"]
        self._revisions = setup.informers[history.RESOURCE]
        self._queue = setup.queue
        self._expectations = Expectations()
        self._control = PodControl(KIND, "pods", self._expectations)
        self._backoff = FailureBackoff()
        index_ownership(self._pods)
        index_ownership(self._revisions)
        self._sets.add_index("namespace", lambda document: [document["metadata"]["namespace"]])
        self._sets.add_handler(self._set_changed)
        self._pods.add_handler(self._pod_changed, owned_by="DaemonSet")
        self._nodes.add_handler(self._node_changed)
        self._revisions.add_handler(self._revision_changed)

    # -- what makes work ----------------------------------------------------------------------------------------

    def _set_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        if new is None:
            self._expectations.forget(key_of(document))
        self._queue.add(key_of(document))

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old
        assert pod is not None, "a change has a state before or after"
        owner = _owner_key(pod)
        before = _owner_key(old) if old is not None and new is not None else None
        if before is not None and before != owner:
            self._queue.add(before)
        if owner is not None:
            if new is None or "deletionTimestamp" in new["metadata"]:
                self._expectations.deleted(owner, pod["metadata"]["uid"])
            elif old is None:
                self._expectations.created(owner)
            self._queue.add(owner)
        elif new is not None and controller_of(new) is None:
            self._queue_matching(new)

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        """A node came, or has other labels or taints: sets that want a pod there or want it away look (syncNodeUpdate).

        A pod that may stay where none would be made any more is counted anew with the next change of its set.
        """
        if new is None or (old is not None and _asked_of_node(old) == _asked_of_node(new)):
            return
        for owner in self._sets.all():
            runs, stays = placement_of(owner).fit(new)
            is_first = old is None and runs
            if is_first or self._calls_for_a_look(owner, new["metadata"]["name"], runs=runs, stays=stays):
                self._queue.add(key_of(owner))

    def _calls_for_a_look(self, owner: Document, node: str, *, runs: bool, stays: bool) -> bool:
        pods = self._pods.indexed("controller", owner["metadata"]["uid"])
        if not any(node_of(pod) == node for pod in pods):
            return runs
        return not stays or bool((owner.get("status") or {}).get("numberMisscheduled"))

    def _revision_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        owner = _owner_key(document)
        if owner is not None:
            # One that comes with its owner calls for nothing (addHistory): the look that made it goes on.
            if old is not None:
                self._queue.add(owner)
        elif new is not None and controller_of(new) is None:
            self._queue_matching(new)

    def _queue_matching(self, orphan: Document) -> None:
        for candidate in self._sets.indexed("namespace", orphan["metadata"]["namespace"]):
            requirements = requirements_of(candidate["spec"].get("selector"))
            if requirements and matches_all(requirements, labels_of(orphan)):
                self._queue.add(key_of(candidate))

    # -- reconciliation -----------------------------------------------------------------------------------------

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Make and delete pods, take the next step of a rolling update, write what there is into the status."""
        owner = self._sets.get(*split_key(key))
        if owner is None:
            self._expectations.forget(key)
            return
        requirements = requirements_of(owner["spec"].get("selector"))
        if not requirements:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            work.event(owner, KIND, "SelectingAll", text, event_type="Warning")
            return
        if "deletionTimestamp" in owner["metadata"]:
            return
        pods = yield from self._claim(owner, requirements)
        revisions = yield from settle_revisions(owner, requirements, self._revisions, pods)
        if not self._expectations.satisfied(key, work.now_ms):
            yield from self._write_status(owner, self._look(owner, pods, revisions, work), observed=False)
            return
        look = self._look(owner, pods, revisions, work)
        made: list[Document] = []
        failure = yield from self._manage(key, look, work, made)
        if failure is None and self._expectations.satisfied(key, work.now_ms):
            look = self._look(owner, pods, revisions, work, look)
            failure = yield from self._renew(key, look, work, made)
        if failure is None:
            yield from self._forget_revisions(owner, revisions)
        look = self._look(owner, pods, revisions, work, look)
        if made:
            look = _with_made(look, made)
        yield from self._write_status(owner, look, observed=True)
        if failure is not None:
            raise failure
        self._wait_for_availability(key, look, work)

    def _claim(
        self, owner: Document, requirements: tuple[Requirement, ...]
    ) -> Generator[Sequence[Operation], Sequence[Result], list[Document]]:
        pods, changes, orphans = claim(owner, requirements, self._pods)
        if changes:
            results = yield changes
            taken = {result.object["metadata"]["uid"] for result in results if result.object is not None}
            pods = pods + [orphan for orphan in orphans if orphan["metadata"]["uid"] in taken]
        return pods

    def _look(
        self,
        owner: Document,
        pods: Sequence[Document],
        revisions: Revisions,
        work: Work,
        before: manage.Round | None = None,
    ) -> manage.Round:
        """Return what there is now.

        Args:
            owner: the set.
            pods: what it claimed; of these, what was adopted a moment ago counts though the cache does not know it yet.
            revisions: the set's.
            work: the present call.
            before: the look before, which is this one if nothing has changed since.
        """
        seen = (self._pods.changes, self._nodes.changes, work.unix_ms)
        if before is not None and before.seen == seen:
            return before
        owned = self._pods.indexed("controller", owner["metadata"]["uid"])
        requirements = requirements_of(owner["spec"].get("selector")) or ()
        adopted = [pod for pod in pods if controller_of(pod) is None]
        known = {pod["metadata"]["uid"] for pod in owned}
        fresh = [pod for pod in owned if matches_all(requirements, labels_of(pod))]
        fresh += [pod for pod in adopted if pod["metadata"]["uid"] not in known]
        code = revisions.current["metadata"]["labels"].get(history.POD_HASH, "")
        by_node = manage.by_node(fresh)
        return manage.Round(owner, self._nodes.all(), by_node, code, work.unix_ms, placement_of(owner), seen)

    def _manage(self, key: str, look: manage.Round, work: Work, made: list[Document]) -> Step:
        """Make it one pod on each node that fits."""
        steps = manage.placed(look)
        fits = sum(look.fit(node).runs for node in look.nodes)
        reason = "nodes without a pod" if steps.nodes else "pods too many" if steps.pods else "as asked"
        work.tell(reason, desired={"nodes that fit": fits}, actual={"nodes with a pod": len(look.pods)})
        for node, pod in manage.ended_pods(look):
            if self._may_replace(key, node, pod, look, work):
                steps.pods.append(pod)
        return self._carry_out(key, look, steps, work, made)

    def _may_replace(self, key: str, node: str, pod: Document, look: manage.Round, work: Work) -> bool:
        """Say that a pod ended; one that failed goes after a wait that grows with each failure on its node."""
        metadata = pod["metadata"]
        where = f"daemon pod {metadata['namespace']}/{metadata['name']} on node {node}"
        if (pod.get("status") or {}).get("phase") == "Succeeded":
            work.event(look.owner, KIND, "SucceededDaemonPod", f"Found succeeded {where}, will try to delete it")
            return True
        observed = (look.owner.get("status") or {}).get("observedGeneration", 0)
        place = f"{look.owner['metadata']['uid']}/{observed}/{node}"
        wait_ms = self._backoff.wait_ms(place, work.now_ms)
        if wait_ms:
            work.queue.add_at(key, work.now_ms + wait_ms)
            return False
        self._backoff.failed(place, work.now_ms)
        text = f"Found failed {where}, will try to kill it"
        work.event(look.owner, KIND, "FailedDaemonPod", text, event_type="Warning")
        return True

    def _renew(self, key: str, look: manage.Round, work: Work, made: list[Document]) -> Step:
        """Take the next step of a rolling update."""
        if (look.owner["spec"].get("updateStrategy") or {}).get("type") != "RollingUpdate":
            return None
        steps = manage.renewed(look)
        if steps.nodes or steps.pods:
            work.report.reason = "pods to renew"
        return (yield from self._carry_out(key, look, steps, work, made))

    def _carry_out(self, key: str, look: manage.Round, steps: manage.Steps, work: Work, made: list[Document]) -> Step:
        burst = work.flags[BURST_REPLICAS]
        nodes, gone = steps.nodes[:burst], steps.pods[:burst]
        self._expectations.expect(key, len(nodes), [pod["metadata"]["uid"] for pod in gone], work.now_ms)
        wanted = pods_for(look.owner, nodes, look.code)
        refused = yield from self._control.create(key, look.owner, wanted, work, made)
        failure = yield from self._control.delete(key, look.owner, gone, work)
        return refused or failure

    def _forget_revisions(
        self, owner: Document, revisions: Revisions
    ) -> Generator[Sequence[Operation], Sequence[Result], None]:
        pods = self._pods.indexed("controller", owner["metadata"]["uid"])
        gone = unused_revisions(owner, revisions, pods)
        if gone:
            yield [Delete(history.RESOURCE, one["metadata"]["namespace"], one["metadata"]["name"]) for one in gone]

    # -- status -------------------------------------------------------------------------------------------------

    @staticmethod
    def _write_status(
        owner: Document, look: manage.Round, *, observed: bool
    ) -> Generator[Sequence[Operation], Sequence[Result], None]:
        known = owner.get("status") or {}
        status = {**{key: value for key, value in known.items() if key not in _COUNTED}, **_counted(look)}
        generation: int = owner["metadata"].get("generation", 1)
        current = known.get("observedGeneration", 0) >= generation
        if current and all(status.get(key, 0) == known.get(key, 0) for key in _COUNTED):
            return
        if observed:
            status["observedGeneration"] = generation
        metadata = {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
        body = {"metadata": metadata, "status": status}
        results = yield [Update(RESOURCE, owner["metadata"]["namespace"], metadata["name"], body, "status")]
        error: ApiError | None = results[0].error
        if error is not None and error.code != 404:
            raise error

    @staticmethod
    def _wait_for_availability(key: str, look: manage.Round, work: Work) -> None:
        """Look again when the next pod that is ready has been so for long enough."""
        seconds: int = look.owner["spec"].get("minReadySeconds", 0)
        waiting = [
            since_ms + seconds * 1000
            for pods in look.pods.values()
            for pod in pods
            if (since_ms := ready_since_ms(pod)) is not None and not is_available(pod, seconds, work.unix_ms)
        ]
        if waiting:
            work.queue.add_at(key, work.now_ms + max(1, min(waiting) - work.unix_ms))


def _with_made(look: manage.Round, made: Sequence[Document]) -> manage.Round:
    """Return the look with the pods that were made in it: upstream's cache hears of them before it counts."""
    known = [pod for pods in look.pods.values() for pod in pods]
    names = {pod["metadata"]["uid"] for pod in known}
    fresh = [pod for pod in made if pod["metadata"]["uid"] not in names]
    return replace(look, pods=manage.by_node([*known, *fresh]))


_COUNTED: Final = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
)
_ALWAYS: Final = frozenset(_COUNTED[:4])
"""Counts that stand on the wire even when they are 0."""


def _counted(look: manage.Round) -> dict[str, int]:
    """Return the counts of the status; of several pods on a node the oldest counts."""
    counts = dict.fromkeys(_COUNTED, 0)
    for node in look.nodes:
        pods = look.pods.get(node["metadata"]["name"])
        if not look.fit(node).runs:
            counts["numberMisscheduled"] += bool(pods)
            continue
        counts["desiredNumberScheduled"] += 1
        if not pods:
            continue
        counts["currentNumberScheduled"] += 1
        oldest = by_age(pods)[0]
        counts["numberReady"] += ready_since_ms(oldest) is not None
        counts["numberAvailable"] += look.is_available(oldest)
        counts["updatedNumberScheduled"] += is_updated(oldest, look.owner, look.code)
    counts["numberUnavailable"] = counts["desiredNumberScheduled"] - counts["numberAvailable"]
    return {key: value for key, value in counts.items() if value or key in _ALWAYS}


def _owner_key(document: Document) -> str | None:
    reference = controller_of(document)
    if reference is None or reference.get("kind") != KIND:
        return None
    return f"{document['metadata']['namespace']}/{reference['name']}"


def _asked_of_node(node: Document) -> tuple[object, object]:
    return node["metadata"].get("labels"), (node.get("spec") or {}).get("taints")
