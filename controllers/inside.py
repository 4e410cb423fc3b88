"""What a look inside a session's processes shows: how each started, what it knows and how far behind, its election.

Nothing of it is stored: it is read off the living components when somebody asks.

A trace of a start has the steps of upstream's `cmd/<component>/app/server.go` in their order: flags, configuration,
plugins, serve, caches, lead. `atMs` is when a step was done, simulated milliseconds on the component's own clock, null
while it is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.admission.table import CHAIN
from controllers.bootstrap import CONTROLLER_MANAGER, SCHEDULER
from controllers.flags.apiserver import DISABLE_ADMISSION_PLUGINS, ENABLE_ADMISSION_PLUGINS
from controllers.flags.flag import InForce
from controllers.flags.table import TABLE
from controllers.kit.informer import Informers
from controllers.kit.manager import ControllerManager
from controllers.leaderelection.replica import Replica
from controllers.log.store import Gone, Store
from controllers.loop.loop import Loop, Slot
from controllers.scheduler.component import SchedulerComponent
from scheduler_core.api.document import Document

LAG_ROWS_MAX: Final = 5_000
"""Revisions of the log that are looked through for what a component has not heard yet."""

PORTS: Final[Mapping[str, int]] = {
    "kube-apiserver": 6443,
    SCHEDULER: 10259,
    CONTROLLER_MANAGER: 10257,
    "kubelet": 10250,
}
"""Where each component serves over https."""

LEASE_SLACK_MS: Final = 20_000
"""How long past its lease a leader that cannot renew still counts as healthy (HealthzAdaptor's timeout)."""

LISTERS: Final[Mapping[str, str]] = {
    "nodes": "nodeLister",
    "persistentvolumes": "pVLister",
    "persistentvolumeclaims": "pVCLister",
    "services": "serviceLister",
    "replicationcontrollers": "controllerLister",
    "replicasets.apps": "replicaSetLister",
}
"""What the first document calls the scheduler's caches."""


def replica_inside(loop: Loop, slot: Slot, flags: InForce) -> Document | None:
    """Return what one replica is at: `startup`, `listers`, `requests`, `election`, `healthy`; None: it is down."""
    replica = slot.component
    if not isinstance(replica, Replica):
        return None
    inner = replica.inner
    component = SCHEDULER if isinstance(inner, SchedulerComponent) else CONTROLLER_MANAGER
    informers = inner.informers if isinstance(inner, SchedulerComponent | ControllerManager) else None
    if not replica.running:
        informers = None
    listers = [] if informers is None else _listers(loop, slot, informers)
    if isinstance(inner, SchedulerComponent) and informers is not None:
        listers = [*_pods_of(inner, informers), *listers]
    now_ms = slot.clock.local(loop.now_ms)
    return {
        "identity": slot.name,
        "component": component,
        "startup": _startup(component, replica, informers, flags),
        "listers": listers,
        "requests": _requests(informers),
        "election": _election(loop, replica),
        "healthy": _healthy(replica, now_ms),
        "synced": informers is not None and informers.synced_ms is not None,
        "threads": _threads(inner),
    }


def others_started(loop: Loop, flags: InForce) -> list[Document]:
    """Return the traces of what has no replicas here: API server and kubelets."""
    on = [
        plugin.name
        for plugin in CHAIN.plugins
        if (plugin.by_default or plugin.name in flags[ENABLE_ADMISSION_PLUGINS])
        and plugin.name not in flags[DISABLE_ADMISSION_PLUGINS]
    ]
    server = [
        _flags_step("kube-apiserver", flags, 0),
        _step("configuration", 0, "log"),
        _step("plugins", 0, "ways", {"admission": on}),
        _step("serve", 0, "https", port=str(PORTS["kube-apiserver"])),
        _step("caches", 0, "watchCache", {"revision": loop.position}),
        _step("lead", 0, "allActive"),
    ]
    found = [{"name": "kube-apiserver", "component": "kube-apiserver", "startup": server}]
    kubelets = loop.slots.get("kubelet")
    if kubelets is not None and kubelets.running:
        nodes = loop.store.list("nodes")[0]
        told = [
            _flags_step("kubelet", flags, 0),
            _step("configuration", 0, "stages"),
            _step("plugins", 0, "runtime", {"runtime": "containerd://2.1.0-hollow"}),
            _step("serve", 0, "httpsOfNodes", port=str(PORTS["kubelet"])),
            _step("caches", 0, "ownPods", {"nodes": len(nodes)}),
            _step("lead", 0, "oneEach"),
        ]
        found.append({"name": "kubelet", "component": "kubelet", "startup": told})
    return found


# -- how it started -----------------------------------------------------------------------------------------------


SAID: Final = {
    "flagsDefault": "{n} flags, all at their defaults",
    "flagsSet": "{n} flags, {set} of them set",
    "log": "objects are kept in the session's log, their keys begin with what --etcd-prefix says",
    "stages": "stages of pods: controllers/kubelet/stages, ConfigMap kubelet-stages",
    "profiles": "{n} profile(s)",
    "periods": "periods and workers of each controller, by flags",
    "ways": "authentication, authorization, admission",
    "runtime": "the hollow container runtime",
    "profilePlugins": "plugins of each profile are made",
    "controllers": "{n} controllers are made",
    "https": "https on {port}",
    "httpsOfNodes": "https on {port} of each node",
    "httpsPaths": "https on {port}: healthz, livez, readyz, metrics, configz, pprof",
    "watchCache": "the watch cache is level with the log",
    "ownPods": "its Node and the pods bound to it",
    "caches": "{n} caches listed",
    "noCaches": "nothing is listed yet",
    "allActive": "no election: every API server is active",
    "oneEach": "no election: one on each node, which registers it",
    "atOnce": "leader-elect is false: acts at once",
    "follows": "follows: waits for {lock}",
    "leads": "leads by {kind} {lock}",
    "workers": "{name}: {busy} of {limit} workers busy",
    "cycleWaits": "scheduling cycle: waits for a pod",
    "cycleHolds": "scheduling cycle: holds {pod} at {point}",
    "bindings": "binding cycles: {n} under way",
}
"""What a step may come to, and what is done now, by the key under which the page has it in its reader's language."""


def _said(key: str, **values: str | int) -> Document:
    return {"text": SAID[key].format(**values), "key": key, "values": values}


def _step(step: str, at_ms: int | None, key: str, detail: Any = None, **values: str | int) -> Document:
    return {"step": step, "atMs": at_ms, **_said(key, **values), "detail": {} if detail is None else detail}


def _flags_step(component: str, flags: InForce, at_ms: int | None) -> Document:
    own = [flag for flag in TABLE if flag.component == component]
    changed = {flag.name: flags[flag] for flag in own if flags[flag] != flag.default}
    detail = {name: list(v) if isinstance(v, tuple) else v for name, v in changed.items()}
    if not changed:
        return _step("flags", at_ms, "flagsDefault", detail, n=len(own))
    return _step("flags", at_ms, "flagsSet", detail, n=len(own), set=len(changed))


def _startup(component: str, replica: Replica, informers: Informers | None, flags: InForce) -> list[Document]:
    at_ms, inner = replica.started_ms, replica.inner
    if isinstance(inner, SchedulerComponent):
        running = inner.configured
        profiles = {} if running is None else {name: list(one.plugins) for name, one in running.frameworks.items()}
        hashed = {"hash": running.hash if running is not None else ""}
        configuration = _step("configuration", at_ms, "profiles", hashed, n=len(profiles))
        plugins = _step("plugins", at_ms, "profilePlugins", profiles)
    else:
        names = inner.controllers if isinstance(inner, ControllerManager) else ()
        configuration = _step("configuration", at_ms, "periods")
        plugins = _step("plugins", at_ms, "controllers", {"controllers": list(names)}, n=len(names))
    synced_ms = informers.synced_ms if informers is not None else None
    caches = _step("caches", None, "noCaches")
    if informers is not None:
        caches = _step("caches", synced_ms, "caches", n=len(informers.reflectors))
    if not replica.elects:
        lead = _step("lead", replica.led_ms, "atOnce")
    elif replica.led_ms is None:
        lead = _step("lead", None, "follows", lock=replica.lock.describe())
    else:
        lead = _step("lead", replica.led_ms, "leads", kind=replica.lock.kind, lock=replica.lock.describe())
    return [
        _flags_step(component, flags, at_ms),
        configuration,
        plugins,
        _step("serve", at_ms, "httpsPaths", port=str(PORTS[component])),
        caches,
        lead,
    ]


# -- what it knows ------------------------------------------------------------------------------------------------


def _listers(loop: Loop, slot: Slot, informers: Informers) -> list[Document]:
    behind = behind_of(loop.store, slot, informers)
    return [
        {
            "name": LISTERS.get(resource, ""),
            "resource": resource,
            "rows": len(informers[resource]),
            "revision": reflector.revision,
            "lag": None if behind is None else behind.get(resource, 0),
            "mode": "poll" if informers.poll_ms and resource not in informers.always_watched else "watch",
            "lists": reflector.lists,
            "listedObjects": reflector.objects,
            "watchEvents": reflector.rows,
        }
        for resource, reflector in informers.reflectors.items()
    ]


def behind_of(store: Store, slot: Slot, informers: Informers) -> dict[str, int] | None:
    """Return how many revisions of each of its resources are in the log and not in its copies; None: too far back."""
    watched_from = slot.position
    polled_from = informers.polled_revision if informers.poll_ms else watched_from
    try:
        rows = store.events(min(watched_from, polled_from), LAG_ROWS_MAX)
    except Gone:
        return None
    found: dict[str, int] = {}
    for row in rows:
        if row.resource not in informers.resources:
            continue
        polled = informers.poll_ms and row.resource not in informers.always_watched
        if row.revision > (polled_from if polled else watched_from):
            found[row.resource] = found.get(row.resource, 0) + 1
    return found


def _pods_of(inner: SchedulerComponent, informers: Informers) -> list[Document]:
    """Return the three sets of pods that the first document names, beside the cache that they are made of."""
    scheduler = inner.scheduler
    pods = informers["pods"].all()
    placed = sum(1 for pod in pods if pod["spec"].get("nodeName"))
    assumed = scheduler.cache.assumed_count
    queue = scheduler.queue
    return [
        {"name": "podQueue", "resource": "pods", "rows": queue.active_count, "is": "pods to be scheduled, active lane"},
        {"name": "scheduledPodLister", "resource": "pods", "rows": placed, "is": "pods that have a node"},
        {
            "name": "podLister",
            "resource": "pods",
            "rows": placed + assumed,
            "assumed": assumed,
            "is": "pods that have a node, with those that are assumed to have one",
        },
    ]


def _requests(informers: Informers | None) -> Document:
    """Return what keeping its copies level has cost, since the process began."""
    if informers is None:
        return {"mode": "watch", "lists": 0, "listedObjects": 0, "watches": 0, "watchEvents": 0}
    reflectors = informers.reflectors.values()
    watches = sum(one.watches for one in reflectors)
    return {
        "mode": "poll" if informers.poll_ms else "watch",
        "pollMs": informers.poll_ms,
        "lists": sum(one.lists for one in reflectors),
        "listedObjects": sum(one.objects for one in reflectors),
        "watches": watches,
        "watchEvents": sum(one.rows for one in reflectors),
    }


# -- its election -------------------------------------------------------------------------------------------------


def _election(loop: Loop, replica: Replica) -> Document:
    elector = replica.elector
    renewals = 0
    branches: Document = {}
    if elector is not None:
        branches = {str(branch): count for branch, count in elector.branches.items()}
        renewals = sum(count for branch, count in branches.items() if branch in ("renew", "renew-optimistic"))
    listeners = listeners_of(loop, replica.lock.resources)
    each = sum(one["count"] for one in listeners)
    return {
        "elects": replica.elects,
        "lock": {
            "kind": replica.lock.kind,
            "resources": list(replica.lock.resources),
            "namespace": replica.lock.namespace,
            "name": replica.lock.name,
        },
        "branches": branches,
        "renewals": renewals,
        "listeners": listeners,
        "watchEventsPerRenewal": each,
        "watchEvents": each * renewals,
    }


def listeners_of(loop: Loop, resources: Sequence[str]) -> list[Document]:
    """Return who hears of every write of some resources: components that watch all of them, and kube-proxies.

    A kube-proxy runs on each node and watches Endpoints in the era of locks on Endpoints; it watches neither ConfigMaps
    nor Leases.
    """
    found: list[Document] = []
    for resource in resources:
        for slot in loop.slots.values():
            if slot.running and resource in slot.watched:
                found.append({"resource": resource, "who": slot.name, "count": 1})
        if resource == "endpoints":
            nodes = len(loop.store.list("nodes")[0])
            found.append({"resource": resource, "who": "kube-proxy", "count": nodes})
    return found


def _healthy(replica: Replica, now_ms: int) -> bool:
    """Return what the election's check of `healthz` says: a leader whose lease is long over is ill."""
    elector = replica.elector
    if elector is None or not elector.leading or elector.observed is None:
        return True
    over_ms = elector.observed_ms + 1000 * elector.observed.lease_duration_seconds + LEASE_SLACK_MS
    return now_ms <= over_ms


def _threads(inner: object) -> list[Document]:
    """Return what its workers do at the moment, a line each: what a dump of goroutines would show."""
    if isinstance(inner, ControllerManager):
        return [_said("workers", name=name, busy=busy, limit=limit) for name, busy, limit in inner.workers()]
    if isinstance(inner, SchedulerComponent) and inner.started:
        held = inner.held
        cycle = _said("cycleWaits") if held is None else _said("cycleHolds", pod=held["pod"], point=held["point"])
        return [cycle, _said("bindings", n=inner.binding)]
    return []
