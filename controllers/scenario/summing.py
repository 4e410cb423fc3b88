"""What came of a run, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

from controllers.cluster import Cluster
from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.leaderelection.standing import overlaps
from controllers.log.store import Event, Store
from controllers.registry.models.clustersim_v1 import ClientStatus, ReplicaStatus
from controllers.registry.structs import read as read_struct
from scheduler_core.api.document import Document
from scheduler_core.legacy.conflicts import conflicts_of


def summary(store: Store, cluster: Cluster, seed: int, name: str) -> Document:
    """Return what came of a run: counts, and a hash over every row of the log."""
    digest = sha256()
    verbs: Counter[str] = Counter()
    for row in _rows(store):
        verbs[row.verb] += 1
        head = f"{row.revision} {row.now_ms} {row.verb} {row.resource} {row.namespace} {row.name} {row.actor} "
        digest.update(head.encode() + row.data + b"\n")
    nodes = [stored.object for stored in store.list("nodes")[0]]
    pods = [stored.object for stored in store.list("pods")[0]]
    phases = Counter((pod.get("status") or {}).get("phase", "Unknown") for pod in pods)
    leaders = {
        stored.name: stored.object["spec"].get("holderIdentity", "")
        for stored in store.list("leases.coordination.k8s.io", "kube-system")[0]
    }
    return {
        "name": name,
        "seed": seed,
        "simTime": cluster.now_ms / 1000,
        "revision": store.revision,
        "events": cluster.events_run,
        "rows": {verb: verbs[verb] for verb in sorted(verbs)},
        "nodes": len(nodes),
        "pods": len(pods),
        "bound": sum(1 for pod in pods if pod["spec"].get("nodeName")),
        "phases": {phase: phases[phase] for phase in sorted(phases)},
        "conflicts": conflicts_of(nodes, pods).counts(),
        "leaders": leaders,
        "elections": _elections(store, cluster.now_ms),
        "clients": _clients(store),
        "logSha256": digest.hexdigest(),
    }


def _elections(store: Store, now_ms: int) -> Document:
    """Return, for each component, when two of its replicas led at once (seconds), and how many writes were refused."""
    found: dict[str, list[ReplicaStatus]] = {}
    for stored in store.list("replicas.clustersim.io")[0]:
        component = str(stored.object["spec"]["component"])
        found.setdefault(component, []).append(read_struct(stored.object.get("status"), ReplicaStatus))
    return {
        component: {
            "twoLeaders": [
                [since_ms / 1000, until_ms / 1000]
                for since_ms, until_ms in overlaps([status.beliefs for status in statuses], now_ms)
            ],
            "refused": sum(status.refused for status in statuses),
        }
        for component, statuses in sorted(found.items())
    }


def _clients(store: Store) -> Document:
    """Return what came of each client's requests, as far as it is told."""
    found: Document = {}
    for stored in store.list(CLIENTS)[0]:
        status = read_struct(stored.object.get("status"), ClientStatus)
        found[stored.name] = {"sent": status.sent, **{name: count for name, count in status.results.items() if count}}
    return found


def _rows(store: Store) -> Iterator[Event]:
    after = 0
    while rows := store.events(after):
        yield from rows
        after = rows[-1].revision
