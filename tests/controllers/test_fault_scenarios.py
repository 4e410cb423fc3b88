"""A scenario of every fault, played: what it promises is what happens."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from controllers import scenario
from controllers.faults.table import FAULTS
from controllers.log.memory import MemoryStore
from controllers.log.stamps import unix_ms_of
from tests.controllers.test_elections import SCENARIOS, STARTS

SEEDS = (1, 2)


def documents_of_scenarios() -> dict[str, Any]:
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in SCENARIOS.glob("*.yaml")}


def played(name: str, seed: int) -> tuple[MemoryStore, dict[str, Any]]:
    return scenario.run(scenario.read(documents_of_scenarios()[name], STARTS), seed=seed)


def schedulers(summary: dict[str, Any]) -> dict[str, Any]:
    return dict(summary["elections"]["kube-scheduler"])


def bound_ms(store: MemoryStore, name: str) -> int:
    """Return when a pod of `default` got its node."""
    rows = (row for row in store.events(0) if row.resource == "pods" and row.name.startswith(name))
    return next(row.now_ms for row in rows if row.object["spec"].get("nodeName"))


def test_every_fault_has_a_scenario() -> None:
    steps = [step for one in documents_of_scenarios().values() for step in one.get("steps") or ()]
    assert {step["fault"]["kind"] for step in steps if "fault" in step} == set(FAULTS)


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_crash_another_leads_when_the_lease_has_run_out(seed: int) -> None:
    store, summary = played("leader-crash", seed)
    assert summary["leaders"]["kube-scheduler"] != "kube-scheduler-0"
    assert schedulers(summary)["twoLeaders"] == []
    assert 20_000 < bound_ms(store, "waits-for-a-leader") < 35_000


@pytest.mark.parametrize("seed", SEEDS)
def test_a_partitioned_leader_gives_up_before_another_leads(seed: int) -> None:
    store, summary = played("leader-partitioned", seed)
    assert summary["leaders"]["kube-scheduler"] != "kube-scheduler-0"
    assert schedulers(summary) == {"twoLeaders": [], "refused": 0}
    assert 20_000 < bound_ms(store, "waits-for-a-leader") < 35_000


@pytest.mark.parametrize("seed", SEEDS)
def test_a_leader_that_steps_down_leaves_no_gap_to_speak_of(seed: int) -> None:
    store, summary = played("leader-steps-down", seed)
    assert summary["leaders"]["kube-scheduler"] != "kube-scheduler-0"
    assert schedulers(summary)["twoLeaders"] == []
    assert 11_000 <= bound_ms(store, "hardly-waits") < 17_000


@pytest.mark.parametrize("seed", SEEDS)
def test_a_skewed_leader_goes_on_leading_and_writes_times_that_are_off(seed: int) -> None:
    store, summary = played("clock-skew", seed)
    assert summary["leaders"]["kube-scheduler"] == "kube-scheduler-0"
    assert schedulers(summary) == {"twoLeaders": [], "refused": 0}
    lease = store.get("leases.coordination.k8s.io", "kube-system", "kube-scheduler")
    assert lease is not None
    assert lease.object["spec"]["leaseTransitions"] == 0
    ahead_ms = unix_ms_of(lease.object["spec"]["renewTime"]) - store.epoch_ms - 90_000
    assert 3_590_000 < ahead_ms <= 3_600_000


@pytest.mark.parametrize("seed", SEEDS)
def test_a_slow_watch_binds_late(seed: int) -> None:
    store, summary = played("slow-watch", seed)
    assert summary["leaders"]["kube-scheduler"] == "kube-scheduler-0"
    assert 23_000 <= bound_ms(store, "seen-late") < 24_000


@pytest.mark.parametrize("seed", SEEDS)
def test_a_dropped_watch_misses_nothing(seed: int) -> None:
    store, summary = played("dropped-watch", seed)
    assert summary["leaders"]["kube-scheduler"] == "kube-scheduler-0"
    assert bound_ms(store, "unseen") >= 20_000
    assert summary["bound"] == summary["pods"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_paused_leader_believes_on_and_its_bindings_are_refused(seed: int) -> None:
    store, summary = played("leader-paused", seed)
    assert summary["leaders"]["kube-scheduler"] != "kube-scheduler-0"
    (window,) = schedulers(summary)["twoLeaders"]
    assert window[0] < 50 < window[1]
    assert schedulers(summary)["refused"] > 0
    assert [row.name for row in store.list("pods", "default")[0] if not row.object["spec"].get("nodeName")] == []
