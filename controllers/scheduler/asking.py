"""What cycles ask for, as operations; and what came of them, as replies."""

from __future__ import annotations

from typing import Any, Final

from controllers.kit.recorder import Recorder
from controllers.log.operations import Bind, Delete, Operation, Patch, Result
from controllers.log.stamps import wire_time
from controllers.loop.loop import Tick
from scheduler_core.api.pod import Pod
from scheduler_core.framework.asks import BindPod, DeletePod, PatchPodStatus, RecordEvent, Reply

DONE: Final = Reply()


def bind_operation(ask: BindPod) -> Operation:
    """Return the write of a pod's node."""
    return Bind(ask.namespace, ask.name, ask.uid, ask.node_name)


def delete_operation(ask: DeletePod) -> Operation:
    """Return the graceful deletion of a pod; the uid keeps a successor of that name safe."""
    return Delete("pods", ask.pod.namespace, ask.pod.name, uid=ask.pod.uid)


def status_operation(ask: PatchPodStatus, latest: Pod, unix_ms: int) -> Operation | None:
    """Return the patch of a pod's status; None where the pod says all that already, as upstream skips it.

    Args:
        ask: what to say.
        latest: the newest known view of the pod.
        unix_ms: the present, for the condition's transition time.
    """
    status: dict[str, Any] = {}
    if ask.condition is not None:
        condition = _condition(ask, latest, unix_ms)
        if condition is not None:
            status["conditions"] = [condition]
    nominated = ask.nominated_node_name
    if nominated is not None and nominated != latest.status.nominated_node_name:
        # A null removes the field: an absent nomination and an empty one are the same.
        status["nominatedNodeName"] = nominated or None
    if not status:
        return None
    patch = {"metadata": {"uid": ask.pod.uid}, "status": status}
    return Patch("pods", ask.pod.namespace, ask.pod.name, patch, "strategic", "status")


def _condition(ask: PatchPodStatus, latest: Pod, unix_ms: int) -> dict[str, Any] | None:
    assert ask.condition is not None
    wanted = {**ask.condition, "observedGeneration": latest.metadata.generation}
    known = next((one for one in latest.status.conditions if one.type == wanted["type"]), None)
    if known is None or known.status != wanted["status"]:
        return {"lastProbeTime": None, "lastTransitionTime": wire_time(unix_ms), **wanted}
    if (known.reason, known.message) == (wanted["reason"], wanted["message"]):
        return None
    return {"lastProbeTime": None, "lastTransitionTime": known.last_transition_time, **wanted}


def record(recorder: Recorder, ask: RecordEvent, tick: Tick) -> None:
    """Write the Event."""
    about = {
        "apiVersion": "v1",
        "metadata": {"name": ask.pod.name, "namespace": ask.pod.namespace, "uid": ask.pod.metadata.uid},
    }
    recorder.event(tick, about, "Pod", ask.reason, ask.note, event_type=ask.type)


def reply_of(result: Result) -> Reply:
    """Return what the asker is told."""
    if result.error is None:
        return Reply(value=result.object)
    return Reply(result.error.message, result.object, result.error.code)
