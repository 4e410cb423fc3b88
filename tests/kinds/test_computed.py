"""Objects that no row of the log holds say themselves what they follow from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import pytest

from controllers.kinds.table import COMPUTED, KINDS, kind_of
from controllers.log.memory import MemoryStore
from controllers.log.store import Stored
from controllers.registry.computed import Computed

NOW_MS = 60_000
STOPPED = {"clustersim.io/kubelet-stopped-at": "2026-01-01T00:00:30Z"}
RUNNING = {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]}


class Facts:
    """A store, a minute after its beginning."""

    def __init__(self) -> None:
        self._store = MemoryStore()
        self.epoch_ms = self._store.epoch_ms

    def put(self, resource: str, namespace: str, name: str, annotations: Mapping[str, str], **body: Any) -> None:
        metadata = {"name": name, "uid": f"u-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
        document = {"metadata": {**metadata, "annotations": annotations, "labels": {"of": name}}, **body}
        with self._store.transaction("test") as transaction:
            transaction.put(resource, namespace, name, document)

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        return self._store.get(resource, namespace, name)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        return self._store.list(resource, namespace)

    def stored(self, resource: str) -> Sequence[Stored]:
        return self.list(resource)[0]

    def unix_ms(self) -> int:
        return self.epoch_ms + NOW_MS


def facts() -> Facts:
    made = Facts()
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}
    uses = {"clustersim.io/cpu-usage": "250m", "clustersim.io/memory-usage": "64Mi"}
    made.put("nodes", "", "n1", {})
    made.put("nodes", "", "silent", STOPPED)
    made.put("pods", "a", "p", uses, spec=spec, status=RUNNING)
    made.put("pods", "b", "waits", {}, spec=spec, status={"phase": "Pending"})
    return made


def computed(resource: str, namespace: str | None = None, name: str = "") -> list[Stored]:
    said = kind_of(resource).computed
    assert said is not None
    return list(said.objects(facts(), namespace, name))


def cells(resource: str, stored: Stored) -> list[Any]:
    return [column.cell(stored.object, lambda _: "") for column in kind_of(resource).columns]


def test_leases_of_nodes_lie_in_their_namespace_and_end_with_the_kubelet() -> None:
    leases = "leases.coordination.k8s.io"
    assert [one.namespace for one in computed(leases)] == ["kube-node-lease"] * 2 + ["kube-system"]
    assert [one.name for one in computed(leases, "kube-node-lease")] == ["n1", "silent"]
    assert computed(leases, "default") == computed(leases, "kube-node-lease", "none") == []
    renewed = [one.object["spec"]["renewTime"] for one in computed(leases, "kube-node-lease")]
    assert renewed == ["2026-01-01T00:01:00.000000Z", "2026-01-01T00:00:30.000000Z"]
    assert [one.name for one in computed(leases, "kube-node-lease", "silent")] == ["silent"]


def test_the_api_server_of_every_session_has_a_lease() -> None:
    leases = "leases.coordination.k8s.io"
    (found,) = computed(leases, "kube-system")
    assert found.object["metadata"]["labels"]["apiserver.kubernetes.io/identity"] == "kube-apiserver"
    assert [one.data for one in computed(leases, "kube-system", found.name)] == [found.data]
    assert computed(leases, "kube-system", "kube-scheduler") == []


def test_metrics_of_pods_are_those_of_running_containers() -> None:
    pods = "pods.metrics.k8s.io"
    (found,) = computed(pods)
    assert (found.namespace, found.name, found.object["metadata"]["labels"]) == ("a", "p", {"of": "p"})
    assert found.object["containers"] == [{"name": "c", "usage": {"cpu": "250m", "memory": "65536Ki"}}]
    assert cells(pods, found) == ["p", "250m", "65536Ki", "15s"]
    assert computed(pods, "b") == computed(pods, "a", "other") == []


def test_metrics_of_nodes_are_those_of_living_kubelets() -> None:
    nodes = "nodes.metrics.k8s.io"
    (found,) = computed(nodes)
    assert (found.name, found.object["usage"]) == ("n1", {"cpu": "310m", "memory": "327680Ki"})
    assert cells(nodes, found) == ["n1", "310m", "327680Ki", "15s"]
    assert computed(nodes, None, "silent") == []


def test_what_is_computed_and_written_says_why_it_stays() -> None:
    """A kind whose objects are computed alone has no verb that would write one."""
    said: list[tuple[bool, Computed]] = [
        (bool({"create", "update", "patch", "delete"} & set(kind.verbs)), kind.computed)
        for kind in (*KINDS, *COMPUTED)
        if kind.computed is not None
    ]
    assert [bool(one.fixed) for _, one in said] == [writable for writable, _ in said]


def test_every_server_has_flow_schemas_and_the_levels_that_they_lead_to() -> None:
    group = "flowcontrol.apiserver.k8s.io"
    schemas, levels = computed(f"flowschemas.{group}"), computed(f"prioritylevelconfigurations.{group}")
    by_place = sorted(schemas, key=lambda one: one.object["spec"]["matchingPrecedence"])
    assert [cells(f"flowschemas.{group}", one)[:4] for one in (by_place[0], by_place[-1])] == [
        ["exempt", "exempt", 1, "<none>"],
        ["catch-all", "catch-all", 10_000, "ByUser"],
    ]
    assert {one.object["spec"]["priorityLevelConfiguration"]["name"] for one in schemas} == {one.name for one in levels}
    assert {cells(f"flowschemas.{group}", one)[-1] for one in schemas} == {"False"}
    (own,) = computed(f"prioritylevelconfigurations.{group}", None, "workload-low")
    assert cells(own.resource, own)[:6] == ["workload-low", "Limited", 100, 128, 6, 50]
    assert own.object["metadata"]["uid"] == next(one.uid for one in levels if one.name == own.name)


@pytest.mark.parametrize("resource", ["flowschemas", "prioritylevelconfigurations"])
def test_a_servers_own_flows_are_complete_and_what_a_person_may_write(resource: str) -> None:
    kind = kind_of(f"{resource}.flowcontrol.apiserver.k8s.io")
    for stored in computed(kind.resource):
        document = deepcopy(stored.object)
        kind.defaults(document)
        assert document == stored.object
        assert kind.validate(document) == []
