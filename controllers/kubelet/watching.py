"""The order of a pod's life, and of what happens once its containers were started; nothing where nothing will.

Source: pkg/kubelet/prober (worker.go), pkg/kubelet/kuberuntime (computePodActions), v1.34.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from controllers.kubelet import probing, resizing, says
from controllers.kubelet.containers import Container, merged_conditions
from controllers.kubelet.home import Act, Going, Late, Remove, Sleep, Steps, Write
from controllers.kubelet.images import image_of
from controllers.kubelet.life import ENDED, KILLED, LATE, Life
from controllers.kubelet.outcomes import Outcome
from controllers.kubelet.probing import Told
from controllers.kubelet.stopping import ending_ms, hook_ms, pre_stop_ms
from controllers.log.stamps import unix_ms_of
from scheduler_core.api.document import ENDED_PHASES, has_ended


def live(life: Life) -> Steps:
    """Live a pod's life, from where its status says that it is."""
    if "deletionTimestamp" in life.pod["metadata"]:
        yield from life.end()
        return
    if life.phase() in ENDED_PHASES or life.orders.run == "hold":
        return
    going = life.home.going(life.uid)
    if going is not None:
        yield from _go(life, going)
        return
    if (yield from _is_refused(life)):
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


def _is_refused(life: Life) -> Generator[Sleep | Write | Remove, None, bool]:
    """Look whether the node takes the pod; say so where it does not."""
    if life.containers.is_new:
        yield from life.wait(life.home.stages.waits.admit, "pod-admitted")
    refused = life.refused()
    if refused is None:
        life.home.taken_in(life.uid)
        return False
    life.say(says.REFUSED._replace(reason=refused.reason), why=refused.message)
    yield Write(life.rejected(refused))
    return True


def _go(life: Life, going: Going) -> Steps:
    """End the containers of a pod that has to go, within the time that they have, and say why."""
    running = [one for one in life.containers.all if one.state == "running"]
    asked_ms = life.home.asked_ms(life.uid)
    if asked_ms is None:
        asked_ms = life.now_ms
        if going.told:
            life.say(says.EVICTED, why=going.message)
        for one in running:
            life.say(says.STOPPING, one)
            life.hook(one)
    needs_ms = pre_stop_ms(life.pod) + life.drawn(life.home.stages.waits.end, "pod-ended")
    if running:
        yield Sleep(asked_ms + min(needs_ms, 1000 * going.seconds))
    life.kill(ENDED if needs_ms < 1000 * going.seconds else KILLED)
    status = life.status("Failed", going.reason, going.message)
    disrupted = {
        "type": "DisruptionTarget",
        "observedGeneration": life.generation,
        "status": "True",
        "reason": "TerminationByKubelet",
        "message": going.message,
    }
    status["conditions"] = merged_conditions(status["conditions"], [disrupted], life.unix_ms)
    yield Write(status)


def _watch(life: Life) -> Steps:
    """Let happen what happens, one after the other, until nothing will."""
    told: Told = {}
    while True:
        acts = sorted(_acts(life, told), key=lambda act: act.due_ms)
        if not acts:
            yield from _keep_deadline(life)
            return
        if acts[0].due_ms > life.now_ms:
            yield from life.sleep(acts[0].due_ms)
        yield from acts[0].do()
        if life.containers.phase(life.policy) in ENDED_PHASES:
            for one in life.containers.inits:
                if one.state == "running":
                    one.end(life.now, 0)
            yield Write(life.status())
            return
        if has_ended(life.pod):
            return


def _keep_deadline(life: Life) -> Steps:
    """Stay awake for spec.activeDeadlineSeconds, and for nothing else."""
    deadline = life.pod["spec"].get("activeDeadlineSeconds")
    started = (life.pod.get("status") or {}).get("startTime")
    if deadline is not None and started:
        yield from life.sleep(unix_ms_of(started) + 1000 * int(deadline) - life.home.tick.epoch_ms)


def _acts(life: Life, told: Told) -> Iterator[Act]:
    orders = life.orders
    mains = life.containers.mains
    if orders.run in ("complete", "fail") and all(one.state == "running" for one in mains):
        begun_ms = max(life.started_ms(one) for one in mains)
        yield Act(begun_ms + 1000 * (orders.seconds or 0), life.finish)
    for one in (*(one for one in life.containers.inits if one.sidecar), *mains):
        if one.state == "running":
            yield from _of_running(life, one, told)
        elif one.state == "waiting" or _starts_again(life, one):
            yield _of_ended(life, one)
    yield from resizing.acts(life, _resized)
    for one in life.containers.ephemerals:
        if one.state == "waiting":
            yield Act(life.now_ms, lambda one=one: _look_in(life, one))  # type: ignore[misc]
        elif one.state == "running":
            yield from _of_ephemeral(life, one)
    if (life.pod.get("status") or {}).get("observedGeneration") != life.generation:
        yield Act(life.now_ms, lambda: _write(life))
    elif _conditions_differ(life):
        yield Act(life.now_ms + life.home.stages.waits.recover.base, lambda: _write(life))


def _look_in(life: Life, one: Container) -> Steps:
    """Start a container that was added to look into the pod."""
    if not one.known:
        one.wait("PodInitializing" if life.containers.inits else "ContainerCreating")
        one.known = True
        yield Write(life.status())
    if (yield from life.begin_again(one)):
        yield Write(life.status())


def _of_ephemeral(life: Life, one: Container) -> Iterator[Act]:
    outcome = life.outcome(one)
    if outcome is not None:
        yield Act(life.started_ms(one) + outcome.ms, lambda: _exit(life, one, outcome))


def _of_ended(life: Life, one: Container) -> Act:
    """Return what follows the end of a container that is started again."""
    finished_ms, wait_ms = life.restart_ms(one)
    if one.state == "terminated":
        due_ms = max(life.now_ms, finished_ms + life.home.stages.waits.tell.base)
        return Act(due_ms, lambda: life.tell_crash(one, wait_ms) if wait_ms else _restart(life, one))
    return Act(max(life.now_ms, finished_ms + wait_ms) if one.last else life.now_ms, lambda: _restart(life, one))


def _of_running(life: Life, one: Container, told: Told) -> Iterator[Act]:
    spec, begun_ms = one.spec, life.started_ms(one)
    if one.image != image_of(str(spec.get("image", ""))).told:
        yield Act(life.now_ms, lambda: _kill(life, one, says.CHANGED, ""))
        return
    outcome = life.outcome(one)
    if outcome is not None:
        yield Act(begun_ms + outcome.ms, lambda: _exit(life, one, outcome))
    yield from probing.acts(life, one, told, _kill)


def _starts_again(life: Life, one: Container) -> bool:
    if one.sidecar or life.policy == "Always":
        return True
    return life.policy == "OnFailure" and one.exit_code != 0


def _write(life: Life) -> Steps:
    yield Write(life.status())


def _exit(life: Life, one: Container, outcome: Outcome) -> Steps:
    if outcome.asks:
        # What becomes of it is looked at anew, now that it has.
        return
    one.end(life.now, outcome.code, outcome.reason, outcome.message)
    if life.containers.phase(life.policy) not in ENDED_PHASES:
        yield Write(life.status())


def _kill(life: Life, one: Container, say: says.Say, why: str) -> Steps:
    life.say(say, one, why=why)
    life.hook(one)
    own_ms = life.drawn(life.home.stages.waits.end, f"kill/{one.name}/{one.restarts}")
    grace_ms = 1000 * int(life.pod["spec"].get("terminationGracePeriodSeconds") or 0)
    before_ms = hook_ms(one.spec)
    yield from life.sleep(life.now_ms + (ending_ms(before_ms, own_ms, grace_ms) if before_ms else own_ms))
    one.end(life.now, KILLED if why else ENDED)
    if life.containers.phase(life.policy) not in ENDED_PHASES:
        yield Write(life.status())


def _resized(life: Life, one: Container) -> Steps:
    """Start a container again whose resize asks for that."""
    yield from _kill(life, one, says.RESTARTED, "")
    yield from _restart(life, one)


def _restart(life: Life, one: Container) -> Steps:
    if not (yield from life.begin_again(one)):
        return
    yield Write(life.status())


def _conditions_differ(life: Life) -> bool:
    """Return whether the pod's conditions are not those that its containers amount to: its node was away, say."""
    pod = life.pod
    known = {one["type"]: one["status"] for one in (pod.get("status") or {}).get("conditions") or ()}
    wanted = life.containers.conditions(pod, life.containers.phase(life.policy))
    return any(known.get(one["type"]) != one["status"] for one in wanted)
