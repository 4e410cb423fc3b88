"""A replica from outside works by the session's flags, as those within do."""

from __future__ import annotations

from typing import Any

import pytest

from clustersim.runtime.remote.process import RemoteReplica
from controllers.flags.table import RESOURCE as FLAGS
from controllers.leaderelection.replica import Replica
from controllers.log.operations import Operation, Result
from controllers.scheduler.component import SchedulerComponent


class Session:
    """What a replica asks before it takes part."""

    def __init__(self, flags: dict[str, dict[str, str]]) -> None:
        self.flags = flags

    def clock(self) -> dict[str, Any]:
        told = {"epochMs": 0, "simTime": 1.0, "rate": 1.0, "effectiveRate": 1.0}
        return {**told, "paused": True, "hibernated": False}

    def get(self, resource: str, namespace: str, name: str) -> dict[str, Any] | None:
        return {"spec": self.flags} if resource == FLAGS else None

    def write(self, operation: Operation) -> Result:
        return Result(operation, {"metadata": {}}, None, 0)


@pytest.mark.parametrize(
    ("flags", "polls_ms"), [({}, 0), ({"kube-scheduler": {"informers": "poll", "poll-period": "30s"}}, 30_000)]
)
def test_a_scheduler_from_outside_lists_as_the_flags_say(flags: dict[str, dict[str, str]], polls_ms: int) -> None:
    replica = RemoteReplica(lambda find: Session(flags), "kube-scheduler", "outside")
    slot = replica._loop.add("outside", replica._make)
    replica._loop.run_tick(replica._loop.now_ms)
    component = slot.component
    assert isinstance(component, Replica)
    scheduler = component.inner
    assert isinstance(scheduler, SchedulerComponent)
    assert scheduler.informers is not None
    assert scheduler.informers.poll_ms == polls_ms
