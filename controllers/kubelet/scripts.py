"""What a container's own script comes to: how long it runs, with what it ends and what it leaves behind.

It is played as `kubectl logs` prints it. What it writes in its volumes is there for its next run and for whoever mounts
them too, as long as the kubelet keeps its memory. A script that calls what is not known here comes to nothing known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from controllers.kit.informer import Informers
from controllers.kubelet.containers import Container
from controllers.kubelet.outcomes import LONGEST_MS, SHELLS, Outcome
from controllers.kubelet.shell.disk import LAST_WORD
from controllers.kubelet.shell.inside import look_inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.looking import PROGRAMS, REFUSED
from controllers.kubelet.shell.running import FOREVER_MS, Exit, Running, TooLong, Waits, Wrote
from controllers.kubelet.stages.answers import Answers

STEPS_MAX: Final = 500
"""Commands of one run that are played; a script that does more runs on and on."""

FILES_MAX: Final = 64
"""Files that are kept of a volume."""

VOLUMES_MAX: Final = 1_000
"""Volumes of which files are kept; the oldest are forgotten."""

MESSAGE_LENGTH_MAX: Final = 4096
LOG_LENGTH_MAX: Final = 2048
"""Letters of what a container leaves behind as its last word; of its log where it leaves nothing.

Source: pkg/kubelet/container (MaxContainerTerminationMessageLength, …LogLength), v1.34.
"""

_ELSEWHERE: Final = ("nslookup", "ps", *REFUSED)
"""Programs that look at more than the kubelet knows."""

_KNOWN: Final = {name: program for name, program in PROGRAMS.items() if name not in _ELSEWHERE}
_WATCHED: Final = ("configmaps", "nodes", "secrets")

Files = dict[str, str]
"""Path within a volume → text."""


class Scripts:
    """What the scripts of all pods of a kubelet have come to, and the volumes that they have written in."""

    def __init__(self, informers: Informers) -> None:
        """Begin with empty memory over what the kubelet watches."""
        self._informers = informers
        self._played: dict[str, dict[tuple[str, int], Outcome | None]] = {}
        self._volumes: dict[str, Files] = {}

    def forget(self, uid: str) -> None:
        """A pod is gone, and what only it had."""
        self._played.pop(uid, None)
        self._volumes = {key: files for key, files in self._volumes.items() if not key.startswith(f"{uid}/")}

    def outcome(self, pod: Mapping[str, Any], container: Container, answers: Answers, unix_ms: int) -> Outcome | None:
        """Return what this run of a container comes to, longer than `LONGEST_MS` where it runs on; None: not known."""
        words = (*(container.spec.get("command") or ()), *(container.spec.get("args") or ()))
        scripted = len(words) > 2 and str(words[0]).rpartition("/")[2] in SHELLS and str(words[1]).endswith("c")
        if not scripted or container.spec.get("stdin"):
            return None
        played = self._played.setdefault(str(pod["metadata"]["uid"]), {})
        run = (container.name, container.restarts)
        if run not in played:
            played[run] = self._play(pod, container, answers, unix_ms)
        return played[run]

    def _play(self, pod: Mapping[str, Any], container: Container, answers: Answers, unix_ms: int) -> Outcome | None:
        inside = look_inside(pod, container.spec, self, answers)
        if not inside.has(inside.words[0].rpartition("/")[2]):
            return None
        if container.restarts:
            inside = replace(inside, uid=f"{inside.uid}/{container.restarts}")
        mounted = self._mounted(pod, container.spec)
        written = {f"{path}/{name}": text for path, files in mounted.items() for name, text in files.items()}
        shell = Shell(
            inside, _KNOWN, unix_ms, dict(inside.environment), inside.folder, written=written, steps_left=STEPS_MAX,
            lenient=True,
        )  # fmt: skip
        try:
            outcome = _ended(shell.call(inside.words), shell, container.spec)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
            return None  # what cannot be played is no fault of the kubelet
        for path, files in mounted.items():
            kept = {
                name.removeprefix(f"{path}/"): text
                for name, text in shell.written.items()
                if name.startswith(f"{path}/") and name not in shell.removed
            }
            files.clear()
            files.update(list(kept.items())[:FILES_MAX])
        return None if shell.unknown else outcome

    def _mounted(self, pod: Mapping[str, Any], container: Mapping[str, Any]) -> dict[str, Files]:
        """Return mount path → files, of the volumes that keep what is written."""
        volumes = {one.get("name"): one for one in pod["spec"].get("volumes") or ()}
        found: dict[str, Files] = {}
        for mount in container.get("volumeMounts") or ():
            volume = volumes.get(mount.get("name")) or {}
            if "emptyDir" in volume:
                key = f"{pod['metadata']['uid']}/{volume['name']}"
            elif "hostPath" in volume:
                key = f"{pod['spec'].get('nodeName')}:{volume['hostPath'].get('path')}"
            else:
                continue
            path = "/" + str(mount.get("mountPath", "")).strip("/")
            found[path] = self._volumes.setdefault(f"{key}/{mount.get('subPath') or ''}", {})
        while len(self._volumes) > VOLUMES_MAX:
            del self._volumes[next(iter(self._volumes))]
        return found

    # -- what containers see of the API -------------------------------------------------------------------------

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return an object that the kubelet watches."""
        return self._informers[resource].get(namespace, name) if resource in _WATCHED else None

    def list(self, resource: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """Return nothing: what is listed in an environment are Services, which the kubelet does not watch here."""
        return ()


def _ended(running: Running, shell: Shell, container: Mapping[str, Any]) -> Outcome:
    """Play a script to its end, or until it is clear that it runs on and on."""
    passed_ms, printed = 0, ""
    try:
        while passed_ms <= LONGEST_MS:
            one = next(running)
            if isinstance(one, Wrote):
                printed = (printed + one.text)[-LOG_LENGTH_MAX:]
            elif isinstance(one, Waits):
                passed_ms += one.ms
    except StopIteration as end:
        code = int(end.value)
    except Exit as end:
        code = end.code
    except TooLong:
        return Outcome(FOREVER_MS, 0)
    else:
        return Outcome(FOREVER_MS, 0)
    message = shell.read(str(container.get("terminationMessagePath") or LAST_WORD)) or ""
    if not message and code and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
        message = printed
    return Outcome(passed_ms, code, message=message[:MESSAGE_LENGTH_MAX])
