"""The life of one pod on its node, from admission to its end, as a computation that waits.

It begins anew from the pod's status whenever somebody else has changed the pod, or the kubelet has lost its memory; so
all that matters stands in the status.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Final

from controllers.kinds.metrics.usage import over_limit
from controllers.kubelet import says
from controllers.kubelet.admitting import Refusal, asks_for_host_ports, is_critical, refusal
from controllers.kubelet.containers import OWN, RESIZING, Container, Containers, pod_conditions
from controllers.kubelet.home import Home, Late, Remove, Sleep, Steps, Write
from controllers.kubelet.images import CHECK_MS, image_of, seconds_text, size_bytes, why_no_name
from controllers.kubelet.machine import Machine
from controllers.kubelet.orders import Orders
from controllers.kubelet.outcomes import Outcome, outcome_of
from controllers.kubelet.ports import taken
from controllers.kubelet.stages.pods import Wait
from controllers.kubelet.stopping import GRACE_MS_MIN, ending_ms, pre_stop_ms
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import ENDED_PHASES, Document, condition
from scheduler_core.api.draw import draw

KILLED: Final = 137
ENDED: Final = 143
"""Exit codes of containers that are killed, and of those that end when they are asked to."""

UNSTARTED: Final = 128
"""The exit code that containerd tells of a container whose process could not be started."""

OOM_MS: Final = 2_000
"""After so long a container is killed that uses more memory than its limit."""

LATE: Final = "Pod was active on the node longer than the specified deadline"


class Life:
    """One pod's life: its steps. `watching.live` puts them in order."""

    def __init__(self, home: Home, machine: Machine, pod: Document) -> None:
        """Begin from what the pod looks like."""
        self.home, self.machine = home, machine
        self._pod = pod
        self.uid = str(pod["metadata"]["uid"])
        self.orders = home.orders(pod)
        self.containers = Containers(pod)
        self.policy = str(pod["spec"].get("restartPolicy") or "Always")
        self._failed_pulls: dict[str, int] = {}

    @property
    def pod(self) -> Document:
        """Return the pod as it is now."""
        seen = self.home.pod(self.uid)
        if seen is not None and seen is not self._pod and revision_of(seen) >= revision_of(self._pod):
            self._pod = seen
        return self._pod

    def wrote(self, pod: Document) -> None:
        """Take the pod as it is after a write of its own, which may not have been seen yet."""
        self._pod = pod

    @property
    def now_ms(self) -> int:
        """Return simulated milliseconds."""
        return self.home.tick.now_ms

    @property
    def unix_ms(self) -> int:
        """Return the present wire time."""
        return self.home.tick.epoch_ms + self.home.tick.now_ms

    @property
    def now(self) -> str:
        """Return the present wire time as text."""
        return wire_time(self.unix_ms)

    # -- steps --------------------------------------------------------------------------------------------------

    def sleep(self, at_ms: int) -> Steps:
        """Wait until then.

        Raises:
            Late: the pod's time is over before.
        """
        deadline = self.pod["spec"].get("activeDeadlineSeconds")
        started = (self.pod.get("status") or {}).get("startTime")
        if deadline is not None and started:
            late_ms = unix_ms_of(started) + 1000 * int(deadline) - self.home.tick.epoch_ms
            if late_ms <= at_ms:
                yield Sleep(late_ms)
                raise Late
        yield Sleep(at_ms)

    def wait(self, wait: Wait, purpose: str) -> Steps:
        """Wait as long as a stage says."""
        yield from self.sleep(self.now_ms + self.drawn(wait, purpose))

    def drawn(self, wait: Wait, purpose: str) -> int:
        """Return how long a wait is for this pod."""
        if not wait.jitter:
            return wait.base
        return wait.base + draw(self.home.tick.seed, f"kubelet/{purpose}", self.uid, below=wait.jitter)

    def say(self, say: says.Say, container: Container | None = None, **more: str) -> None:
        """Write an event about the pod."""
        image = "" if container is None else str(container.spec.get("image", ""))
        metadata = self._pod["metadata"]
        message = say.message.format(
            **{
                "image": image,
                "container": "" if container is None else container.name,
                "size": size_bytes(image),
                "pod": f"{metadata['name']}_{metadata['namespace']}({self.uid})",
                **more,
            }
        )
        kind = "Warning" if say.warning else "Normal"
        self.machine.recorder.event(self.home.tick, self._pod, "Pod", say.reason, message, event_type=kind)

    def started_ms(self, container: Container) -> int:
        """Return when a container started, in simulated milliseconds; now, where it has not yet."""
        started_at = container.started_at
        return unix_ms_of(started_at) - self.home.tick.epoch_ms if started_at else self.now_ms

    def outcome(self, container: Container) -> Outcome | None:
        """Return what becomes of a container that runs."""
        if over_limit(self.pod, container.spec):
            return Outcome(OOM_MS, KILLED, "OOMKilled")
        lasting = (*self.containers.inits, *self.containers.mains)
        if not container.ephemeral and (lost := taken(container, lasting, self.home.stages.listens)):
            return Outcome(1000 * lost.seconds, lost.exit)
        init = container.init and not container.sidecar
        init_ms = self.drawn(self.home.stages.waits.init, f"complete/{container.name}") if init else 0
        task = self.policy != "Always" and not container.sidecar
        if container.ephemeral:
            task = not container.spec.get("stdin")
        free = Orders() if container.init or container.ephemeral else self.orders
        orders = Orders() if free.run else free
        stages = self.home.stages
        begun_ms = unix_ms_of(container.started_at) if container.started_at else self.unix_ms

        def play() -> Outcome | None:
            return self.home.scripts.outcome(self._placed(), container, stages.answers, begun_ms)

        def lacks() -> bool:
            needs = self.home.scripts.needs(self.pod, container.spec, stages.answers)
            return self.home.wants.lacks(self.pod, needs)

        return outcome_of(container.spec, orders, stages, play, lacks, task=task, init=init, init_ms=init_ms)

    def _placed(self) -> Document:
        """Return the pod with the address that it has, although its status may not tell it yet."""
        pod = self.pod
        status = pod.get("status") or {}
        if status.get("podIP") or pod["spec"].get("hostNetwork"):
            return pod
        return {**pod, "status": {**status, "podIP": self.machine.pod_address(self.uid, status)}}

    def status(self, phase: str = "", reason: str = "", message: str = "") -> Document:
        """Return the pod's whole status as its containers are now."""
        pod, containers = self.pod, self.containers
        status = dict(pod.get("status") or {})
        phase = phase or containers.phase(self.policy)
        status["phase"] = phase
        for key, text in (("reason", reason), ("message", message)):
            if text:
                status[key] = text
        status.setdefault("startTime", self.now)
        host = self.home.address(self.machine)
        status["hostIP"], status["hostIPs"] = host, [{"ip": host}]
        shared = pod["spec"].get("hostNetwork")
        if shared or containers.has_network:
            own = host if shared else self.machine.pod_address(self.uid, status)
            status["podIP"], status["podIPs"] = own, [{"ip": own}]
        before = status.get("conditions") or ()
        if phase in ENDED_PHASES:
            before = [one for one in before if one["type"] not in RESIZING]
        status["conditions"] = pod_conditions(before, containers.conditions(pod, phase), self.unix_ms)
        status["containerStatuses"] = containers.statuses(containers.mains)
        if containers.inits:
            status["initContainerStatuses"] = containers.statuses(containers.inits)
        if containers.ephemerals:
            status["ephemeralContainerStatuses"] = containers.statuses(containers.ephemerals)
        status["observedGeneration"] = self.generation
        return status

    def rejected(self, refusal: Refusal) -> Document:
        """Return the status of a pod that its node does not take: nothing of it was ever there."""
        before = self.pod.get("status") or {}
        status: Document = {key: before[key] for key in ("qosClass", "resourceClaimStatuses") if key in before}
        others = [one for one in before.get("conditions") or () if one["type"] not in (*OWN, *RESIZING)]
        if others:
            status["conditions"] = others
        text = f"Pod was rejected: {refusal.message}"
        status |= {"phase": "Failed", "reason": refusal.reason, "message": text, "startTime": self.now}
        return {**status, "observedGeneration": self.generation}

    @property
    def generation(self) -> int:
        """Return which version of what is asked of the pod this is about."""
        return int(self.pod["metadata"].get("generation", 1))

    def phase(self) -> str:
        """Return the pod's phase as the API has it."""
        return str((self.pod.get("status") or {}).get("phase") or "Pending")

    def kill(self, code: int) -> None:
        """All that runs has ended with this code."""
        for one in self.containers.all:
            if one.state == "running":
                one.end(self.now, code)

    # -- the beginning ------------------------------------------------------------------------------------------

    def refused(self) -> Refusal | None:
        """Return why the pod is not taken; None where it is, or was before."""
        if (self.pod.get("status") or {}).get("startTime"):
            return None
        closed = self.home.refused(self.pod)
        if closed is None and not is_critical(self.pod):
            closed = self.home.overfull(self.pod)
        if closed is not None:
            return closed
        # What a scheduler placed stays where it was put: what an old scheduler overlooks is to be seen.
        placed = condition(self.pod, "PodScheduled") is not None
        taken = () if placed or not asks_for_host_ports(self.pod) else self.home.taken(self.pod)
        return refusal(self.pod, taken, self.home.stages.sysctls)

    def set_up(self) -> Generator[Sleep | Write | Remove, None, bool]:
        """Bring the containers up; whether they are."""
        containers, stages = self.containers, self.home.stages
        if containers.is_new:
            reason = "PodInitializing" if containers.inits else "ContainerCreating"
            for one in containers.all:
                one.wait(reason)
                one.known = True
            yield Write(self.status("Pending"))
        fresh = [one for one in containers.mains if one.state == "waiting" and not one.last]
        if fresh or not containers.initialized:
            why = self.home.wants.not_mounted(self.pod)
            if why:
                self.say(says.NOT_MOUNTED, why=why)
                return False
            containers.has_network = True
        for one in containers.inits if not containers.initialized else ():
            if not one.done and not (yield from self._init(one)):
                return False
        for one in fresh:
            if not (yield from self.begin_again(one)):
                return False
        if fresh:
            yield from self.wait(stages.waits.settle, "pod-started")
            if self.orders.run in ("complete", "fail") and not self.orders.seconds:
                yield from self.finish()
                return False
            for one in containers.mains:
                one.started = one.state == "running" and not one.spec.get("startupProbe")
                one.ready = one.started and not one.spec.get("readinessProbe") and self.orders.run != "unready"
            yield Write(self.status())
        return True

    def finish(self) -> Steps:
        """End the whole pod as its annotation tells."""
        code = self.orders.exit_code
        code = (1 if self.orders.run == "fail" else 0) if code is None else code
        for one in self.containers.all:
            if one.state != "terminated":
                one.end(self.now, code if not one.init else 0)
        yield Write(self.status("Failed" if self.orders.run == "fail" else "Succeeded"))

    def begin_again(self, one: Container) -> Generator[Sleep | Write | Remove, None, bool]:
        """Pull, create and start a container; whether it runs."""
        yield from self._pull(one)
        why = self.home.wants.not_configured(self.pod, one.spec)
        if why:
            self.say(says.PULL_ERROR, one, why=why)
            one.wait("CreateContainerConfigError", why)
            yield Write(self.status("Pending"))
            return False
        yield from self.wait(self.home.stages.waits.create, f"start/{one.name}")
        self.begun(one)
        return True

    def begun(self, one: Container) -> None:
        """A container was created and, unless its image lacks what it is to run, started."""
        self.say(says.CREATED, one)
        one.start(self.now)
        lacks = self.home.scripts.lacks(self.pod, one, self.home.stages)
        if lacks:
            self.say(says.PULL_ERROR, one, why=lacks)
            one.end(self.now, UNSTARTED, "StartError", lacks)
            return
        self.say(says.RAN, one)
        one.started = not one.spec.get("startupProbe")
        task = one.ephemeral or (one.init and not one.sidecar)
        one.ready = not task and one.started and not one.spec.get("readinessProbe") and self.orders.run != "unready"
        if self.home.scripts.hooked(self.pod, one, self.home.stages.answers).code:
            # Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (startContainer), v1.34.
            self.say(says.HOOK_FAILED, one)
            self.say(says.HOOK_ENDS, one)
            one.end(self.now, KILLED)

    def hook(self, one: Container) -> None:
        """A container that runs is to end: its hook runs its command first."""
        if self.home.scripts.stopped(self.pod, one, self.home.stages.answers, self.unix_ms).code:
            # Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (executePreStopHook), v1.34.
            self.say(says.STOP_FAILED, one)

    def _pull(self, one: Container) -> Steps:
        image, policy = str(one.spec.get("image", "")), str(one.spec.get("imagePullPolicy") or "")
        while no_name := why_no_name(image):
            yield from self._refuse_name(one, image, no_name)
        rule = self.home.stages.of_image(image)
        while rule is not None and rule.pull == "missing":
            yield from self._fail_to_pull(one, image)
        began_ms = self.now_ms
        announced, took_ms, due_ms = self.machine.begin_pull(image, policy, began_ms)
        if announced:
            self.say(says.PULLING, one)
        yield from self.sleep(due_ms)
        waited_ms = self.now_ms - began_ms
        if announced:
            self.machine.arrived(image)
        took = seconds_text(min(took_ms, waited_ms) if took_ms else waited_ms)
        self.say(says.PULLED if announced else says.PRESENT, one, took=took, waited=seconds_text(waited_ms))
        self.home.arrived(self.machine)

    def _refuse_name(self, one: Container, image: str, why: str) -> Steps:
        self.say(says.NOT_INSPECTED, one, why=why)
        self.say(says.PULL_ERROR, one, why="InvalidImageName")
        if one.reason != "InvalidImageName":
            one.wait("InvalidImageName", why)
            yield Write(self.status())
        failures = self._failed_pulls[image] = self._failed_pulls.get(image, 0) + 1
        yield from self.sleep(self.now_ms + self.home.stages.pulls.ms(failures))

    def _fail_to_pull(self, one: Container, image: str) -> Steps:
        place = image_of(image).full
        why = (
            f'rpc error: code = NotFound desc = failed to pull and unpack image "{place}": failed to resolve reference '
            f'"{place}": {place}: not found'
        )
        self.say(says.PULLING, one)
        yield from self.sleep(self.now_ms + CHECK_MS)
        self.say(says.NOT_PULLED, one, why=why)
        self.say(says.PULL_ERROR, one, why="ErrImagePull")
        one.wait("ErrImagePull", why)
        yield Write(self.status())
        yield from self.wait(self.home.stages.waits.tell, f"pull/{one.name}")
        self.say(says.PULL_BACKOFF, one)
        self.say(says.PULL_ERROR, one, why="ImagePullBackOff")
        one.wait("ImagePullBackOff", f'Back-off pulling image "{image}": ErrImagePull: {why}')
        yield Write(self.status())
        failures = self._failed_pulls[image] = self._failed_pulls.get(image, 0) + 1
        yield from self.sleep(self.now_ms + self.home.stages.pulls.ms(failures))

    def _init(self, one: Container) -> Generator[Sleep | Write | Remove, None, bool]:
        """Run an init container until it lets the next one begin; whether it does."""
        while not one.done:
            if one.state != "running":
                if one.state == "terminated" or one.last:
                    if self.policy == "Never" and not one.sidecar:
                        yield Write(self.status("Failed"))
                        return False
                    yield from self._back_off(one)
                if not (yield from self.begin_again(one)):
                    return False
                if one.state == "terminated":
                    yield Write(self.status())
                    continue
            if one.sidecar:
                one.started = one.ready = True
                return True
            outcome, told = self.outcome(one), False
            while outcome is not None:
                if not told and (outcome.asks or outcome.ms > self.home.stages.waits.tell.base):
                    told = True
                    yield Write(self.status("Pending"))
                yield from self.sleep(unix_ms_of(one.started_at) - self.home.tick.epoch_ms + outcome.ms)
                if not outcome.asks:
                    break
                outcome = self.outcome(one)
            if outcome is None:
                yield Write(self.status("Pending"))
                return False
            one.end(self.now, outcome.code, outcome.reason, outcome.message)
            yield Write(self.status())
        return True

    def restart_ms(self, one: Container) -> tuple[int, int]:
        """Return (when a container that has ended did so, how long it waits before it is started again)."""
        restarts = self.home.stages.restarts
        ended = one.ended() if one.state == "terminated" else dict(one.last.get("terminated") or {})
        finished, started = ended.get("finishedAt"), ended.get("startedAt")
        finished_ms = unix_ms_of(finished) - self.home.tick.epoch_ms if finished else self.now_ms
        ran_ms = unix_ms_of(finished) - unix_ms_of(started) if finished and started else 0
        return finished_ms, 0 if restarts.reset and ran_ms >= restarts.reset else restarts.ms(one.restarts)

    def tell_crash(self, one: Container, wait_ms: int) -> Steps:
        """Say that a container waits before it is started again."""
        metadata = self.pod["metadata"]
        place = f"{metadata['name']}_{metadata['namespace']}({self.uid})"
        self.say(says.CRASHED, one)
        text = f"back-off {_go_seconds(wait_ms)} restarting failed container={one.name} pod={place}"
        one.wait("CrashLoopBackOff", text)
        yield Write(self.status())

    def _back_off(self, one: Container) -> Steps:
        """Wait before an init container that has ended is started again."""
        finished_ms, wait_ms = self.restart_ms(one)
        if one.state == "terminated":
            yield from self.wait(self.home.stages.waits.tell, f"restart/{one.name}")
            if wait_ms:
                yield from self.tell_crash(one, wait_ms)
        yield from self.sleep(max(self.now_ms, finished_ms + wait_ms))

    # -- the end ------------------------------------------------------------------------------------------------

    def end(self) -> Steps:
        """End the containers within the grace that they have, then let the pod go."""
        metadata, running = self.pod["metadata"], [one for one in self.containers.all if one.state == "running"]
        grace_ms = 1000 * int(metadata.get("deletionGracePeriodSeconds") or 0)
        held = bool(metadata.get("finalizers"))
        if held:
            # Without grace the pod goes at once; one that is held is seen to end, and that takes a moment.
            grace_ms = max(grace_ms, GRACE_MS_MIN)
        known = any(one.known for one in self.containers.all) and self.phase() not in ENDED_PHASES
        if known and grace_ms:
            asked_ms = self.home.asked_ms(self.uid)
            if asked_ms is None:
                asked_ms = self.now_ms
                for one in (*(one for one in running if not one.init), *(one for one in running if one.sidecar)):
                    self.say(says.STOPPING, one)
                    self.hook(one)
            own_ms = self.drawn(self.home.stages.waits.end, "pod-ended")
            yield Sleep(asked_ms + ending_ms(pre_stop_ms(self.pod), own_ms, grace_ms))
        if held:
            if self.phase() not in ENDED_PHASES:
                # Who holds the pod counts on knowing how it ended.
                self.kill(ENDED)
                yield Write(self.status("Failed"))
            if not metadata.get("deletionGracePeriodSeconds"):
                return
        yield Remove()


def revision_of(document: Mapping[str, Any]) -> int:
    """Return the version of an object as a number."""
    return int(document["metadata"].get("resourceVersion") or 0)


def _go_seconds(milliseconds: int) -> str:
    """Return whole seconds as Go writes a duration: `10s`, `2m40s`, `5m0s`."""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
