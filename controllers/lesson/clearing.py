"""A cleared cluster: what people and controllers have made goes, what a session begins with stays, and is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.bootstrap import initial_objects
from controllers.commands import CLOCK, CLOCKS, REPLICAS
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.kinds.table import KINDS, by_kind
from controllers.log.operations import Delete, Operation, Patch
from controllers.log.store import Store
from controllers.registry.kind import CLUSTERSIM_GROUP
from controllers.scheduler.settings import NAME as SCHEDULER_NAME
from controllers.scheduler.settings import RESOURCE as SCHEDULER
from scheduler_core.framework.rules import CURRENT_ERA

SEATED_BY: Final = "clustersim.io/created-by"
"""Annotation of the namespaces that people in a session have; they stay, with what bounds and serves them."""

_OF_SEATS: Final = frozenset({"resourcequotas", "limitranges", "serviceaccounts", "configmaps"})
_ELECTIONS: Final = "kube-system"


def clearing(store: Store, pace: int) -> Iterator[Operation]:
    """Yield the operations that clear a cluster, in order: owners before what they own, nodes last.

    Pods go at once. Command objects stay; scheduler, flags, clock and replicas become as they were at the beginning.
    """
    kept = _kept()
    seats = {
        stored.name
        for stored in store.list("namespaces")[0]
        if SEATED_BY in (stored.object["metadata"].get("annotations") or {})
    }
    for kind in sorted(KINDS, key=lambda one: (one.resource == "nodes", one.resource == "pods", not one.namespaced)):
        if kind.group == CLUSTERSIM_GROUP and kind.resource != CLIENTS:
            continue
        for stored in store.list(kind.resource)[0]:
            if (kind.resource, stored.namespace, stored.name) in kept:
                continue
            if stored.namespace in seats and kind.resource in _OF_SEATS:
                continue
            if kind.resource == "namespaces" and stored.name in seats:
                continue
            if kind.group == "coordination.k8s.io" and stored.namespace == _ELECTIONS:
                continue
            yield Delete(kind.resource, stored.namespace, stored.name, grace_period_seconds=0, propagation="Background")
    yield from _reset(store, pace)


def _kept() -> set[tuple[str, str, str]]:
    kept = set()
    for document in initial_objects():
        kind = by_kind(document["apiVersion"], document["kind"])
        namespace = (document["metadata"].get("namespace") or "default") if kind.namespaced else ""
        kept.add((kind.resource, namespace, document["metadata"]["name"]))
    return kept


def _reset(store: Store, pace: int) -> Iterator[Operation]:
    yield Patch(SCHEDULER, "", SCHEDULER_NAME, [{"op": "add", "path": "/spec", "value": {"era": CURRENT_ERA}}], "json")
    if store.get(FLAGS, "", FLAGS_NAME) is not None:
        yield Patch(FLAGS, "", FLAGS_NAME, [{"op": "add", "path": "/spec", "value": {}}], "json")
    yield Patch(CLOCKS, "", CLOCK, {"spec": {"pace": pace, "rate": 1.0}})
    for stored in store.list(REPLICAS)[0]:
        if (stored.object.get("status") or {}).get("fault"):
            number = int((stored.object["spec"].get("fault") or {}).get("id") or 0) + 1
            fault = {"id": number, "kind": "recover", "seconds": None, "rate": None}
            yield Patch(REPLICAS, "", stored.name, {"spec": {"fault": fault}})
