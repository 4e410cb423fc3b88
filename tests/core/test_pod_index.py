"""Counts by labels and affinity terms stay level with the pods, and cost nothing for pods that they do not mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api.selectors import Requirement, deciding_labels, selects
from scheduler_core.snapshot import pod_index
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.pod_index import Counting
from scheduler_core.snapshot.snapshot import Snapshot
from scheduler_core.state.cache import Cache
from tests.core.objects import node, pod

IN_WEB = (Requirement("app", "In", frozenset(("web",))),)
NOT_WEB = (Requirement("app", "NotIn", frozenset(("web",))),)
SELECTORS: list[Any] = [IN_WEB, NOT_WEB, (), None, (*NOT_WEB, Requirement("tier", "In", frozenset("ab")))]


def counting(selector: Any) -> Counting:
    return Counting(lambda of, labels, going: not going and selects(selector, labels), deciding_labels(selector))


def counted(snapshot: Snapshot, selector: Any) -> list[int]:
    return snapshot.pods.column(("test", selector), lambda: counting(selector)).tolist()


def named(number: int, labels: dict[str, str], *, terms: bool) -> PodInfo:
    away = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [away]}} if terms else None
    return pod(f"p{number}", labels=labels, **({"affinity": affinity} if affinity else {}))


LABELS = st.fixed_dictionaries({}, optional={"app": st.sampled_from(["web", "db"]), "tier": st.sampled_from("abc")})
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), LABELS, st.integers(0, 2), st.booleans()),
        st.tuples(st.just("take"), st.integers(0, 20)),
        st.tuples(st.just("confirm"), st.integers(0, 20)),
    ),
    min_size=3,
    max_size=25,
)


@given(STEPS)
def test_counts_are_those_of_a_fresh_look(steps: list[Any]) -> None:
    cache, level = Cache(), Snapshot()
    for name in ("n0", "n1", "n2"):
        cache.add_node(node(name))
    held: dict[int, tuple[PodInfo, str]] = {}
    for number, step in enumerate(steps):
        if step[0] == "put":
            one, where = named(number, step[1], terms=step[3]), f"n{step[2]}"
            cache.assume_pod(one.placed(where), where)
            held[number] = one, where
        elif held:
            which = sorted(held)[step[1] % len(held)]
            one, where = held[which]
            if step[0] == "take":
                cache.remove_pod(one.uid)
                del held[which]
            else:
                cache.add_pod(one.placed(where))
        cache.update_snapshot(level)
        fresh = cache.snapshot()
        assert [counted(level, one) for one in SELECTORS] == [counted(fresh, one) for one in SELECTORS]
        ours, theirs = level.pods, fresh.pods
        assert {terms: one.counts.tolist() for terms, one in ours.groups.items()} == {
            terms: one.counts.tolist() for terms, one in theirs.groups.items()
        }
        assert len(ours.demanding) == len(theirs.demanding) == len(ours.groups)


def test_only_terms_that_may_mean_a_pod_are_looked_at() -> None:
    cache = Cache()
    cache.add_node(node("n"))
    cache.assume_pod(named(0, {}, terms=True).placed("n"), "n")
    demanding = cache.snapshot().pods.demanding
    assert len(demanding.about({"app": "web"})) == 1
    assert not demanding.about({"app": "db"})
    assert not demanding.about({})


def test_a_selector_is_asked_once_about_all_pods_with_equal_labels() -> None:
    asked: list[dict[str, str]] = []

    def counts(of: str, labels: Any, going: bool) -> bool:
        asked.append(dict(labels))
        return True

    cache, level = Cache(), Snapshot()
    cache.add_node(node("n"))
    for number in range(5):
        cache.assume_pod(pod(f"p{number}", labels={"app": "web"}).placed("n"), "n")
    cache.update_snapshot(level)
    column = level.pods.column("all", lambda: Counting(counts))
    for number in range(5, 9):
        cache.assume_pod(pod(f"p{number}", labels={"app": "web"}).placed("n"), "n")
        cache.update_snapshot(level)
    assert (column.tolist(), asked) == ([9], [{"app": "web"}])


def test_columns_beyond_the_most_are_dropped_and_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_index, "KIN_COLUMNS_MAX", 2)
    cache, level = Cache(), Snapshot()
    cache.add_node(node("n"))
    for number, labels in enumerate(({"app": "web"}, {"app": "db"})):
        cache.assume_pod(pod(f"p{number}", labels=labels).placed("n"), "n")
    cache.update_snapshot(level)
    first = level.pods.column("0", lambda: counting(IN_WEB))
    for key, selector in (("1", NOT_WEB), ("2", ())):
        level.pods.column(key, lambda selector=selector: counting(selector))
    cache.assume_pod(pod("late", labels={"app": "web"}).placed("n"), "n")
    cache.update_snapshot(level)
    assert np.array_equal(first, [1])
    assert level.pods.column("0", lambda: counting(IN_WEB)).tolist() == [2]
