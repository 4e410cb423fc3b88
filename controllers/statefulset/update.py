"""The order in which a StatefulSet's pods come, go and are renewed.

Source: `updateStatefulSet`, k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_control.go.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from controllers.kit.history import with_template
from controllers.kit.pods import is_available
from controllers.log.operations import Operation, Result
from controllers.statefulset import identity
from controllers.statefulset.pods import PodControl, Step
from scheduler_core.api.document import Document, has_ended
from scheduler_core.api.errors import ApiError

Turn = Generator[Sequence[Operation], Sequence[Result], tuple[bool, ApiError | None]]
"""What is done about one pod: returns whether those after it wait, and what was refused."""

Each = Callable[[Document], Turn]


@dataclass(slots=True)
class Counts:
    """A set's pods as its status counts them."""

    replicas: int = 0
    ready: int = 0
    available: int = 0
    current: int = 0
    updated: int = 0


class Update:
    """One round over a set's pods."""

    def __init__(
        self, owner: Document, revisions: tuple[Document, Document], pods: Sequence[Document], control: PodControl
    ) -> None:
        """Take the set, its (current, newest) revision, and the pods that it owns."""
        self._owner = owner
        self._control = control
        self._current, self._newest = revisions
        self._newest_set = with_template(owner, self._newest)
        self._monotonic = owner["spec"].get("podManagementPolicy") != "Parallel"
        self.pods = list(pods)

    def run(self, unix_ms: int) -> Generator[Sequence[Operation], Sequence[Result], tuple[Counts, ApiError | None]]:
        """Take the next steps; return how the pods counted before them, and what was refused."""
        owner = self._owner
        counts = self._counted(unix_ms)
        if "deletionTimestamp" in owner["metadata"]:
            return counts, None
        replicas, condemned = self._sorted()
        unavailable = [pod for pod in [*replicas, *reversed(condemned)] if identity.is_unavailable(pod, owner, unix_ms)]
        first = unavailable[0] if unavailable else None

        def living(pod: Document) -> Turn:
            return self._keep(pod, unix_ms)

        def going(pod: Document) -> Turn:
            return self._condemn(pod, first, unix_ms)

        for pods, each in ((replicas, living), (condemned, self._settle), (condemned, going)):
            ended, failure = yield from self._for_all(pods, each)
            if ended:
                return counts, failure
        if (owner["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
            return counts, None
        failure = yield from self._renew(replicas, counts, unix_ms)
        return counts, failure

    def _counted(self, unix_ms: int) -> Counts:
        counts = Counts()
        names = (self._current["metadata"]["name"], self._newest["metadata"]["name"])
        for pod in self.pods:
            if not identity.is_created(pod):
                continue
            counts.replicas += 1
            if identity.is_running_and_ready(pod):
                counts.ready += 1
                counts.available += self._is_available(pod, unix_ms)
            if not identity.is_terminating(pod):
                counts.current += identity.revision_of(pod) == names[0]
                counts.updated += identity.revision_of(pod) == names[1]
        return counts

    def _is_available(self, pod: Document, unix_ms: int) -> bool:
        return is_available(pod, self._owner["spec"].get("minReadySeconds", 0), unix_ms)

    def _sorted(self) -> tuple[list[Document], list[Document]]:
        """Return (a pod for each ordinal that is asked for, made or not; those beyond, highest first)."""
        owner = self._owner
        present = {identity.ordinal_of(pod): pod for pod in self.pods if identity.in_range(pod, owner)}
        current_set = with_template(owner, self._current)
        names = (self._current["metadata"]["name"], self._newest["metadata"]["name"])
        start = identity.start_of(owner)
        replicas = [
            present.get(ordinal) or identity.versioned_pod(current_set, self._newest_set, names, ordinal)
            for ordinal in range(start, start + identity.wanted_of(owner))
        ]
        beyond = [pod for pod in self.pods if not identity.in_range(pod, owner) and identity.ordinal_of(pod) >= 0]
        return replicas, sorted(beyond, key=identity.ordinal_of, reverse=True)

    def _for_all(self, pods: Sequence[Document], each: Each) -> Turn:
        """Do it for one pod after the other; in order, a pod that is waited for ends the round."""
        for pod in pods:
            waits, failure = yield from each(pod)
            if failure is not None or (waits and self._monotonic):
                return True, failure
        return False, None

    def _keep(self, pod: Document, unix_ms: int) -> Turn:
        """Make a pod that is asked for, replace one that ended, wait for one that is not ready, mend one that is."""
        control = self._control
        if has_ended(pod):
            failure = None if identity.is_terminating(pod) else (yield from control.delete(pod))
            return True, failure
        if not identity.is_created(pod):
            if control.claims_are_stale(pod):
                return True, None
            failure = yield from control.create(pod)
            return True, failure
        if identity.phase_of(pod) == "Pending":
            failure = yield from self._make_claims(pod)
            if failure is not None:
                return True, failure
        if self._monotonic and (
            identity.is_terminating(pod)
            or not identity.is_running_and_ready(pod)
            or not self._is_available(pod, unix_ms)
        ):
            return True, None
        newest = self._newest_set
        settled = control.are_claims_settled(pod, newest)
        if identity.has_identity(pod, self._owner) and identity.has_storage(pod, self._owner) and settled:
            return False, None
        failure = yield from control.mend(pod, newest)
        return failure is not None, failure

    def _make_claims(self, pod: Document) -> Step:
        failure = yield from self._control.create_claims(pod)
        if failure is not None:
            return failure
        return (yield from self._control.settle_claims(pod))

    def _settle(self, pod: Document) -> Turn:
        """Give the claims of a pod that goes the owners that the set asks for."""
        if self._control.are_claims_settled(pod, self._newest_set):
            return False, None
        failure = yield from self._control.settle_claims(pod)
        return failure is not None, failure

    def _condemn(self, pod: Document, first_unavailable: Document | None, unix_ms: int) -> Turn:
        """Delete a pod that is not asked for; in order, when everything else is well."""
        if identity.is_terminating(pod):
            return True, None
        well = identity.is_running_and_ready(pod) and self._is_available(pod, unix_ms)
        if self._monotonic and not well and pod is not first_unavailable:
            return True, None
        failure = yield from self._control.delete(pod)
        return True, failure

    def _renew(self, replicas: Sequence[Document], counts: Counts, unix_ms: int) -> Step:
        """Delete the highest pod that is not of the newest revision, once those above it are available."""
        rolling = (self._owner["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
        least = rolling.get("partition", 0)
        for pod in reversed(replicas[least:]):
            if identity.revision_of(pod) != self._newest["metadata"]["name"] and not identity.is_terminating(pod):
                failure = yield from self._control.delete(pod)
                if failure is not None and failure.code == 404:
                    failure = None
                if failure is None:
                    counts.current -= 1
                return failure
            if identity.is_unavailable(pod, self._owner, unix_ms):
                return None
        return None
