from __future__ import annotations

from typing import Any

from controllers.bootstrap import initial_objects
from controllers.cluster import Cluster, found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Patch
from tests.controllers.scheduler.people import write

RESOURCES = {"cpu": "64", "memory": "64Gi", "pods": "110"}


class Trio:
    """Three schedulers and three controller managers under election."""

    def __init__(self, pace: int) -> None:
        self.store = MemoryStore(seed=5)
        found(self.store, initial_objects(replicas=3, pace=pace))
        self.cluster = Cluster(self.store, fence=self.store.take_over())
        self.cluster.start()
        self.real_ms = 0
        self.run(5_000)

    def run(self, ms: int) -> None:
        self.real_ms += ms
        self.cluster.pull()
        self.cluster.obey(self.real_ms)
        self.cluster.advance(self.cluster.now_ms + ms)

    def write(self, operation: Any) -> dict[str, Any]:
        result = write(self.store, operation)
        assert result.object is not None
        return result.object

    def leader(self) -> str:
        lease = self.store.get("leases.coordination.k8s.io", "kube-system", "kube-scheduler")
        assert lease is not None
        return str(lease.object["spec"]["holderIdentity"])

    def status(self, identity: str) -> dict[str, Any]:
        stored = self.store.get("replicas.clustersim.io", "", identity)
        assert stored is not None
        return dict(stored.object["status"])

    def pod(self, name: str) -> dict[str, Any]:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
        document = {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container]}}
        return self.write(Create("pods", "default", document))

    def node_of(self, name: str) -> str:
        stored = self.store.get("pods", "default", name)
        assert stored is not None
        return str(stored.object["spec"].get("nodeName", ""))

    def node(self, name: str) -> None:
        status = {"capacity": RESOURCES, "allocatable": RESOURCES}
        self.write(Create("nodes", "", {"metadata": {"name": name}, "spec": {}, "status": status}))
        self.write(Patch("nodes", "", name, {"status": status}, "merge", "status"))
        self.run(10_000)


def test_when_the_leader_dies_in_mid_cycle_another_replica_places_the_pod() -> None:
    trio = Trio(pace=500)
    trio.node("a")
    trio.node("b")
    first = trio.leader()
    trio.pod("web")
    trio.run(2_000)
    assert trio.status(first)["cycle"]["pod"] == "default/web"
    assert trio.node_of("web") == ""
    trio.write(Patch("replicas.clustersim.io", "", first, {"spec": {"fault": {"id": 1, "kind": "crash"}}}))
    trio.run(1_000)
    assert trio.status(first).get("cycle") is None
    trio.run(30_000)
    second = trio.leader()
    assert second != first
    assert trio.node_of("web") in ("a", "b")
    uid = trio.store.get("pods", "default", "web").object["metadata"]["uid"]
    # The dead replica had not decided for good: its cycle left no trace, the next one's did.
    assert [envelope["replica"] for envelope, _ in trio.store.traces(uid)] == [second]


def test_a_replica_that_comes_back_as_a_follower_shows_no_queue_of_its_own() -> None:
    trio = Trio(pace=0)
    trio.pod("web")
    trio.run(5_000)
    first = trio.leader()
    assert trio.store.get("queues.clustersim.io", "", first).object["status"]["counts"]["backoff"] == 1
    trio.write(Patch("replicas.clustersim.io", "", first, {"spec": {"fault": {"id": 1, "kind": "crash"}}}))
    trio.run(30_000)
    trio.write(Patch("replicas.clustersim.io", "", first, {"spec": {"fault": {"id": 2, "kind": "recover"}}}))
    trio.run(5_000)
    assert trio.leader() != first
    assert set(trio.store.get("queues.clustersim.io", "", first).object["status"]["counts"].values()) == {0}
    assert trio.store.get("queues.clustersim.io", "", trio.leader()).object["status"]["counts"]["backoff"] == 1


def test_only_the_leader_schedules_and_followers_keep_their_caches_warm() -> None:
    trio = Trio(pace=0)
    trio.node("a")
    for number in range(5):
        trio.pod(f"p{number}")
    trio.run(5_000)
    assert all(trio.node_of(f"p{number}") == "a" for number in range(5))
    queues = {stored.name: stored.object.get("status") or {} for stored in trio.store.list("queues.clustersim.io")[0]}
    assert [name for name, status in queues.items() if status] == [trio.leader()]
    actors = {row.actor for row in trio.store.events(0, 100_000) if row.resource == "pods" and row.verb == "MODIFIED"}
    assert {actor for actor in actors if actor.startswith("kube-scheduler")} == {trio.leader()}
