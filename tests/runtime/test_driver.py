"""An owner's driver on a clock of the test's own: it sleeps until its next event, and time is the same for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.db import connection

from clustersim.classroom.opening import open_session
from clustersim.classroom.writing import write
from clustersim.runtime import realtime
from clustersim.runtime.driver import NEVER_MS, OWED_MS_MAX, Driver
from clustersim.store import open_store, sessions
from controllers.commands import CLOCK, CLOCKS
from controllers.log.operations import Create, Delete, Patch

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "late", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "nginx"}]},
}


@dataclass
class Wall:
    """The wall clock, and a session whose owner is driven by it."""

    now_ms: int = 1_700_000_000_000
    driver: Driver | None = None
    slices: int = 0
    passes_ms: int = 0

    def own(self, template: str = "three-nodes") -> None:
        session = open_session("t", template, 5, "Teacher").session
        self.session_id = session.id
        self.take()

    def take(self) -> None:
        row = sessions.get(self.session_id)
        epoch = sessions.claim(row.id, "w", epoch=row.epoch)
        assert epoch is not None
        self.driver = Driver(row.id, epoch, lambda: None)

    def run(self, milliseconds: int) -> None:
        """Let real time pass; the driver runs when it wants to and at no other time."""
        until_ms = self.now_ms + milliseconds
        assert self.driver is not None
        while self.driver.wake_at_ms <= until_ms:
            self.now_ms = max(self.now_ms, self.driver.wake_at_ms)
            self.driver.run_slice()
            self.slices += 1
        self.now_ms = until_ms

    def slip(self) -> None:
        """Be so slow for a while that time cannot keep up."""
        self.passes_ms = 20
        self.run(6_000)
        self.passes_ms = 0
        self.run(3_000)

    def looked_at_ms(self) -> int:
        """Return the time to whoever asks, which takes time where the machine is slow."""
        self.now_ms += self.passes_ms
        return self.now_ms

    def shown_ms(self) -> int:
        return open_store(self.session_id).session_ms()

    def ask(self, **spec: object) -> None:
        """Change the clock's spec, as a person does; the owner is told by a hint."""
        write(open_store(self.session_id), [Patch(CLOCKS, "", CLOCK, {"spec": spec})])
        assert self.driver is not None
        self.driver.look()
        self.run(0)


@pytest.fixture
def wall(database, monkeypatch) -> Iterator[Wall]:
    made = Wall()
    monkeypatch.setattr(realtime, "monotonic_ms", made.looked_at_ms)
    monkeypatch.setattr(realtime, "unix_ms", lambda: made.now_ms)
    monkeypatch.setattr("clustersim.store.sql.real_ms", lambda: made.now_ms)
    monkeypatch.setattr("clustersim.store.sessions.real_ms", lambda: made.now_ms)
    yield made
    if made.driver is not None:
        made.driver.close()


@pytest.fixture
def writes() -> Iterator[Counter[str]]:
    """Count statements that write, by their first two words."""
    counted: Counter[str] = Counter()

    def count(execute, sql, arguments, many, context):
        words = sql.split()
        if words and words[0].upper() in ("INSERT", "UPDATE", "DELETE"):
            counted[" ".join(words[:3])] += 1
        return execute(sql, arguments, many, context)

    with connection.execute_wrapper(count):
        yield counted


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_idle_session_does_nothing_but_renew(wall, writes):
    wall.own()
    wall.run(60_000)
    before = open_store(wall.session_id).revision
    wall.slices = 0
    writes.clear()
    wall.run(60_000)
    rows = open_store(wall.session_id).events(before)
    assert {row.resource for row in rows} == {"leases.coordination.k8s.io"}
    assert 50 <= len(rows) <= 62, "two elections renew every two seconds"
    assert wall.slices <= len(rows) + 2, "it wakes for renewals alone"
    assert writes["INSERT INTO store_revision"] <= len(rows)
    told = wall.slices + writes["INSERT INTO store_revision"]
    assert writes["UPDATE store_session SET"] <= told, "once for the time it is, once for what is written"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_run_waits_for_no_real_time_and_time_goes_on_from_its_end(wall):
    wall.own()
    wall.run(3_000)
    wall.ask(paused=True, run={"id": 1, "until": "time() >= 400", "seconds": 20})
    wall.run(0)
    told = open_store(wall.session_id).get(CLOCKS, "", CLOCK).object["status"]
    assert (told["run"]["state"], told["paused"]) == ("reached", True)
    assert 400_000 <= wall.shown_ms() <= 402_000
    wall.ask(paused=False, run=None)
    wall.run(5_000)
    assert 405_000 <= wall.shown_ms() <= 407_100


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_run_that_never_ends_gives_up_and_lets_writes_in(wall):
    def slices(*asked):
        write(open_store(wall.session_id), list(asked))
        wall.driver.look()
        for _ in range(3):
            wall.driver.run_slice()
        return open_store(wall.session_id).get(CLOCKS, "", CLOCK).object["status"]["run"]["state"]

    wall.own()
    run = {"id": 1, "until": "pod('late').exists", "seconds": 5}
    assert slices(Patch(CLOCKS, "", CLOCK, {"spec": {"paused": True, "run": run}})) == "running"
    assert slices(Create("pods", "default", POD)) == "reached"
    run = {"id": 2, "until": "pod('nobody').exists", "seconds": 5}
    assert slices(Patch(CLOCKS, "", CLOCK, {"spec": {"run": run}})) == "running"
    wall.now_ms += 5_000
    assert slices() == "timeout"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_time_is_carried_on_while_the_owner_sleeps_and_rows_from_elsewhere_are_stamped_with_it(wall):
    wall.own()
    wall.run(60_000)
    wall.run(700)
    shown = wall.shown_ms()
    assert abs(shown - 60_700) <= 20, "time passed as the wall clock did"
    write(open_store(wall.session_id), [Create("pods", "default", POD)])
    stamp = open_store(wall.session_id).events(0, 100_000)[-1].now_ms
    assert 0 <= stamp - shown <= 5
    wall.driver.look()
    wall.run(0)
    late = open_store(wall.session_id).get("pods", "default", "late")
    wall.run(5_000)
    bound = open_store(wall.session_id).get("pods", "default", "late")
    assert late is not None
    assert bound.object["spec"].get("nodeName"), "the owner took it up"
    first = next(row for row in open_store(wall.session_id).events(0, 100_000) if row.name == "late" and row.read)
    assert first.now_ms >= stamp


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_without_an_owner_time_stands_for_whoever_writes(wall):
    """A pod right after its namespace is not seconds later, and may count on the account that is made for it."""
    wall.own()
    wall.run(700)
    row = sessions.get(wall.session_id)
    assert sessions.release(row.id, "w", epoch=row.epoch, hibernate=True)
    wall.now_ms += 3_600_000
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    write(open_store(wall.session_id), [Create("namespaces", "", home)])
    pod = {**POD, "metadata": {"name": "first", "namespace": "new"}}
    results = write(open_store(wall.session_id), [Create("pods", "new", pod)])
    assert [result.error for result in results] == [None]
    made = [event for event in open_store(wall.session_id).events(0, 100_000) if event.name in ("new", "first")]
    assert len({event.now_ms for event in made}) == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_a_burst_took_is_caught_up_with_little_by_little(wall):
    """Clients compare what the session is stamped with to clocks of their own."""
    began_ms = wall.now_ms
    wall.own()
    wall.slip()

    def lag() -> int:
        return wall.now_ms - began_ms - wall.shown_ms()

    assert 1_000 < lag() < OWED_MS_MAX
    for _ in range(12):
        before = wall.shown_ms()
        wall.run(10_000)
        assert wall.shown_ms() - before <= 14_000, "nobody sees a rush"
    assert abs(lag()) <= 20


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_new_session_catches_up_with_what_it_waited_for_its_first_owner(wall):
    """Simulated time begins at a full second and stands until somebody takes the session up; clients' clocks do not."""
    wall.now_ms += 900
    began_ms = wall.now_ms // 1_000 * 1_000
    session = open_session("t", "three-nodes", 5, "Teacher").session
    wall.session_id = session.id
    wall.now_ms += 1_300
    wall.take()
    wall.run(1_000)
    assert 2_000 <= wall.now_ms - began_ms - wall.shown_ms() <= 2_200, "no leap"
    for _ in range(8):
        before = wall.shown_ms()
        wall.run(10_000)
        assert wall.shown_ms() - before <= 14_000, "nobody sees a rush"
    assert abs(wall.now_ms - began_ms - wall.shown_ms()) <= 20


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_is_owed_is_forgotten_where_time_is_stopped(wall):
    wall.own()
    wall.slip()
    wall.ask(paused=True)
    wall.ask(paused=False)
    begun = wall.shown_ms()
    wall.run(30_000)
    assert abs(wall.shown_ms() - begun - 30_000) <= 20


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_time_stands_where_it_was_shown_and_never_steps_back(wall):
    wall.own()
    shown: list[int] = []

    def look() -> None:
        shown.append(wall.shown_ms())
        assert shown == sorted(shown), shown[-3:]

    wall.run(30_000)
    look()
    for spec in ({"rate": 10}, {"rate": 0.5}, {"paused": True}, {"paused": False, "rate": 100}, {"rate": 1}):
        wall.run(777)
        look()
        wall.ask(**spec)
        look()
        if spec.get("paused"):
            assert wall.driver.wake_at_ms == NEVER_MS
            stands = shown[-1]
            wall.run(60_000)
            assert wall.shown_ms() == stands
    wall.run(2_500)
    look()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_command_that_came_along_with_an_own_commit_is_obeyed_though_its_hint_says_nothing_new(wall):
    wall.own()
    wall.run(30_000)
    write(open_store(wall.session_id), [Patch(CLOCKS, "", CLOCK, {"spec": {"rate": 3}})])
    asked = open_store(wall.session_id).revision
    wall.run(2_100)  # a renewal comes first
    assert wall.driver.store.seen_revision > asked
    wall.driver.hint(asked)
    wall.run(0)
    assert open_store(wall.session_id).get(CLOCKS, "", CLOCK).object["status"]["rate"] == 3


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_owner_that_was_away_goes_on_from_what_was_shown(wall):
    wall.own()
    wall.run(30_000)
    wall.driver.close()
    wall.now_ms += 1_500
    dead_for = wall.shown_ms()
    assert abs(dead_for - 31_500) <= 20
    wall.now_ms += 600_000
    stands = wall.shown_ms()
    assert stands - 30_000 <= 3_100, "without an owner time stands soon"
    wall.take()
    wall.run(0)
    assert wall.shown_ms() >= stands
    wall.run(1_000)
    assert 900 <= wall.shown_ms() - stands <= 1_200, "and goes on at once"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_session_in_which_nothing_is_planned_says_that_it_lives(wall):
    wall.own("empty")
    replicas = open_store(wall.session_id).list("replicas.clustersim.io")[0]
    write(open_store(wall.session_id), [Delete("replicas.clustersim.io", "", one.name) for one in replicas])
    wall.driver.close()
    wall.take()
    wall.run(60_000)
    wall.slices = 0
    wall.run(60_000)
    assert abs(wall.shown_ms() - 120_000) <= 50
    assert wall.slices <= 60_000 // 2_000


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_session_that_is_taken_up_has_listed_and_done_nothing_else(wall):
    wall.own()
    wall.run(60_000)
    write(open_store(wall.session_id), [Create("pods", "default", POD)])
    wall.driver.close()
    wall.take()
    revision = open_store(wall.session_id).revision
    started_ms = wall.driver.cluster.now_ms
    wall.driver.take_up()
    told = wall.driver.cluster.insides()
    assert {name: inside["synced"] for name, inside in told.items() if name} == dict.fromkeys(set(told) - {""}, True)
    assert len(told) > 1
    assert wall.driver.cluster.now_ms == started_ms
    assert not open_store(wall.session_id).get("pods", "default", "late").object["spec"].get("nodeName")
    wall.run(10_000)
    assert open_store(wall.session_id).revision > revision
    bound = open_store(wall.session_id).get("pods", "default", "late")
    assert bound is not None
    assert bound.object["spec"].get("nodeName")
