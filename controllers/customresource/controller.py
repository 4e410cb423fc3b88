"""Deletes the instances of a definition that is being deleted, then lets it go; looks again at names that become free.

In upstream it runs inside the API server.
Source: k8s.io/apiextensions-apiserver/pkg/controller (finalizer/crd_finalizer.go, status/naming_controller.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from controllers.custom.kinds import FINALIZER, RESOURCE, established
from controllers.custom.naming import Told, settled, with_condition
from controllers.kit.manager import Reconcile, Setup, Work, must
from controllers.log.operations import Delete, Patch, Update
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document, condition

AGAIN_MS: Final = 5_000
"""How often instances that stay for now are looked at again, as upstream polls."""

DELETIONS_MAX: Final = 500
"""Instances deleted in one reconciliation; the rest follows at once."""

_UNDER_WAY: Final[Told] = (
    "Terminating",
    "True",
    "InstanceDeletionInProgress",
    "CustomResource deletion is in progress",
)


class DefinitionController:
    """Reconciles definitions, by name."""

    NAME: ClassVar[str] = "customresourcedefinition"
    RESOURCES: ClassVar[tuple[str, ...]] = (RESOURCE,)

    def __init__(self, setup: Setup) -> None:
        """Listen to definitions."""
        self._definitions = setup.informers[RESOURCE]
        self._queue = setup.queue
        self._definitions.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and "deletionTimestamp" in new["metadata"]:
            self._queue.add(new["metadata"]["name"])
        if new is None and old is not None:
            # What it was called is free: whoever waits for a name of the group may get it.
            for other in self._definitions.all():
                if other["spec"]["group"] == old["spec"]["group"] and not _has_names(other):
                    self._queue.add(other["metadata"]["name"])

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Settle one definition."""
        definition = self._definitions.get("", key)
        if definition is None:
            work.tell("the definition has gone", desired={}, actual={})
            return
        if "deletionTimestamp" not in definition["metadata"]:
            yield from self._rename(definition, work)
        elif FINALIZER in (definition["metadata"].get("finalizers") or ()):
            yield from self._empty(definition, work)

    def _rename(self, definition: Document, work: Work) -> Reconcile:
        better = settled(definition, self._definitions.all(), wire_time(work.unix_ms))
        work.tell(
            "its names are as they were" if better is None else "names have become free",
            desired={"names": dict(definition["spec"]["names"])},
            actual={"names": dict((definition.get("status") or {}).get("acceptedNames") or {})},
        )
        if better is not None:
            yield from _told(definition, better["status"])

    def _empty(self, definition: Document, work: Work) -> Reconcile:
        name = definition["metadata"]["name"]
        now = wire_time(work.unix_ms)
        status = definition.get("status") or {}
        if not established(definition):
            never: Told = ("Terminating", "False", "NeverEstablished", "resource was never established")
            yield from self._let_go(definition, with_condition(status, never, now))
            return
        if (condition(definition, "Terminating") or {}).get("reason") != _UNDER_WAY[2]:
            yield from _told(definition, with_condition(status, _UNDER_WAY, now))
        found = work.tick.list(name)[0]
        going = [
            Delete(name, stored.namespace, stored.name, uid=stored.uid, propagation="Background")
            for stored in found
            if "deletionTimestamp" not in stored.object["metadata"]
        ]
        for result in (yield going[:DELETIONS_MAX]):
            if result.error is not None and result.error.code not in (404, 409):
                must(result)
        left = len(work.tick.list(name)[0])
        work.tell(
            "instances are left" if left else "no instance is left: it goes",
            desired={"instances": 0},
            actual={"instances": left},
        )
        if left:
            work.queue.add_at(name, work.now_ms + (1 if len(going) > DELETIONS_MAX else AGAIN_MS))
            return
        done: Told = ("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
        yield from self._let_go(definition, with_condition(status, done, now))

    def _let_go(self, definition: Document, status: Mapping[str, object]) -> Reconcile:
        yield from _told(definition, status)
        metadata = definition["metadata"]
        kept = [name for name in metadata["finalizers"] if name != FINALIZER]
        patch = {"metadata": {"finalizers": kept or None, "uid": metadata["uid"]}}
        for result in (yield [Patch(RESOURCE, "", metadata["name"], patch)]):
            if result.error is not None and result.error.code != 404:
                must(result)


def _has_names(definition: Mapping[str, object]) -> bool:
    found = condition(definition, "NamesAccepted")
    return found is not None and found.get("status") == "True"


def _told(definition: Document, status: Mapping[str, object]) -> Reconcile:
    """Write a status."""
    metadata = definition["metadata"]
    body = {"metadata": {"uid": metadata["uid"]}, "status": dict(status)}
    for result in (yield [Update(RESOURCE, "", metadata["name"], body, "status")]):
        if result.error is not None and result.error.code not in (404, 409):
            must(result)
