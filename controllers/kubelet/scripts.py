"""What a container's own script comes to: how long it runs, with what it ends and what it leaves behind.

It is played as `kubectl logs` prints it, as far as it is known (`runs`). What it writes and removes is there, at its
time, for commands in the container and for probes that are commands; in a volume also for its next run and for whoever
mounts it too, and what it leaves in the volume of a claim outlives its pod (`left`). A script that calls what is not
known here comes to nothing known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from posixpath import normpath
from typing import Any, Final

from controllers.kinds.core.commands import SHELLS, script_of
from controllers.kinds.core.service_names import service_of_name
from controllers.kit.informer import Informers
from controllers.kit.pods import claims_of_pod
from controllers.kubelet.containers import Container, Containers
from controllers.kubelet.keeping import Change, Kept, Mount, folded, kept_by, mount_of, mounts_of
from controllers.kubelet.needs import Need, needs_of
from controllers.kubelet.outcomes import Outcome
from controllers.kubelet.playing import ASKED, UNHOOKED, Hooked, Probed, ask, hook
from controllers.kubelet.runs import Run, begin
from controllers.kubelet.shell.inside import Facts, Inside, look_inside
from controllers.kubelet.shell.running import FOREVER_MS
from controllers.kubelet.stages.answers import Answers
from controllers.kubelet.stages.pods import Stages
from controllers.kubelet.wire import NOWHERE, Present, Sending
from controllers.log.stamps import unix_ms_of
from controllers.registry.gotext import quoted

WRITERS_MAX: Final = 16
"""Runs whose doings in a volume are told apart; of older ones the last state of each file is kept."""

FILES_MAX: Final = 64
"""Files that are kept of a volume's older runs."""

VOLUMES_MAX: Final = 1_000
"""Volumes of which files are kept; the oldest are forgotten."""

MOMENTS_MAX: Final = 64
"""Moments that are told at once at which files change that a loop writes on and on."""

LOOKS: Final = frozenset({"cat", "ls"})
"""Programs that are played alone, since they fail where a file is not there."""

CLAIMS: Final = "persistentvolumeclaims"

_UNSTARTED: Final = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process: error during container init:"
)

_WATCHED: Final = ("configmaps", "nodes", CLAIMS, "secrets", "services")


class Watched:
    """What containers see of the API through what a kubelet watches."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        informers["services"].add_index("namespace", lambda service: (service["metadata"]["namespace"],))

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return an object that the kubelet watches."""
        return self._informers[resource].get(namespace, name) if resource in _WATCHED else None

    def list(self, resource: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a resource in a namespace: what an environment lists are Services."""
        return self._informers[resource].indexed("namespace", namespace) if resource == "services" else ()

    def at(self, unix_ms: int) -> Watched:
        """Return what there is now: a kubelet plays a script when its container starts."""
        return self


class Scripts:
    """What the scripts of all pods of a kubelet have come to, and the volumes that they have written in."""

    def __init__(self, facts: Facts, present: Callable[[], Present] | None = None) -> None:
        """Begin with empty memory. `present` tells the present; None: of the network nothing is known."""
        self._facts, self._present = facts, present
        self._played: dict[str, dict[tuple[str, int], Run]] = {}
        self._hooked: dict[str, dict[tuple[str, int], Hooked]] = {}
        self.waiting: dict[str, None] = {}
        """Uids of pods in which a loop may wait that asks again and again."""
        self._volumes: dict[str, dict[tuple[str, ...], list[Change]]] = {}
        """Volume → who wrote there → what was done, by paths in the volume."""
        self._seen_ms = 0
        """Up to when somebody looks who knows no network (Unix)."""

    def forget(self, uid: str) -> None:
        """A pod is gone, and what only it had."""
        self._played.pop(uid, None)
        self._hooked.pop(uid, None)
        self.waiting.pop(uid, None)
        self._volumes = {key: files for key, files in self._volumes.items() if not key.startswith(f"{uid}/")}

    def left(self, pod: Mapping[str, Any], answers: Answers, unix_ms: int) -> dict[str, list[Kept]]:
        """Return claim → what a pod that goes now has left in its volume; what it had yet to do never happens."""
        uid, namespace = str(pod["metadata"]["uid"]), str(pod["metadata"]["namespace"])
        claims = dict.fromkeys(claims_of_pod(pod))
        found: dict[str, list[Kept]] = {}
        if claims:
            self._play_all(pod, answers)
        for claim in claims:
            writers = self._volumes.get(f"claim/{claim}", {})
            for by in [by for by in writers if by[:1] == (uid,)]:
                writers[by] = [one for one in writers[by] if one.ms <= unix_ms]
                left = [Kept(one.path, one.ms, one.text) for one in folded(writers[by]).values()]
                if left:
                    found.setdefault(claim.removeprefix(f"{namespace}/"), []).extend(left)
        return found

    def outcome(self, pod: Mapping[str, Any], container: Container, answers: Answers, unix_ms: int) -> Outcome | None:
        """Return what this run of a container comes to, longer than `LONGEST_MS` where it runs on; None: not known."""
        words = [str(word) for word in (*(container.spec.get("command") or ()), *(container.spec.get("args") or ()))]
        name = words[0].rpartition("/")[2] if words else ""
        plays = name in LOOKS or (self._present is not None and name in ASKED)
        if not plays and not self._is_script(pod, container.spec, words, answers):
            return None
        return self._run(pod, container, answers, unix_ms).outcome

    def needs(self, pod: Mapping[str, Any], container: Mapping[str, Any], answers: Answers) -> tuple[Need, ...]:
        """Return the Services that a container's script waits for."""
        return needs_of(look_inside(pod, container, self._facts, answers))

    def look_again(self, place: tuple[str, str] | None) -> list[str]:
        """Return the uids of the pods in which a loop asks anew now, since a Service has changed (namespace, name).

        None: something has changed that may let through a request to any of them.
        """
        if not self.waiting:
            return []
        assert self._present is not None, "without a network nothing waits for it"
        unix_ms, woken = self._present().unix_ms, []
        for uid in list(self.waiting):
            waiting = [run for run in self._played.get(uid, {}).values() if run.waits is not None]
            if not waiting:
                del self.waiting[uid]
            asked = [run for run in waiting if place is None or place in _places(run)]
            for run in asked:
                run.look_again(unix_ms)
            if asked:
                woken.append(uid)
        return woken

    def lacks(self, pod: Mapping[str, Any], container: Container, stages: Stages) -> str:
        """Return why a container cannot be started, as its runtime says it; empty: nothing is known to be amiss.

        Source: github.com/opencontainers/runc, as containerd passes it on.
        """
        image = str(container.spec.get("image", ""))
        words = container.spec.get("command") or (stages.is_shell(image) and container.spec.get("args")) or ()
        program = str(next(iter(words), ""))
        folder, _, name = program.rpartition("/")
        spaced = any(letter.isspace() for letter in program)
        missing = folder in ("", "/bin", "/usr/bin") and stages.answers.lacks(image, name)
        missing = missing or (spaced and "$(" not in program)
        inside = look_inside(pod, container.spec, self._facts, stages.answers)
        if not (missing or _is_missing(inside, program)) or inside.is_script([program]):
            return ""
        found = f"stat {program}: no such file or directory" if "/" in program else "executable file not found in $PATH"
        return f"{_UNSTARTED} exec: {quoted(program)}: {found}"

    def hooked(self, pod: Mapping[str, Any], container: Container, answers: Answers) -> Hooked:
        """Return what `lifecycle.postStart` of this run of a container comes to, where it is a command."""
        words = _words_of_hook(container.spec, "postStart")
        if not words or not container.started_at:
            return UNHOOKED
        known = self._hooked.setdefault(str(pod["metadata"]["uid"]), {})
        key = (container.name, container.restarts)
        if key not in known:
            known.pop((container.name, container.restarts - 2), None)
            inside = look_inside(pod, container.spec, self._facts, answers)
            known[key] = hook(inside, words, _begun_ms(container))
        return known[key]

    def stopped(self, pod: Mapping[str, Any], container: Container, answers: Answers, unix_ms: int) -> Hooked:
        """Run the command of `lifecycle.preStop`, now that a container is to end; return what it comes to.

        What it writes in volumes is there from then on; nobody sees what else it writes.
        """
        words = _words_of_hook(container.spec, "preStop")
        if not words or not container.started_at:
            return UNHOOKED
        files = self.disk(pod, container, answers, unix_ms)
        hooked = hook(look_inside(pod, container.spec, self._facts, answers), words, unix_ms, files)
        by = (str(pod["metadata"]["uid"]), container.name, str(container.restarts), "preStop")
        self._note(pod, mounts_of(pod, container.spec), by, hooked.changes)
        return hooked

    def disk(
        self, pod: Mapping[str, Any], container: Container, answers: Answers, unix_ms: int
    ) -> dict[str, str | None]:
        """Return path → text of what was written in a container by a moment; None where a file was removed."""
        self._seen_ms = max(self._seen_ms, unix_ms)
        done = (one for one in self._doings(pod, container, answers) if one.ms <= unix_ms)
        return {path: one.text for path, one in folded(done).items()}

    def others(self, pod: Mapping[str, Any], container: Container, answers: Answers, unix_ms: int = 0) -> list[Change]:
        """Return what others than a container's own run do to its files, in order of time, up to some time from now."""
        self._seen_ms = max(self._seen_ms, unix_ms)
        self._play_all(pod, answers)
        return self._around(pod, container, mounts_of(pod, container.spec), answers)

    def moments(self, pod: Mapping[str, Any], container: Container, answers: Answers, after_ms: int) -> list[int]:
        """Return when (Unix) files of a container change of themselves after a moment, in order."""
        found = {one.ms for one in self._doings(pod, container, answers)}
        found.add(self._known_ms(pod, container, answers))
        moments = sorted(ms for ms in found if after_ms < ms < FOREVER_MS)
        return moments[:MOMENTS_MAX] if self.rests(str(pod["metadata"]["uid"])) else moments

    def rests(self, uid: str) -> bool:
        """Return whether more becomes known of a pod's files as time goes on."""
        return any(run.rests for run in self._played.get(uid, {}).values())

    def probed(
        self, pod: Mapping[str, Any], container: Container, probe: Mapping[str, Any], answers: Answers, unix_ms: int
    ) -> Probed | None:
        """Return what a probe's command finds at a moment; None where that cannot be told."""
        words = [str(word) for word in (probe.get("exec") or {}).get("command") or ()]
        if not words:
            return None
        inside = look_inside(pod, container.spec, self._facts, answers)
        files = self.disk(pod, container, answers, unix_ms)
        known = unix_ms < self._known_ms(pod, container, answers)
        return ask(inside, words, files, unix_ms, 1000 * int(probe.get("timeoutSeconds") or 1), known=known)

    def _is_script(
        self, pod: Mapping[str, Any], container: Mapping[str, Any], words: Sequence[str], answers: Answers
    ) -> bool:
        """Return whether a container is started with a script: told at once, or in a file."""
        if script_of(words):
            return True
        if words and words[0].rpartition("/")[2] in SHELLS:
            return len(words) > 1
        return "/" in "".join(words[:1]) and look_inside(pod, container, self._facts, answers).is_script(words)

    # -- runs ---------------------------------------------------------------------------------------------------

    def _run(self, pod: Mapping[str, Any], container: Container, answers: Answers, unix_ms: int) -> Run:
        """Return what a run of a container has come to, played anew where others have changed its files."""
        uid = str(pod["metadata"]["uid"])
        played = self._played.setdefault(uid, {})
        key = (container.name, container.restarts)
        mounts = mounts_of(pod, container.spec)
        around = tuple(self._around(pod, container, mounts, answers))
        run = played.get(key)
        is_new = run is None or run.around != around
        if run is None or is_new:
            inside = look_inside(pod, container.spec, self._facts, answers)
            if container.restarts:
                inside = replace(inside, uid=f"{inside.uid}/{container.restarts}")
            sending = None if run is None else run.sending
            if sending is None and self._present is not None:
                sending = Sending(dict(pod), f"{uid}/{container.name}/{container.restarts}")
            run = played[key] = begin(inside, container.spec, around, unix_ms, sending)
            older = played.get((container.name, container.restarts - 2))
            if older is not None and older.sending is not None:
                older.sending.forget()
        if not self._go_on(run, pod) and not is_new:
            return run
        by = (uid, container.name, str(container.restarts))
        self._note(pod, mounts, by, run.changes)
        hooked = self.hooked(pod, container, answers).changes
        if hooked:
            self._note(pod, mounts, (*by, "postStart"), hooked)
        return run

    def _note(
        self, pod: Mapping[str, Any], mounts: Sequence[Mount], by: tuple[str, ...], changes: Sequence[Change]
    ) -> None:
        """Keep what somebody does in volumes."""
        for mount in mounts:
            inner = [one._replace(path=mount.inner(one.path)) for one in changes if mount_of(mounts, one.path) == mount]
            writers = self._volumes.setdefault(_volume_key(pod, mount), {})
            writers.pop(by, None)
            if inner:
                writers[by] = inner
                if len(writers) > WRITERS_MAX:
                    _fold(writers)
        while len(self._volumes) > VOLUMES_MAX:
            del self._volumes[next(iter(self._volumes))]

    def _go_on(self, run: Run, pod: Mapping[str, Any]) -> bool:
        """Play a run on up to the present; whether there was anything to play."""
        if run.player is None:
            return False
        if run.sending is not None:
            run.sending.pod = dict(pod)
        on = run.go_on(NOWHERE._replace(unix_ms=self._seen_ms) if self._present is None else self._present())
        if run.waits is not None:
            self.waiting[str(pod["metadata"]["uid"])] = None
        return on

    def _doings(self, pod: Mapping[str, Any], container: Container, answers: Answers) -> list[Change]:
        """Return all that is done to a container's files in this run, in order of time."""
        self._play_all(pod, answers)
        run = self._run(pod, container, answers, _begun_ms(container))
        return sorted((*run.changes, *run.around), key=lambda one: one.ms)

    def _play_all(self, pod: Mapping[str, Any], answers: Answers) -> None:
        """Play what may have written in volumes that containers share, with those of other pods too."""
        shared = _shared(pod)
        if shared:
            uid, namespace = pod["metadata"]["uid"], str(pod["metadata"]["namespace"])
            for other in self._facts.list("pods", namespace):
                if other["metadata"]["uid"] != uid and shared & _shared(other):
                    self._play_own(other, answers)
        if pod["spec"].get("volumes"):
            self._play_own(pod, answers)

    def _play_own(self, pod: Mapping[str, Any], answers: Answers) -> None:
        containers = Containers(pod)
        for one in (*containers.inits, *containers.mains):
            before = one.last.get("terminated") or {}
            if one.restarts and before.get("startedAt"):
                runs, began = one.restarts - 1, before["startedAt"]
                earlier = Container(one.spec, one.pod_uid, one.init, restarts=runs, started_at=began)
                self._run(pod, earlier, answers, _begun_ms(earlier))
            if one.started_at:
                self._run(pod, one, answers, _begun_ms(one))

    def _known_ms(self, pod: Mapping[str, Any], container: Container, answers: Answers) -> int:
        """Return from when on (Unix) it is not known what becomes of a container's files."""
        own = self._run(pod, container, answers, _begun_ms(container)).known_ms
        if not mounts_of(pod, container.spec):
            return own
        others = self._played.get(str(pod["metadata"]["uid"]), {}).values()
        return min([own, *(one.known_ms for one in others)])

    def _around(
        self, pod: Mapping[str, Any], container: Container, mounts: Sequence[Mount], answers: Answers
    ) -> list[Change]:
        """Return what others than a container's own run do to its files, in order of time."""
        uid = str(pod["metadata"]["uid"])
        hooked = self.hooked(pod, container, answers).changes
        found = [one for one in hooked if mount_of(mounts, one.path) is None]
        of_pod = kept_by(pod)
        for one in of_pod:
            if (one.container, one.run) == (container.name, container.restarts) and not one.volume:
                found.append(Change(one.ms, one.path, one.text))
        for mount in mounts:
            writers = self._volumes.get(_volume_key(pod, mount), {})
            own = (uid, container.name, str(container.restarts))
            inner = [one for by, changes in writers.items() if by != own for one in changes]
            kept = of_pod
            if mount.claim:
                kept = kept_by(self._facts.get(CLAIMS, str(pod["metadata"]["namespace"]), mount.claim))
            name = "" if mount.claim else mount.volume
            inner += [Change(one.ms, one.path, one.text) for one in kept if one.volume == name and not one.container]
            for change in inner:
                path = mount.outer(change.path)
                if path is not None:
                    found.append(change._replace(path=path))
        return sorted(found, key=lambda one: one.ms)


def _is_missing(inside: Inside, program: str) -> bool:
    """Return whether what a container is to run is not there for sure."""
    folder, slash, name = program.rpartition("/")
    if not name or "$(" in program or inside.answer([program]) is not None:
        return False
    if folder in ("", "/bin", "/usr/bin") and (slash == "" or folder):
        return inside.leaves_out(name)
    path = normpath(f"{inside.folder}/{program}" if folder[:1] != "/" and not program.startswith("/") else program)
    return path not in inside.files and inside.leaves_free(path, at_first=True)


def _places(run: Run) -> set[tuple[str, str] | None]:
    """Return (namespace, name) of the Services that a loop asks."""
    if run.waits is None or run.sending is None:
        return set()
    namespace = str(run.sending.pod["metadata"]["namespace"])
    return {service_of_name(host, namespace) for host in run.waits.hosts}


def _words_of_hook(container: Mapping[str, Any], when: str) -> list[str]:
    handler = (container.get("lifecycle") or {}).get(when) or {}
    return [str(word) for word in (handler.get("exec") or {}).get("command") or ()]


def _begun_ms(container: Container) -> int:
    return unix_ms_of(container.started_at) if container.started_at else 0


def _shared(pod: Mapping[str, Any]) -> set[str]:
    """Return what names those of a pod's volumes that other pods may mount too."""
    containers = (*(pod["spec"].get("initContainers") or ()), *(pod["spec"].get("containers") or ()))
    keys = {_volume_key(pod, mount) for container in containers for mount in mounts_of(pod, container)}
    return {key for key in keys if key.startswith(("claim/", "node/"))}


def _volume_key(pod: Mapping[str, Any], mount: Mount) -> str:
    """Return what names a volume's content: of a pod, of a claim, of a node."""
    if mount.claim:
        return f"claim/{pod['metadata']['namespace']}/{mount.claim}"
    volume = next(one for one in pod["spec"]["volumes"] if one.get("name") == mount.volume)
    if "hostPath" in volume:
        return f"node/{pod['spec'].get('nodeName')}:{volume['hostPath'].get('path')}"
    return f"{pod['metadata']['uid']}/{mount.volume}"


def _fold(writers: dict[tuple[str, ...], list[Change]]) -> None:
    """Make one of the two oldest writers of a volume: what was there after them."""
    first, second, *_ = writers
    both = sorted((*writers.pop(first), *writers.pop(second)), key=lambda one: one.ms)
    left = folded(both)
    rest = dict(writers)
    writers.clear()
    writers[()] = sorted(left.values(), key=lambda one: one.ms)[-FILES_MAX:]
    writers.update(rest)
