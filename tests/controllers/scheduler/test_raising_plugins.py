"""A plugin that raises ends an attempt, or nothing: never the scheduler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from controllers.scenario import Start, read, run
from scheduler_core.api.errors import ApiError
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.status import Code, Status

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


def raising(point: str, **more: Any) -> PluginRegistry:
    """Return a registry with a plugin Boom that raises at one point and has these other methods."""

    def boom(self: Any, *arguments: Any) -> Any:
        raise RuntimeError(f"boom at {point}")

    made = type("Boom", (), {"name": "Boom", **more, point: boom})
    return PluginRegistry({"Boom": lambda arguments, handle: made()})


def what_came(registry: PluginRegistry, point: str = "multiPoint") -> tuple[str, str]:
    """Return the node that a pod got and the message of its condition."""
    alone = {"disabled": [{"name": "*"}]} if point == "bind" else {}
    profile = {"plugins": {point: {"enabled": [{"name": "Boom"}], **alone}}}
    scheduler = {"era": "v1.34", "configuration": {"profiles": [profile]}}
    scenario = {"nodes": [{"name": "n", "count": 2}], "objects": [POD], "scheduler": scheduler, "until": 5}
    store, _ = run(read(scenario, {"empty": Start((), 1, 0)}, registry), seed=1, plugins=registry)
    (pod,) = (stored.object for stored in store.list("pods")[0])
    messages = [one.get("message", "") for one in pod["status"].get("conditions", []) if one["type"] == "PodScheduled"]
    return pod["spec"].get("nodeName", ""), messages[0] if messages else ""


def nothing(self: Any, *arguments: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("point", "more", "message"),
    [
        ("pre_filter", {}, 'running PreFilter plugin "Boom": boom at pre_filter'),
        ("filter", {}, 'running "Boom" filter plugin: boom at filter'),
        (
            "pre_score",
            {"score": lambda self, state, pod, snapshot, rows: np.zeros(snapshot.count(rows), dtype=np.int64)},
            'running PreScore plugin "Boom": boom at pre_score',
        ),
        ("score", {}, 'running Score plugins: plugin "Boom" failed with: boom at score'),
        (
            "normalize",
            {"score": lambda self, state, pod, snapshot, rows: np.zeros(snapshot.count(rows), dtype=np.int64)},
            'running Normalize on Score plugins: plugin "Boom" failed with: boom at normalize',
        ),
        ("reserve", {"unreserve": nothing}, 'running Reserve plugin "Boom": boom at reserve'),
        ("permit", {}, 'running Permit plugin "Boom": boom at permit'),
        ("pre_bind", {}, 'running PreBind plugin "Boom": boom at pre_bind'),
    ],
)
def test_the_attempt_ends_with_what_it_said(point: str, more: dict[str, Any], message: str) -> None:
    assert what_came(raising(point, **more)) == ("", message)


def test_the_one_that_binds() -> None:
    assert what_came(raising("bind"), "bind") == ("", 'running Bind plugin "Boom": boom at bind')


def test_what_cannot_fail_any_more_is_passed_over() -> None:
    node, _ = what_came(raising("post_bind"))
    assert node.startswith("n-")
    refuses = {"reserve": lambda self, *arguments: Status(Code.UNSCHEDULABLE, ("not here",))}
    assert what_came(raising("unreserve", **refuses)) == ("", "0/1 nodes are available: 1 not here.")


def test_one_that_cannot_name_its_events_is_refused_with_the_configuration() -> None:
    with pytest.raises(ApiError, match='asking plugin "Boom" for its events: boom at events_to_register'):
        what_came(raising("events_to_register", post_bind=nothing))
