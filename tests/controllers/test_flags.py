"""Flags: their formats, the values that components run with, and what changes when one is set."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import Cluster, found
from controllers.flags import controllermanager as flags
from controllers.flags.flag import Flags, parse_duration
from controllers.flags.table import TABLE, find, read_flags, told_flags, wrong_flags
from controllers.kit.client import Client
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Patch
from controllers.rerun import first_difference, rerun
from scheduler_core.api.document import Document, condition

MANAGER = "kube-controller-manager"


@pytest.mark.parametrize(
    ("text", "ms"),
    [("12s", 12_000), ("1m30s", 90_000), ("300ms", 300), ("1.5h", 5_400_000), ("0", 0), ("-2s", -2_000), (".5s", 500)],
)
def test_durations_are_gos(text: str, ms: int) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("node-monitor-period", "soon", 'time: invalid duration "soon"'),
        ("node-monitor-period", "", 'time: invalid duration ""'),
        ("node-monitor-period", "5", 'time: missing unit in duration "5"'),
        ("node-monitor-period", "5d", 'time: unknown unit "d" in duration "5d"'),
        ("node-monitor-period", "0s", "must be at least 100ms"),
        ("concurrent-gc-syncs", "many", 'strconv.ParseInt: parsing "many": invalid syntax'),
        ("concurrent-gc-syncs", "0", "must be at least 1 and at most 500"),
        ("concurrent-gc-syncs", "99999999999999", 'strconv.ParseInt: parsing "99999999999999": value out of range'),
        ("node-eviction-rate", "x", 'strconv.ParseFloat: parsing "x": invalid syntax'),
        ("unhealthy-zone-threshold", "1.5", "must be at least 0 and at most 1"),
        ("leader-elect", "perhaps", 'strconv.ParseBool: parsing "perhaps": invalid syntax'),
        ("leader-elect-resource-lock", "pods", 'resourceLock: Invalid value: resourceLock value must be "leases"'),
    ],
)
def test_bad_values_are_told_in_the_words_of_upstreams_parsers(name: str, text: str, told: str) -> None:
    (cause,) = wrong_flags({MANAGER: {name: text}})
    assert cause.field == f"{MANAGER}.{name}"
    assert cause.message == f'invalid argument "{text}" for "--{name}" flag: {told}'


def test_unknown_flags_and_elections_that_cannot_work_are_refused() -> None:
    causes = wrong_flags({MANAGER: {"nope": "1", "leader-elect-lease-duration": "10s"}, "kubelet": {"run": "x"}})
    assert [(cause.field, cause.message) for cause in causes] == [
        (f"{MANAGER}.nope", "unknown flag: --nope"),
        ("kubelet.run", "unknown flag: --run"),
        (f"{MANAGER}.leader-elect-lease-duration", "leaseDuration must be greater than renewDeadline"),
    ]


def test_what_is_not_set_has_its_default_and_what_cannot_be_read_too() -> None:
    spec = {MANAGER: {"node-monitor-period": "2s", "concurrent-gc-syncs": "no", "gone": "1"}, "kubelet": 3}
    values = read_flags(spec)
    assert (values[flags.NODE_MONITOR_PERIOD], values[flags.GC_SYNCS]) == (2_000, 20)
    assert Flags()[flags.NODE_MONITOR_PERIOD] == 5_000
    assert told_flags(spec)[MANAGER]["node-monitor-period"] == "2s"
    told = told_flags(None)["kubelet"]
    assert (told["annotation-prefix"], told["era"], told["eviction-soft"]) == ("clustersim.io", "v1.34", "")


def test_every_default_reads_as_itself() -> None:
    assert [flag.name for flag in TABLE if flag.parse(flag.text) != flag.default] == []
    assert len({(flag.component, flag.name) for flag in TABLE}) == len(TABLE)
    assert find("kubelet", "leader-elect") is None


# -- in a cluster -------------------------------------------------------------------------------------------------


def _node(name: str) -> Document:
    status = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def _cluster(*documents: Document) -> tuple[MemoryStore, Cluster]:
    store = MemoryStore(seed=7)
    for result in [*found(store), *found(store, list(documents))]:
        assert result.error is None, result.error
    cluster = Cluster(store)
    cluster.start()
    return store, cluster


def _set(store: MemoryStore, cluster: Cluster, spec: dict[str, Any]) -> Document:
    client = Client(store)
    if store.get("flags.clustersim.io", "", "flags") is None:
        document: Document = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}}
        assert client.apply(Create("flags.clustersim.io", "", document), "user:t").error is None
    result = client.apply(Patch("flags.clustersim.io", "", "flags", {"spec": spec}), "user:t")
    assert result.error is None, result.error
    cluster.obey(store.epoch_ms + cluster.now_ms)
    stored = store.get("flags.clustersim.io", "", "flags")
    assert stored is not None
    return stored.object


def _ready(store: MemoryStore, name: str) -> str:
    node = store.get("nodes", "", name)
    assert node is not None
    found_condition = condition(node.object, "Ready")
    return "" if found_condition is None else str(found_condition["status"])


def _silence(store: MemoryStore, cluster: Cluster, name: str) -> None:
    from controllers.admission.taintnodesbycondition import STOPPED
    from controllers.log.stamps import wire_time

    since = wire_time(store.epoch_ms + cluster.now_ms)
    patch = {"metadata": {"annotations": {STOPPED: since}}}
    assert Client(store).apply(Patch("nodes", "", name, patch), "user:t").error is None


@pytest.mark.parametrize(("spec", "unknown"), [({}, False), ({"node-monitor-grace-period": "12s"}, True)])
def test_a_shorter_grace_period_is_obeyed_by_the_controllers_that_run(spec: dict[str, str], unknown: bool) -> None:
    store, cluster = _cluster(_node("n1"))
    cluster.advance(20_000)
    assert _ready(store, "n1") == "True"
    document = _set(store, cluster, {MANAGER: spec})
    assert document["status"]["observedGeneration"] == document["metadata"]["generation"]
    _silence(store, cluster, "n1")
    cluster.advance(45_000)
    assert (_ready(store, "n1") == "Unknown") is unknown


def test_a_period_begins_anew_when_its_flag_changes() -> None:
    store, cluster = _cluster(_node("n1"))
    cluster.advance(20_000)
    _set(store, cluster, {MANAGER: {"node-monitor-period": "1h", "node-monitor-grace-period": "1s"}})
    _silence(store, cluster, "n1")
    cluster.advance(120_000)
    assert _ready(store, "n1") == "True"
    _set(store, cluster, {MANAGER: {"node-monitor-period": "2s"}})
    cluster.advance(124_000)
    assert _ready(store, "n1") == "Unknown"


def test_a_new_owner_goes_on_with_the_flags_that_are_set() -> None:
    store, cluster = _cluster(_node("n1"))
    cluster.advance(10_000)
    _set(store, cluster, {MANAGER: {"node-monitor-period": "2s"}})
    revision = store.revision
    again = Cluster(store)
    again.start()
    again.obey(store.epoch_ms + again.now_ms)
    assert again.flags[flags.NODE_MONITOR_PERIOD] == 2_000
    rows = [row for row in store.events(revision) if row.resource == "flags.clustersim.io"]
    assert rows == []


def test_kubelets_obey_the_annotations_of_the_prefix_that_is_set() -> None:
    node, pod = _node("n1"), _pod("p1", "n1")
    pod["metadata"]["annotations"] = {"corpus/run": "complete"}
    store, cluster = _cluster(node, pod)
    cluster.advance(20_000)
    assert _phase(store, "p1") == "Running"
    _set(store, cluster, {"kubelet": {"annotation-prefix": "corpus"}})
    cluster.advance(30_000)
    assert _phase(store, "p1") == "Succeeded"
    off = {"metadata": {"annotations": {"corpus/kubelet": "off", "clustersim.io/kubelet": "on"}}}
    assert Client(store).apply(Patch("nodes", "", "n1", off), "user:t").error is None
    cluster.pull()
    cluster.advance(100_000)
    assert _ready(store, "n1") == "Unknown"
    _set(store, cluster, {"kubelet": {"annotation-prefix": "clustersim.io"}})
    cluster.advance(120_000)
    assert _ready(store, "n1") == "True"


def _pod(name: str, node: str) -> Document:
    spec = {"nodeName": node, "restartPolicy": "Never", "containers": [{"name": "c", "image": "nginx:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def _phase(store: MemoryStore, name: str) -> str:
    pod = store.get("pods", "default", name)
    assert pod is not None
    return str(pod.object["status"]["phase"])


def _deployment(name: str, replicas: int) -> Document:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def test_controllers_can_be_switched_off_and_on() -> None:
    store, cluster = _cluster(_node("n1"))
    cluster.advance(20_000)
    _set(store, cluster, {MANAGER: {"controllers": "*,-replicaset-controller"}})
    assert found(store, [_deployment("web", 2)], actor="user:t")[0].error is None
    cluster.pull()
    cluster.advance(30_000)
    assert store.list("pods")[0] == []
    assert len(store.list("replicasets.apps")[0]) == 1
    _set(store, cluster, {MANAGER: {"controllers": "*"}})
    cluster.advance(40_000)
    assert len(store.list("pods")[0]) == 2


def test_a_run_from_the_log_changes_flags_at_the_same_places() -> None:
    store, cluster = _cluster(_node("n1"), _node("n2"))
    cluster.advance(13_000)
    _set(store, cluster, {MANAGER: {"node-monitor-grace-period": "3s", "node-monitor-period": "700ms"}})
    cluster.advance(15_500)
    _silence(store, cluster, "n1")
    cluster.pull()
    cluster.advance(60_000)
    log = store.events(0, 100_000)
    again = rerun(log, seed=store.seed, epoch_ms=store.epoch_ms)
    assert first_difference(log, again.events(0, 100_000)) == ""
    assert _ready(again, "n1") == "Unknown"
