"""The order of a pod's life, and of what happens once its containers were started; nothing where nothing will.

Source: pkg/kubelet/prober (worker.go), pkg/kubelet/kuberuntime (computePodActions), v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from controllers.kubelet import says
from controllers.kubelet.containers import Container, merged_conditions
from controllers.kubelet.life import ENDED, FINAL, KILLED, LATE, Late, Life, Steps, Write
from controllers.log.stamps import unix_ms_of
from scheduler_core.api.document import Document


class Act(NamedTuple):
    """Something that happens at `due_ms`."""

    due_ms: int
    do: Callable[[], Steps]


def live(life: Life) -> Steps:
    """Live a pod's life, from where its status says that it is."""
    if "deletionTimestamp" in life.pod["metadata"]:
        yield from life.end()
        return
    if life.phase() in FINAL or life.orders.run == "hold":
        return
    evicted = life.home.evicted(life.uid)
    if evicted:
        life.say(says.EVICTED, why=evicted)
        life.kill(KILLED)
        yield Write(_evicted(life, evicted))
        return
    refused = life.refused()
    if refused:
        life.say(says.REFUSED, why=refused)
        yield Write(life.status("Failed", "SysctlForbidden", f"Pod was rejected: {refused}"))
        return
    try:
        if (yield from life.set_up()):
            yield from _watch(life)
        else:
            yield from _keep_deadline(life)
    except Late:
        life.say(says.LATE, why=LATE)
        life.kill(KILLED)
        yield Write(life.status("Failed", "DeadlineExceeded", LATE))


def _evicted(life: Life, why: str) -> Document:
    """Return the status of a pod that had to go for its node."""
    status = life.status("Failed", "Evicted", why)
    disrupted = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": why}
    status["conditions"] = merged_conditions(status["conditions"], [*status["conditions"], disrupted], life.unix_ms)
    return status


def _watch(life: Life) -> Steps:
    """Let happen what happens, one after the other, until nothing will."""
    told: dict[tuple[str, str], int] = {}
    while True:
        acts = sorted(_acts(life, told), key=lambda act: act.due_ms)
        if not acts:
            yield from _keep_deadline(life)
            return
        if acts[0].due_ms > life.now_ms:
            yield from life.sleep(acts[0].due_ms)
        yield from acts[0].do()
        if life.containers.phase(life.policy) in FINAL:
            for one in life.containers.inits:
                if one.state == "running":
                    one.end(life.now, 0)
            yield Write(life.status())
            return
        if (life.pod.get("status") or {}).get("phase") in FINAL:
            return


def _keep_deadline(life: Life) -> Steps:
    """Stay awake for spec.activeDeadlineSeconds, and for nothing else."""
    deadline = life.pod["spec"].get("activeDeadlineSeconds")
    started = (life.pod.get("status") or {}).get("startTime")
    if deadline is not None and started:
        yield from life.sleep(unix_ms_of(started) + 1000 * int(deadline) - life.home.tick.epoch_ms)


def _acts(life: Life, told: dict[tuple[str, str], int]) -> Iterator[Act]:
    orders = life.orders
    mains = life.containers.mains
    if orders.run in ("complete", "fail") and all(one.state == "running" for one in mains):
        begun_ms = max(_started_ms(life, one) for one in mains)
        yield Act(begun_ms + 1000 * (orders.seconds or 0), life.finish)
    for one in (*(one for one in life.containers.inits if one.sidecar), *mains):
        if one.state == "running":
            yield from _of_running(life, one, told)
        elif one.state == "waiting" or _starts_again(life, one):
            yield _of_ended(life, one)
    if _conditions_differ(life):
        yield Act(life.now_ms + life.home.stages.waits.recover.base, lambda: _write(life))


def _of_ended(life: Life, one: Container) -> Act:
    """Return what follows the end of a container that is started again."""
    finished_ms, wait_ms = life.restart_ms(one)
    if one.state == "terminated":
        due_ms = max(life.now_ms, finished_ms + life.home.stages.waits.tell.base)
        return Act(due_ms, lambda: life.tell_crash(one, wait_ms) if wait_ms else _restart(life, one))
    return Act(max(life.now_ms, finished_ms + wait_ms) if one.last else life.now_ms, lambda: _restart(life, one))


def _of_running(life: Life, one: Container, told: dict[tuple[str, str], int]) -> Iterator[Act]:
    spec, begun_ms = one.spec, _started_ms(life, one)
    if one.image and one.image != spec.get("image"):
        yield Act(life.now_ms, lambda: _kill(life, one, says.CHANGED, ""))
        return
    outcome = life.outcome(one)
    if outcome is not None:
        yield Act(begun_ms + outcome.ms, lambda: _exit(life, one, outcome.code))
    failing = life.orders.failing
    for kind in ("startup", "liveness"):
        probe = spec.get(f"{kind}Probe")
        if probe is not None and kind in failing and (kind == "startup") != one.started:
            yield from _failures(life, one, kind, probe, told)
    startup, readiness = spec.get("startupProbe"), spec.get("readinessProbe")
    if not one.started:
        if startup is None or "startup" not in failing:
            at_ms = begun_ms + _delay_ms(startup, 1000 * life.orders.listen_after)
            yield Act(max(life.now_ms, at_ms), lambda: _started(life, one))
        return
    wanted = life.orders.run != "unready" and not (readiness is not None and "readiness" in failing)
    if wanted != one.ready:
        at_ms = begun_ms + _delay_ms(readiness, 1000 * life.orders.listen_after) if wanted else life.now_ms
        yield Act(max(life.now_ms, at_ms), lambda: _ready(life, one, wanted))
    elif not wanted and readiness is not None:
        yield from _failures(life, one, "readiness", readiness, told)


def _failures(
    life: Life, one: Container, kind: str, probe: Mapping[str, Any], told: dict[tuple[str, str], int]
) -> Iterator[Act]:
    """Yield the next failure of a probe, until its threshold: what follows is the same again."""
    count = told.get((one.name, f"{kind}/{one.started_at}"), 0)
    threshold, period_ms = int(probe.get("failureThreshold") or 3), 1000 * int(probe.get("periodSeconds") or 10)
    if count >= threshold:
        return
    due_ms = _started_ms(life, one) + 1000 * int(probe.get("initialDelaySeconds") or 0) + period_ms * count

    def fail() -> Steps:
        told[(one.name, f"{kind}/{one.started_at}")] = count + 1
        life.say(says.PROBE_FAILED, one, why=f"{kind.capitalize()} probe failed: {_why(probe, life)}")
        if count + 1 >= threshold and kind != "readiness":
            yield from _kill(life, one, says.UNHEALTHY, kind)

    yield Act(max(life.now_ms, due_ms), fail)


def _why(probe: Mapping[str, Any], life: Life) -> str:
    if "httpGet" in probe:
        return "HTTP probe failed with statuscode: 500"
    if "tcpSocket" in probe:
        place = (life.pod.get("status") or {}).get("podIP", "")
        return f"dial tcp {place}:{probe['tcpSocket'].get('port')}: connect: connection refused"
    if "grpc" in probe:
        return 'service unhealthy (responded with "NOT_SERVING")'
    return ""


def _delay_ms(probe: Mapping[str, Any] | None, listens_ms: int) -> int:
    """Return after how long a probe has succeeded often enough; it succeeds from `listens_ms` after the start on."""
    if probe is None:
        return 0
    period_ms, threshold = 1000 * int(probe.get("periodSeconds") or 10), int(probe.get("successThreshold") or 1)
    first_ms = 1000 * int(probe.get("initialDelaySeconds") or 0)
    missed = -(-max(0, listens_ms - first_ms) // period_ms)
    return first_ms + period_ms * (missed + threshold - 1)


def _started_ms(life: Life, one: Container) -> int:
    return unix_ms_of(one.started_at) - life.home.tick.epoch_ms if one.started_at else life.now_ms


def _starts_again(life: Life, one: Container) -> bool:
    if one.sidecar or life.policy == "Always":
        return True
    return life.policy == "OnFailure" and one.exit_code != 0


def _write(life: Life) -> Steps:
    yield Write(life.status())


def _exit(life: Life, one: Container, code: int) -> Steps:
    one.end(life.now, code)
    if life.containers.phase(life.policy) not in FINAL:
        yield Write(life.status())


def _kill(life: Life, one: Container, say: says.Say, why: str) -> Steps:
    life.say(say, one, why=why)
    wait = life.home.stages.waits.end
    yield from life.sleep(life.now_ms + life.drawn(wait, f"kill/{one.name}/{one.restarts}"))
    one.end(life.now, KILLED if why else ENDED)
    if life.containers.phase(life.policy) not in FINAL:
        yield Write(life.status())


def _restart(life: Life, one: Container) -> Steps:
    if not (yield from life.begin_again(one)):
        return
    one.started = not one.spec.get("startupProbe")
    one.ready = one.started and not one.spec.get("readinessProbe") and life.orders.run != "unready"
    yield Write(life.status())


def _started(life: Life, one: Container) -> Steps:
    one.started = True
    if one.spec.get("readinessProbe") is None:
        one.ready = life.orders.run != "unready"
    yield Write(life.status())


def _ready(life: Life, one: Container, ready: bool) -> Steps:
    one.ready = ready
    yield Write(life.status())


def _conditions_differ(life: Life) -> bool:
    """Return whether the pod's conditions are not those that its containers amount to: its node was away, say."""
    pod = life.pod
    known = {one["type"]: one["status"] for one in (pod.get("status") or {}).get("conditions") or ()}
    wanted = life.containers.conditions(pod, life.containers.phase(life.policy))
    return any(known.get(one["type"]) != one["status"] for one in wanted)
