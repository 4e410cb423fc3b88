from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from scheduler_core.snapshot.node_info import NodeInfo
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.cache import Cache, CacheError
from tests.core.objects import info, node, pod

NAMES = st.sampled_from(["a", "b", "c", "d"])
AMOUNTS = st.sampled_from(["100m", "1", "2500m"])


def columns(snapshot: Snapshot) -> dict[str, tuple[object, ...]]:
    """Return what a snapshot says of each node, whatever the order of its resource columns."""
    resources = ("cpu", "memory", "ephemeral-storage", "pods", "example.com/gpu")
    whole = slice(None)
    return {
        name: (
            *(int(snapshot.allocatable_of(one, whole)[row]) for one in resources),
            *(int(snapshot.requested_of(one, whole)[row]) for one in resources),
            *snapshot.non_zero[:, row].tolist(),
            int(snapshot.pod_count[row]),
            int(snapshot.pod_limit[row]),
            int(snapshot.node_column("cordoned", lambda one: int(one.node.spec.unschedulable))[row]),
            snapshot.infos[row].host_ports,
            frozenset(one.uid for one in snapshot.infos[row].pods),
        )
        for name, row in snapshot.row_of.items()
    }


class CacheMachine(RuleBasedStateMachine):
    """Whatever happens, a snapshot that was kept level says what one made from scratch says."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = Cache()
        self.kept = Snapshot()
        self.nodes: dict[str, object] = {}
        self.placed: dict[str, str] = {}
        self.counter = 0

    @rule(name=NAMES, cpu=AMOUNTS, gpu=st.booleans(), cordoned=st.booleans())
    def node_comes_or_changes(self, name: str, cpu: str, gpu: bool, cordoned: bool) -> None:
        size = {"cpu": cpu} | ({"example.com/gpu": "2"} if gpu else {})
        self.nodes[name] = node(name, allocatable=size, unschedulable=cordoned)
        self.cache.add_node(self.nodes[name])

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def node_goes(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.nodes)))
        del self.nodes[name]
        self.cache.remove_node(name)

    @rule(name=NAMES, cpu=AMOUNTS, gpu=st.booleans(), port=st.booleans(), confirmed=st.booleans())
    def pod_comes(self, name: str, cpu: str, gpu: bool, port: bool, confirmed: bool) -> None:
        self.counter += 1
        ports = [{"containerPort": 1, "hostPort": self.counter}] if port else []
        requests = {"cpu": cpu} | ({"example.com/gpu": "1"} if gpu else {})
        containers = [{"name": "c", "image": "i", "resources": {"requests": requests}, "ports": ports}]
        one = pod(f"p{self.counter}", containers=containers, nodeName=name)
        if confirmed:
            self.cache.add_pod(one)
        else:
            self.cache.assume_pod(one, name)
        self.placed[one.uid] = name

    @precondition(lambda self: self.placed)
    @rule(data=st.data(), name=NAMES)
    def pod_is_confirmed_maybe_elsewhere(self, data: st.DataObject, name: str) -> None:
        uid = data.draw(st.sampled_from(sorted(self.placed)))
        one = self.cache.pod(uid)
        assert one is not None
        self.cache.add_pod(one.placed(name))
        self.placed[uid] = name

    @precondition(lambda self: self.placed)
    @rule(data=st.data())
    def pod_goes(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(sorted(self.placed)))
        del self.placed[uid]
        if self.cache.is_assumed(uid):
            self.cache.forget_pod(uid)
        else:
            self.cache.remove_pod(uid)

    @rule()
    def snapshot_is_brought_level(self) -> None:
        self.cache.update_snapshot(self.kept)

    @invariant()
    def level_snapshot_equals_a_fresh_one(self) -> None:
        before = self.kept.epoch, len(self.kept.node_log), len(self.kept.pod_log)
        self.cache.update_snapshot(self.kept)
        assert columns(self.kept) == columns(self.cache.snapshot())
        assert set(self.kept.names) == set(self.nodes)
        where = {uid: name for uid, name in self.placed.items() if name in self.nodes}
        counted = {one.uid: row.name for row in self.kept.infos for one in row.pods}
        assert counted == where
        assert (self.kept.epoch, len(self.kept.node_log), len(self.kept.pod_log)) >= before


CacheMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=25)
TestCacheMachine = CacheMachine.TestCase


def test_a_level_snapshot_is_frozen_while_the_cache_goes_on() -> None:
    cache = Cache()
    cache.add_node(node("a"))
    snapshot = cache.snapshot()
    cache.assume_pod(pod(requests={"cpu": "1"}), "a")
    assert snapshot.infos[0].pods == ()
    assert snapshot.requested_of("cpu", slice(None)).tolist() == [0]


def test_assuming_twice_and_forgetting_what_is_confirmed_are_refused() -> None:
    cache = Cache()
    cache.add_node(node("a"))
    one = pod(nodeName="a")
    cache.assume_pod(one, "a")
    with pytest.raises(CacheError, match="is in the cache"):
        cache.assume_pod(one, "a")
    cache.add_pod(one)
    with pytest.raises(CacheError, match="was not assumed"):
        cache.forget_pod(one.uid)


def test_a_confirmed_pod_is_the_last_that_came_and_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken in its place or taken out and put in again: the same comes of it."""

    def seen() -> tuple[object, ...]:
        cache = Cache()
        cache.add_node(node("a"))
        snapshot = Snapshot()
        for name in ("one", "two"):
            cache.assume_pod(pod(name, requests={"cpu": "1"}, nodeName="a"), "a")
        cache.update_snapshot(snapshot)
        known = cache.pod(pod("one").uid)
        assert known is not None
        told = pod("one", requests={"cpu": "1"}, nodeName="a", labels={"new": "label"})
        assert told.sums is not known.sums
        told._kept_sums = known.sums
        cache.add_pod(told)
        before = snapshot.generation
        cache.update_snapshot(snapshot)
        names = [one.pod.name for one in snapshot.infos[0].pods]
        assert (snapshot.generation > before, snapshot.pod_log[-1]) == (True, 0)
        return names, [one.pod.name for one in cache.pods()], columns(snapshot), next(cache.assumed())[0].pod.name

    in_place = seen()
    assert in_place[0] == in_place[1] == ["two", "one"]
    assert in_place[3] == "two"
    monkeypatch.setattr(NodeInfo, "confirm", lambda *_: False)
    assert seen() == in_place


def test_assumed_pods_expire_only_after_their_binding_is_finished() -> None:
    cache = Cache(expiry_ms=30_000)
    cache.add_node(node("a"))
    one = pod()
    cache.assume_pod(one, "a")
    assert cache.expire(10**9) == []
    cache.finish_binding(one.uid, 1_000)
    assert cache.expire(30_999) == []
    assert cache.expire(31_000) == [one]
    assert cache.pod(one.uid) is None


def test_pods_on_an_unknown_node_count_once_it_comes() -> None:
    cache = Cache()
    cache.add_pod(pod(requests={"cpu": "1"}, nodeName="late"))
    assert len(cache.snapshot()) == 0
    cache.add_node(node("late"))
    assert cache.snapshot().requested_of("cpu", slice(None)).tolist() == [1000]


def test_a_dry_run_changes_only_its_own_copy() -> None:
    snapshot = Snapshot([info(node("a"), pod("x", requests={"cpu": "1"})), info(node("b"))])
    trial = snapshot.what_if([0])
    trial.remove_pod(0, "uid-x")
    trial.add_pod(0, pod("y", requests={"cpu": "3", "example.com/gpu": "1"}))
    assert trial.requested_of("cpu", slice(None)).tolist() == [3000]
    assert trial.requested_of("example.com/gpu", slice(None)).tolist() == [1]
    assert snapshot.requested_of("cpu", slice(None)).tolist() == [1000, 0]
    assert [one.uid for one in snapshot.infos[0].pods] == ["uid-x"]
    with pytest.raises(KeyError):
        trial.remove_pod(0, "uid-x")


def test_the_change_log_restarts_before_it_grows_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler_core.snapshot.snapshot.LOG_ROWS_MAX", 3)
    snapshot = Snapshot([info(node("a"))])
    epoch = snapshot.epoch
    for number in range(4):
        snapshot.add_pod(0, pod(f"p{number}"))
    assert snapshot.epoch == epoch + 1
    assert len(snapshot.pod_log) <= 3


def test_rows_that_nobody_has_touched_keep_their_columns() -> None:
    snapshot = Snapshot([NodeInfo("a", node("a", labels={"k": "1"})), NodeInfo("b", node("b", labels={"k": "2"}))])
    column = snapshot.node_column("k", lambda one: int(one.labels["k"]))
    snapshot.replace_row(1, NodeInfo("b", node("b", labels={"k": "7"})))
    assert np.array_equal(column, [1, 7])
    assert snapshot.node_log == [1]


def test_absurd_sums_do_not_overflow_columns() -> None:
    size = {"memory": "9Ei", "pods": "1000"}
    huge = [pod(f"p{number}", requests={"memory": "9Ei"}) for number in range(300)]
    snapshot = Snapshot([info(node("a", allocatable=size), *huge)])
    # 300 times the largest number of 64 bits, as 64 bits have it.
    assert snapshot.requested_of("memory", slice(None)).tolist() == [-300]
