"""A watch has little time: what was in the log when it began is told all the same, and let go of."""

from __future__ import annotations

import json
from dataclasses import replace

from asgiref.sync import sync_to_async

from clustersim.apiserver.messages import Request
from clustersim.apiserver.routes import parse
from clustersim.apiserver.virtual import ReadView
from clustersim.apiserver.watching import WatchPlan, plan_watch
from clustersim.store import open_store, sessions

NAMES = [f"c{number}" for number in range(300)]
PATH = "/api/v1/namespaces/default/configmaps"


@sync_to_async
def planned(version: int | None = None) -> WatchPlan:
    """Plan a watch in a session whose log nobody has read: from before everything, or from that resourceVersion."""
    row = sessions.create("A watch", "empty")
    store = open_store(row.id)
    first = store.revision
    for name in NAMES:
        with store.transaction("session") as transaction:
            document = {"metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"}}
            transaction.put("configmaps", "default", name, document)
    query = {"watch": "1", "timeoutSeconds": "1", "resourceVersion": str(first + 1 if version is None else version)}
    return plan_watch(ReadView(store), Request("GET", row.code, PATH, query, {}, b""), parse(PATH))


async def test_a_watch_without_time_tells_what_was_there() -> None:
    plan = replace(await planned(), seconds=0.0)
    lines = b"".join([chunk async for chunk in plan.chunks()]).splitlines()
    assert [json.loads(line)["object"]["metadata"]["name"] for line in lines] == NAMES[1:]


async def test_a_watch_lets_go_of_what_it_began_with() -> None:
    """Else thousands of watches would hold each object of their first lists for as long as they stand."""
    plan = replace(await planned(0), seconds=0.0)
    assert len(plan.initial) == len(NAMES)
    chunks = plan.chunks()
    assert len((await anext(chunks)).splitlines()) == len(NAMES)
    assert plan.initial == []
    await chunks.aclose()
