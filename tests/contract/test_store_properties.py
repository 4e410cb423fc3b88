"""What always holds, whatever is written: a list and the events after it are the later list."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controllers.log.store import DELETED, Gone, RevisionConflict

RELAXED = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

write = st.tuples(
    st.sampled_from(["put", "put", "put", "delete"]),
    st.sampled_from(["pods", "nodes"]),
    st.sampled_from(["", "a", "a-b"]),
    st.sampled_from(["x", "y", "z"]),
    st.integers(0, 9),
)
transactions = st.lists(st.lists(write, max_size=5), max_size=12)


def fold(state: dict, events) -> dict:
    """Return the state after events, as any watcher folds them."""
    state = dict(state)
    for event in events:
        key = (event.resource, event.namespace, event.name)
        if event.verb == DELETED:
            assert key in state
            assert state[key] == event.previous_data
            del state[key]
        else:
            assert (key in state) == (event.verb != "ADDED")
            assert state.get(key) == event.previous_data
            state[key] = event.data
    return state


def listed(store, revision: int | None = None) -> dict:
    found = {}
    for resource in ("pods", "nodes"):
        rows = store.list(resource)[0] if revision is None else store.list_at(resource, revision)
        places = [(row.namespace, row.name) for row in rows]
        assert places == sorted(places)
        found |= {(resource, row.namespace, row.name): row.data for row in rows}
    return found


def play(store, history) -> dict[int, dict]:
    """Write a history; return the state at the revision after each transaction."""
    states = {0: {}}
    for number, operations in enumerate(history):
        with store.transaction("user:mei", now_ms=number * 10 if number % 2 else None) as transaction:
            for verb, resource, namespace, name, value in operations:
                if verb == "put":
                    body = {"metadata": {"name": name, "uid": f"{number}-{value}"}, "spec": value}
                    transaction.put(resource, namespace, name, body)
                else:
                    try:
                        transaction.delete(resource, namespace, name)
                    except RevisionConflict:
                        assert transaction.get(resource, namespace, name) is None
        states[store.revision] = listed(store)
    return states


@RELAXED
@given(history=transactions, data=st.data())
def test_a_list_and_the_events_after_it_are_the_later_list(backend, history, data):
    store = backend.new_session().open()
    states = play(store, history)
    events = list(store.events(0))
    assert [event.revision for event in events] == list(range(1, store.revision + 1))
    assert [event.now_ms for event in events] == sorted(event.now_ms for event in events)
    for revision, state in states.items():
        assert listed(store, revision) == state
    start = data.draw(st.integers(0, store.revision), label="resumed at")
    assert fold(listed(store, start), store.events(start)) == listed(store)


@RELAXED
@given(history=transactions, data=st.data())
def test_compaction_changes_nothing_that_is_kept(backend, history, data):
    session = backend.new_session()
    store = session.open()
    states = play(store, history)
    reader = session.open()
    kept = {start: [event.revision for event in store.events(start)] for start in states}
    mark = data.draw(st.integers(0, store.revision), label="compacted")
    half = data.draw(st.integers(0, mark), label="in two steps")
    store.compact(half)
    store.compact(mark)
    for place in (store, reader, session.open()):
        for revision, state in states.items():
            if revision < mark:
                try:
                    place.list_at("pods", revision)
                    raise AssertionError("a compacted revision was listed")
                except Gone:
                    continue
            assert listed(place, revision) == state
            assert [event.revision for event in place.events(revision)] == kept[revision]
            assert fold(state, place.events(revision)) == listed(place)
