"""The pods of a Job: what to make and what to end.

Source: pkg/controller/job/job_controller.go (manageJob, deleteJobPods), v1.34.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from controllers.job import facts
from controllers.job.backoff import remaining_of_index_ms
from controllers.job.look import Look, Steps
from controllers.job.template import pod_of
from controllers.job.tracking import untracked
from controllers.kit.manager import must
from controllers.kit.pods import deletion_order, ready_since_ms
from controllers.log.operations import Create, Delete, Operation, Result
from scheduler_core.api.document import Document

PODS_PER_SYNC: Final = 500
"""Pods made or ended in one look (MaxPodCreateDeletePerSync)."""


class Managing(Look):
    """A look that makes and ends pods."""

    def _manage(self, suspended: bool) -> Steps:
        """Make pods or end pods, one of both in a look."""
        if suspended:
            yield from self._delete_expected(self._to_remove(len(self.active)))
            return
        parallelism = int(self.spec.get("parallelism") or 0)
        if self.spec.get("completions") is None:
            wanted = self.count if self.succeeded > 0 else parallelism
        else:
            wanted = max(0, min(self.completions - self.succeeded, parallelism))
        surplus = self._to_remove(max(0, self.count - wanted))[:PODS_PER_SYNC]
        if surplus:
            yield from self._delete_expected(surplus)
            return
        leaving = self.terminating if self.spec.get("podReplacementPolicy") == "Failed" else 0
        missing = min(wanted - leaving - self.count, PODS_PER_SYNC)
        if missing > 0:
            yield from self._create(missing)

    def _to_remove(self, least: int) -> list[Document]:
        """Return pods that are too many: doubles of an index and those without a valid one first."""
        removed: list[Document] = []
        left = self.active
        if facts.is_indexed(self.job):
            by_index: dict[int, list[Document]] = {}
            for pod in self.active:
                index = self._index(pod)
                if index is None:
                    removed.append(pod)
                else:
                    by_index.setdefault(index, []).append(pod)
            ordered = [deletion_order(pods, {}, self.work.unix_ms) for _, pods in sorted(by_index.items())]
            removed += [pod for pods in ordered for pod in pods[:-1]]
            left = [pods[-1] for pods in ordered]
        if len(removed) < least:
            removed += deletion_order(left, {}, self.work.unix_ms)[: least - len(removed)]
        return removed

    def _delete_expected(self, pods: list[Document]) -> Steps:
        if pods:
            uids = [pod["metadata"]["uid"] for pod in pods]
            self._expectations.expect_deletions(self.key, uids, self.work.now_ms)
            yield [untracked(pod) for pod in pods if facts.is_tracked(pod)]
            yield from self._delete(pods, keep_finalizer=False)

    def _delete(
        self, pods: Sequence[Document], *, keep_finalizer: bool
    ) -> Generator[Sequence[Operation], Sequence[Result], int]:
        """Delete pods; returns how many are gone or going."""
        results = yield [
            Delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], uid=pod["metadata"]["uid"])
            for pod in pods
        ]
        deleted = 0
        for pod, result in zip(pods, results, strict=True):
            name, error = pod["metadata"]["name"], result.error
            if error is not None and not keep_finalizer:
                self._expectations.deleted(self.key, pod["metadata"]["uid"])
            if error is not None and error.code != 404:
                self.error = self.error or error
                text = f"Error deleting: {error.message}"
                self.work.event(self.job, "Job", "FailedDelete", text, event_type="Warning")
                continue
            if error is None:
                self.work.event(self.job, "Job", "SuccessfulDelete", f"Deleted pod: {name}")
            deleted += 1
            self.ready -= ready_since_ms(pod) is not None
        self.count -= deleted
        self.terminating += deleted
        return deleted

    def _create(self, missing: int) -> Steps:
        places: list[int | None] = [None] * missing
        if facts.is_indexed(self.job):
            places = list(self._pending(missing))
        wait_ms = 0
        if facts.limits_each_index(self.job):
            waits = {place: self._wait_ms(place) for place in places}
            wait_ms = min(waits.values(), default=0)
            places = [place for place in places if waits[place] == 0]
        else:
            wait_ms = self.failures.remaining_ms(self.work.unix_ms)
        if wait_ms > 0:
            self.work.queue.add_at(self.key, self.work.now_ms + wait_ms)
            self.count = 0
            return
        self._expectations.expect_creations(self.key, len(places), self.work.now_ms)
        namespace, size = self.job["metadata"]["namespace"], 1
        self.count += len(places)
        while places:
            batch, places = places[:size], places[size:]
            pods = [pod_of(self.job, place, self._delayed.get(place) if place is not None else None) for place in batch]
            results = yield [Create("pods", namespace, pod) for pod in pods]
            if not self._created(results):
                # What was skipped will not be seen either.
                self._expectations.created(self.key, len(places))
                self.count -= len(places)
                return
            size *= 2

    def _wait_ms(self, place: int | None) -> int:
        return remaining_of_index_ms(self._delayed.get(place) if place is not None else None, self.work.unix_ms)

    def _pending(self, count: int) -> list[int]:
        """Return the first indexes that nothing is done for."""
        busy = {facts.index_of(pod) for pod in self.active} | self._done | (self._lost or set())
        if self.spec.get("podReplacementPolicy") == "Failed":
            busy |= {facts.index_of(pod) for pod in self.pods if facts.is_terminating(pod)}
        found: list[int] = []
        for index in range(self.completions):
            if len(found) == count:
                break
            if index not in busy:
                found.append(index)
        return found

    def _created(self, results: Sequence[Result]) -> bool:
        good = True
        for result in results:
            if result.error is None:
                name = must(result)["metadata"]["name"]
                self.work.event(self.job, "Job", "SuccessfulCreate", f"Created pod: {name}")
                continue
            if any(cause.reason == "NamespaceTerminating" for cause in result.error.causes):
                continue
            good = False
            self._expectations.created(self.key)
            self.count -= 1
            self.error = self.error or result.error
            text = f"Error creating: {result.error.message}"
            self.work.event(self.job, "Job", "FailedCreate", text, event_type="Warning")
        return good
