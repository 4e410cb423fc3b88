"""Who reads: bounded, told of at most once a second, and known while it lasts."""

from __future__ import annotations

import pytest

from clustersim.classroom.callers import READS_PER_SESSION, SESSIONS_MAX, Callers, Standing, agent_of


@pytest.mark.parametrize(
    ("header", "name"),
    [("kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9", "kubectl"), ("python-httpx/0.28", "python-httpx"), ("", "")],
)
def test_an_agent_is_its_programs_name(header: str, name: str) -> None:
    assert agent_of(header) == name


def test_reads_are_told_of_once_a_second_and_the_newest_are_remembered() -> None:
    now = [0.0]
    callers = Callers(lambda: now[0])
    read = lambda session, path: callers.read(session, user="ana", agent="kubectl", verb="list", path=path)  # noqa: E731
    assert read(1, "/a")
    assert not read(1, "/b")
    assert read(2, "/a"), "each session by itself"
    now[0] = 1.0
    assert read(1, "/c")
    assert [one["path"] for one in callers.reads(1)] == ["/c", "/b", "/a"]
    for number in range(READS_PER_SESSION):
        read(1, f"/{number}")
    assert len(callers.reads(1)) == READS_PER_SESSION
    for session in range(10, 10 + SESSIONS_MAX):
        read(session, "/a")
    assert callers.reads(1) == callers.reads(2) == []


def test_watches_are_known_while_they_stand() -> None:
    callers = Callers()
    first, second = (Standing(1, "ana", "Ana", "kubectl", resource, None, 5) for resource in ("pods", "nodes"))
    callers.stands(first)
    callers.stands(second)
    assert [one.resource for one in callers.watches(1)] == ["pods", "nodes"]
    assert first.number != second.number
    callers.ends(first)
    callers.ends(first)
    assert callers.watches(1) == [second]
    callers.ends(second)
    assert callers.watches(1) == callers.watches(2) == []
