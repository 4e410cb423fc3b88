"""What every store does, one rule a test."""

from __future__ import annotations

import pytest

from controllers.log.store import Fenced, Gone, ObjectTooLarge, RevisionConflict
from controllers.log.transaction import OBJECT_BYTES_MAX


def document(name: str, value: object = 0, uid: str = "") -> dict:
    return {"metadata": {"name": name, "uid": uid or f"uid-{name}"}, "spec": {"value": value}}


def put(store, name, value=0, *, namespace="default", resource="pods", expected=None, **options):
    with store.transaction("user:mei", **options) as transaction:
        return transaction.put(resource, namespace, name, document(name, value), expected=expected)


def test_an_empty_session(backend):
    store = backend.new_session().open()
    assert (store.revision, store.compacted, store.horizon_ms, store.seed) == (0, 0, 0, 7)
    assert store.get("pods", "default", "a") is None
    assert (list(store.list("pods")[0]), store.list("pods")[1]) == ([], 0)
    assert list(store.events(0)) == []
    assert list(store.list_at("pods", 0)) == []


def test_a_written_object_is_read_with_its_revision_inside(backend):
    store = backend.new_session().open()
    written = put(store, "a", {"deep": [1, "ü", None]})
    read = store.get("pods", "default", "a")
    assert read.revision == written.revision == store.revision == 1
    assert read.uid == "uid-a"
    assert read.object["metadata"]["resourceVersion"] == "1"
    assert read.object["spec"] == {"value": {"deep": [1, "ü", None]}}


def test_a_resource_is_held_while_there_is_an_object_of_it(backend):
    session = backend.new_session()
    store = session.open()
    assert not store.holds("pods")
    put(store, "a")
    put(store, "b", namespace="other")
    assert [session.open().holds(resource) for resource in ("pods", "nodes")] == [True, False]
    for namespace, name in (("default", "a"), ("other", "b")):
        assert store.holds("pods")
        with store.transaction("user:mei") as transaction:
            transaction.delete("pods", namespace, name)
    assert not store.holds("pods")


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "ü\x00"])
def test_what_no_name_can_be_is_not_there(backend, text):
    store = backend.new_session().open()
    put(store, "a")
    assert store.get("pods", "default", text) is None
    assert store.get("pods", text, "a") is None
    assert list(store.list("pods", text)[0]) == []
    assert list(store.list_at("pods", 1, text)) == []
    assert list(store.traces(text)) == []


def test_lists_are_in_order_of_namespace_and_name_as_bytes(backend):
    store = backend.new_session().open()
    for namespace, name in [
        ("b", "a"),
        ("a-b", "x"),
        ("a", "z-1"),
        ("a", "z"),
        ("a", "z.1"),
        ("", "cluster"),
        ("a", "Z"),
    ]:
        put(store, name, namespace=namespace)
    put(store, "other", resource="nodes", namespace="")
    places = [(stored.namespace, stored.name) for stored in store.list("pods")[0]]
    assert places == sorted(places)
    assert len(places) == 7
    assert [stored.name for stored in store.list("pods", "a")[0]] == ["Z", "z", "z-1", "z.1"]
    assert [stored.name for stored in store.list("pods", "")[0]] == ["cluster"]
    assert store.list("pods", "a")[1] == store.revision


def test_a_transaction_holds_what_it_would_list(backend):
    store = backend.new_session().open()
    with store.transaction("user:mei") as transaction:
        assert not transaction.holds("pods")
        before = transaction.mark()
        transaction.put("pods", "default", "a", document("a"))
        assert transaction.holds("pods")
        transaction.undo(before)
        assert not transaction.holds("pods")
        transaction.put("pods", "default", "b", document("b"))
        assert transaction.holds("pods")
    with store.transaction("user:mei") as transaction:
        assert transaction.holds("pods")
        transaction.delete("pods", "default", "b")
        assert not transaction.holds("pods")


def test_a_transaction_sees_its_own_writes_and_others_do_not_until_it_ends(backend):
    store = backend.new_session().open()
    put(store, "a")
    put(store, "b")
    with store.transaction("user:mei") as transaction:
        transaction.put("pods", "default", "c", document("c"))
        transaction.delete("pods", "default", "a")
        transaction.put("pods", "default", "b", document("b", 2))
        assert [stored.name for stored in transaction.list("pods")] == ["b", "c"]
        assert transaction.get("pods", "default", "a") is None
        assert transaction.get("pods", "default", "b").object["spec"]["value"] == 2
        assert transaction.revision == 5
    assert [stored.name for stored in store.list("pods", "default")[0]] == ["b", "c"]
    assert store.revision == 5


def test_compare_and_swap(backend):
    store = backend.new_session().open()
    with pytest.raises(RevisionConflict):
        put(store, "a", expected=5)
    put(store, "a", expected=0)
    with pytest.raises(RevisionConflict):
        put(store, "a", expected=0)
    put(store, "a", 2, expected=1)
    with pytest.raises(RevisionConflict):
        put(store, "a", 3, expected=1)
    assert store.get("pods", "default", "a").object["spec"]["value"] == 2
    with store.transaction("user:mei") as transaction:
        with pytest.raises(RevisionConflict):
            transaction.delete("pods", "default", "a", expected=1)
        with pytest.raises(RevisionConflict):
            transaction.delete("pods", "default", "missing")
        transaction.delete("pods", "default", "a", expected=2)
    assert store.revision == 3


def test_a_conflict_in_one_operation_does_not_fail_the_others(backend):
    store = backend.new_session().open()
    put(store, "a")
    with store.transaction("user:mei") as transaction:
        transaction.put("pods", "default", "b", document("b"))
        with pytest.raises(RevisionConflict):
            transaction.put("pods", "default", "a", document("a"), expected=0)
        transaction.put("pods", "default", "c", document("c"))
    assert [event.name for event in store.events(0)] == ["a", "b", "c"]
    assert [event.revision for event in store.events(0)] == [1, 2, 3]


def test_a_transaction_that_raises_leaves_nothing_and_takes_no_revision(backend):
    store = backend.new_session().open()
    put(store, "a")

    def fail():
        with store.transaction("user:mei", now_ms=900) as transaction:
            transaction.put("pods", "default", "b", document("b"))
            transaction.trace("uid-b", 1, {"id": "x"}, b"blob")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (store.revision, store.horizon_ms) == (1, 0)
    assert store.get("pods", "default", "b") is None
    assert list(store.traces("uid-b")) == []
    assert put(store, "c").revision == 2


def test_events_tell_verb_actor_and_the_state_before(backend):
    store = backend.new_session().open()
    put(store, "a", 1)
    put(store, "a", 2)
    with store.transaction("kube-scheduler-0", now_ms=1500) as transaction:
        transaction.read = 2
        transaction.delete("pods", "default", "a", document=document("a", "last"))
    put(store, "a", 4)
    added, modified, deleted, again = store.events(0)
    assert [event.verb for event in (added, modified, deleted, again)] == ["ADDED", "MODIFIED", "DELETED", "ADDED"]
    assert (added.previous, added.previous_revision) == (None, 0)
    assert (modified.previous["spec"]["value"], modified.previous_revision) == (1, 1)
    assert (deleted.previous["spec"]["value"], deleted.previous_revision) == (2, 2)
    assert deleted.object["spec"]["value"] == "last"
    assert deleted.object["metadata"]["resourceVersion"] == "3"
    assert (deleted.actor, deleted.now_ms, deleted.read) == ("kube-scheduler-0", 1500, 2)
    assert (added.actor, added.read) == ("user:mei", 0)
    assert (again.previous, again.previous_revision) == (None, 0)


def test_an_actor_may_change_between_operations(backend):
    store = backend.new_session().open()
    with store.transaction("a", now_ms=1) as transaction:
        transaction.put("pods", "default", "x", document("x"))
        transaction.actor = "b"
        transaction.put("pods", "default", "y", document("y"))
    assert [event.actor for event in store.events(0)] == ["a", "b"]


def test_a_watch_takes_up_at_any_revision_and_in_any_portion(backend):
    store = backend.new_session().open()
    for number in range(25):
        put(store, f"p{number % 4}", number)
    for portion in (1, 3, 7, 1000):
        for start in (0, 1, 13, 24, 25):
            seen, position = [], start
            while rows := store.events(position, portion):
                seen += [row.revision for row in rows]
                position = rows[-1].revision
            assert seen == list(range(start + 1, 26))


def test_a_session_sees_nothing_of_another(backend):
    one, other = backend.new_session().open(), backend.new_session().open()
    put(one, "a")
    with one.transaction("x") as transaction:
        transaction.trace("uid-a", 1, {"id": "x"}, b"")
    assert (other.revision, list(other.events(0)), list(other.list("pods")[0])) == (0, [], [])
    assert other.get("pods", "default", "a") is None
    assert list(other.traces("uid-a")) == []
    assert put(other, "a", expected=0).revision == 1


# -- compaction --------------------------------------------------------------------------------------------------------


def test_compaction_drops_history_and_keeps_what_is_current(backend):
    store = backend.new_session().open()
    for name in "abc":
        put(store, name, 1)
    put(store, "a", 2)
    with store.transaction("user:mei") as transaction:
        transaction.delete("pods", "default", "b")
    put(store, "c", 2)
    store.compact(5)
    assert store.compacted == 5
    assert [stored.name for stored in store.list("pods")[0]] == ["a", "c"]
    assert [stored.object["spec"]["value"] for stored in store.list_at("pods", 5)] == [2, 1]
    (event,) = store.events(5)
    assert (event.name, event.previous["spec"]["value"]) == ("c", 1)
    for gone in (0, 4):
        with pytest.raises(Gone):
            store.events(gone)
        with pytest.raises(Gone):
            store.list_at("pods", gone)


def test_compaction_never_goes_back_nor_past_the_log(backend):
    store = backend.new_session().open()
    for number in range(5):
        put(store, "a", number)
    store.compact(3)
    store.compact(2)
    assert store.compacted == 3
    store.compact(99)
    assert store.compacted == 5
    assert list(store.events(5)) == []
    assert store.get("pods", "default", "a").object["spec"]["value"] == 4
    put(store, "a", 9)
    assert [event.previous["spec"]["value"] for event in store.events(5)] == [4]
    assert [stored.object["spec"]["value"] for stored in store.list_at("pods", 5)] == [4]


# -- fence and time ----------------------------------------------------------------------------------------------------


def test_a_fenced_off_writer_cannot_write(backend):
    session = backend.new_session()
    first = session.take_over()
    old = session.open()
    put(old, "a", fence=first, now_ms=10)
    second = session.take_over()
    assert second > first
    with pytest.raises(Fenced):
        put(old, "b", fence=first, now_ms=20)
    with pytest.raises(Fenced), old.transaction("engine", fence=first, now_ms=5000):
        pass
    new = session.open()
    assert (new.revision, new.horizon_ms) == (1, 10)
    assert put(new, "c", fence=second, now_ms=20).revision == 2
    assert put(old, "d").revision == 3, "people write whoever owns the session"


def test_a_persons_write_is_stamped_with_the_horizon(backend):
    store = backend.new_session().open()
    put(store, "a")
    with store.transaction("engine", now_ms=2500):
        pass
    assert store.horizon_ms == 2500
    put(store, "b")
    with store.transaction("engine", now_ms=4000) as transaction:
        assert transaction.now_ms == 4000
        transaction.put("pods", "default", "c", document("c"))
    put(store, "d")
    assert [event.now_ms for event in store.events(0)] == [0, 2500, 4000, 4000]


def test_the_owner_keeps_its_own_time_on_the_way_to_a_promised_horizon(backend):
    store = backend.new_session().open()
    put(store, "a", now_ms=100)
    with store.transaction("engine", now_ms=5000):
        pass
    put(store, "b", now_ms=200)
    assert store.horizon_ms == 5000
    put(store, "c")
    put(store, "d", now_ms=300)
    assert [event.now_ms for event in store.events(0)] == [100, 200, 5000, 5000]


def test_time_does_not_go_back_for_a_writer_that_is_late(backend):
    store = backend.new_session().open()
    put(store, "a", now_ms=3000)
    put(store, "b", now_ms=1000)
    stamps = [event.now_ms for event in store.events(0)]
    assert stamps == sorted(stamps)
    assert store.horizon_ms == 3000


# -- traces ------------------------------------------------------------------------------------------------------------


def test_traces_come_newest_first_and_the_same_attempt_replaces(backend):
    store = backend.new_session().open()
    with store.transaction("kube-scheduler-0", now_ms=1) as transaction:
        transaction.put("pods", "default", "a", document("a"))
        transaction.trace("uid-a", 1, {"id": "uid-a-1", "point": "Filter"}, b"one")
        transaction.trace("uid-a", 2, {"id": "uid-a-2"}, b"two")
        transaction.trace("uid-b", 1, {"id": "uid-b-1"}, b"other")
    with store.transaction("kube-scheduler-0", now_ms=2) as transaction:
        transaction.trace("uid-a", 1, {"id": "uid-a-1", "point": "Permit"}, b"")
        transaction.trace("uid-a", 1, {"id": "uid-a-1", "point": "Bind"}, b"\x00\xff")
    assert [(envelope["id"], blob) for envelope, blob in store.traces("uid-a")] == [
        ("uid-a-2", b"two"),
        ("uid-a-1", b"\x00\xff"),
    ]
    assert store.traces("uid-a")[1][0]["point"] == "Bind"
    assert len(store.traces("uid-a", 1)) == 1
    assert [envelope["id"] for envelope, _ in store.newest_traces(9)] == ["uid-a-1", "uid-a-2", "uid-b-1"]
    assert store.newest_traces(1) == [store.trace("uid-a", 1)]
    assert store.trace("uid-a", 1) == store.traces("uid-a")[1]
    assert store.trace("uid-a", 3) is None
    assert store.trace("nobody", 1) is None
    assert store.revision == 1, "a trace takes no revision"


def test_a_pod_that_never_fits_does_not_fill_the_store(backend):
    store = backend.new_session().open()
    for attempt in range(1, 61):
        with store.transaction("kube-scheduler-0", now_ms=attempt) as transaction:
            transaction.trace("uid-a", attempt, {"attempt": attempt}, b"x")
    assert [envelope["attempt"] for envelope, _ in store.traces("uid-a", 100)] == list(range(60, 10, -1))


def test_an_object_is_as_large_as_it_may_be_where_it_is_put(backend):
    store = backend.new_session().open()
    with store.transaction("session") as transaction:
        transaction.put("configmaps", "n", "a", {"metadata": {"uid": "a"}, "data": "x" * (OBJECT_BYTES_MAX - 100)})
        with pytest.raises(ObjectTooLarge) as refusal:
            transaction.put("configmaps", "n", "b", {"metadata": {"uid": "b"}, "data": "x" * OBJECT_BYTES_MAX})
    assert refusal.value.size > OBJECT_BYTES_MAX
    assert [stored.name for stored in store.list("configmaps")[0]] == ["a"]


def test_rows_and_traces_of_any_text_and_bytes_come_back_as_they_were_put(backend):
    store = backend.new_session().open()
    texts = ["", "'); DROP TABLE store_object; --", "%s %b {a,NULL} \\x00", "名前", '"{}"']
    with store.transaction("who'\\{\"") as transaction:
        for number, text in enumerate(texts):
            transaction.put("configmaps", "default", f"c{number}", {"metadata": {"uid": f"u{number}"}, "data": text})
            transaction.trace(f"u{number}", 1, {"text": text}, bytes(range(256)))
    rows = store.events(0)
    assert [row.object["data"] for row in rows] == texts
    assert {row.actor for row in rows} == {"who'\\{\""}
    assert [one.object["data"] for one in store.list("configmaps")[0]] == texts
    for number, text in enumerate(texts):
        assert store.trace(f"u{number}", 1) == ({"text": text}, bytes(range(256)))
