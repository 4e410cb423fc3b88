"""Pods made and deleted for a workload: in growing batches, awaited by expectations, told in Events.

Source: `RealPodControl` (k8s.io/kubernetes/pkg/controller/controller_utils.go), `slowStartBatch`
(pkg/controller/replicaset).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from controllers.flags.controllermanager import ERA
from controllers.flags.flag import ERA_THEN
from controllers.kit.expectations import Expectations
from controllers.kit.manager import Work, must
from controllers.log.operations import Create, Delete, Operation, Result
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

SLOW_START_FIRST: Final = 1
"""Creations come in batches of 1, 2, 4 …: a template that is refused is refused a few times, not hundreds of times."""

Step = Generator[Sequence[Operation], Sequence[Result], ApiError | None]
"""Yields operations; returns the first refusal, None where all went well."""


class PodControl:
    """Writes the pods of one kind of workload."""

    def __init__(self, kind: str, resource: str, expectations: Expectations) -> None:
        """Take the workload's kind, the resource that it makes, and where is counted what it waits for."""
        self._kind = kind
        self._resource = resource
        self._expectations = expectations

    def create(
        self, key: str, owner: Document, pods: Sequence[Document], work: Work, made: list[Document] | None = None
    ) -> Step:
        """Make pods, which are expected already; what a refused batch leaves over is not expected any more.

        `made` gets what was made.
        """
        done = 0
        size = len(pods) if work.flags[ERA] == ERA_THEN else SLOW_START_FIRST
        while done < len(pods):
            batch = pods[done : done + size]
            results = yield [Create(self._resource, owner["metadata"]["namespace"], pod) for pod in batch]
            failure = self._created(key, owner, results, work)
            if made is not None:
                made += [result.object for result in results if result.object is not None]
            done += len(batch)
            if failure is not None:
                # What was skipped will not be seen either.
                self._expectations.created(key, len(pods) - done)
                return failure
            size *= 2
        return None

    def _created(self, key: str, owner: Document, results: Sequence[Result], work: Work) -> ApiError | None:
        failure: ApiError | None = None
        for result in results:
            if result.error is None:
                name = must(result)["metadata"]["name"]
                work.event(owner, self._kind, "SuccessfulCreate", f"Created pod: {name}")
                continue
            self._expectations.created(key)
            if any(cause.reason == "NamespaceTerminating" for cause in result.error.causes):
                continue
            failure = failure or result.error
            message = f"Error creating: {result.error.message}"
            work.event(owner, self._kind, "FailedCreate", message, event_type="Warning")
        return failure

    def delete(self, key: str, owner: Document, pods: Sequence[Document], work: Work) -> Step:
        """Delete pods; their deletions are expected already."""
        if not pods:
            return None
        results = yield [
            Delete(self._resource, pod["metadata"]["namespace"], pod["metadata"]["name"], uid=pod["metadata"]["uid"])
            for pod in pods
        ]
        failure: ApiError | None = None
        for pod, result in zip(pods, results, strict=True):
            name = pod["metadata"]["name"]
            if result.error is None:
                work.event(owner, self._kind, "SuccessfulDelete", f"Deleted pod: {name}")
                continue
            self._expectations.deleted(key, pod["metadata"]["uid"])
            if result.error.code != 404:
                failure = failure or result.error
                message = f"Error deleting: {result.error.message}"
                work.event(owner, self._kind, "FailedDelete", message, event_type="Warning")
        return failure
