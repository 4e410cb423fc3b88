"""What the owner's process keeps in memory of its session."""

from __future__ import annotations

import pytest

from clustersim.store import open_store, sessions

pytestmark = pytest.mark.usefixtures("own_database")


def event(name: str) -> dict:
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "involvedObject": {"kind": "Pod", "name": name},
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }


def test_of_events_the_bytes_are_kept_and_not_the_document():
    owner = open_store(sessions.create("t", "empty").id, owner=True)
    with owner.transaction("engine") as tx:
        tx.put("events", "default", "e", event("e"))
        tx.put("pods", "default", "p", {"metadata": {"name": "p", "uid": "p"}})
    kept, pod = owner.get("events", "default", "e"), owner.get("pods", "default", "p")
    assert kept is not None
    assert pod is not None
    assert kept.known is None
    assert pod.known is not None
    assert kept.object["involvedObject"] == {"kind": "Pod", "name": "e"}, "it can be read all the same"
    rows = owner.events(0)
    assert [row.name for row in rows] == ["e", "p"]
    assert rows[0].known is not None, "who reads the log now is handed what was written"
