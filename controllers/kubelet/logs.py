"""What a container has printed: a function of its pod, the stages and the time, so that nothing is kept.

Source: pkg/kubelet/kubelet_pods.go (validateContainerLogStatus), pkg/registry/core/pod/strategy.go (validateContainer),
v1.34.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.kinds.clustersim.target import Target
from controllers.kubelet.keeping import Change
from controllers.kubelet.runs import AHEAD_MS
from controllers.kubelet.shell.asking import ASKING
from controllers.kubelet.shell.inside import Facts, Inside, look_inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.looking import PROGRAMS
from controllers.kubelet.shell.running import (
    FOREVER_MS,
    PLAIN,
    Asked,
    Came,
    Exit,
    Meant,
    Running,
    Send,
    TooLong,
    Waits,
    Watches,
    Wrote,
)
from controllers.kubelet.shell.tree import Unplayable
from controllers.kubelet.stages.answers import Answers, Printed
from controllers.log.stamps import unix_ms_of
from scheduler_core.api.containers import told_of
from scheduler_core.api.errors import ApiError, bad_request

SAMPLES: Final = 16
"""Requests to one place of which a script's log knows what came."""

LINES_MAX: Final = 10_000
"""Lines of a container's log; older ones are gone, as a node's rotation takes them."""

ENDED_HERE: Final = "clustersim: what this container prints is not simulated any further"

NOT_PLAYED: Final = "clustersim: this simulation cannot play the rest of this script: {}"

_SPECS: Final = ("containers", "initContainers", "ephemeralContainers")
_WAITING: Final = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class Line(NamedTuple):
    """A line at Unix `ms`, without its end."""

    ms: int
    fd: int
    text: str


class Run(NamedTuple):
    """A container from its start to its end, or on and on."""

    started_ms: int
    ended_ms: int | None


def chosen(pod: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the container that is meant.

    Raises:
        ApiError: 400, there is none of this name, or none is named of several.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    if not name and len(spec["containers"]) == 1:
        one: Mapping[str, Any] = spec["containers"][0]
        return one
    everything = [one for key in ("initContainers", "containers", "ephemeralContainers") for one in spec.get(key) or ()]
    if not name:
        names = " ".join(one["name"] for one in everything)
        text = f"a container name must be specified for pod {metadata['name']}, choose one of: [{names}]"
        raise bad_request(text)
    for one in everything:
        if one["name"] == name:
            return one
    raise bad_request(f"container {name[:253]} is not valid for pod {metadata['name']}")


def run_of(pod: Mapping[str, Any], name: str, *, previous: bool) -> Run:
    """Return the run of a container whose log is meant.

    Raises:
        ApiError: 400, it has not run.
    """
    told = told_of(pod, name)
    where = f'container "{name}" in pod "{pod["metadata"]["name"]}"'
    if not told:
        raise bad_request(f"{where} is not available")
    state, last = told.get("state") or {}, (told.get("lastState") or {}).get("terminated")
    if previous:
        if not last:
            raise bad_request(f"previous terminated {where} not found")
        return _ended(last)
    if state.get("running") is not None:
        return Run(unix_ms_of(state["running"]["startedAt"]), None)
    ended = state.get("terminated") or last
    if ended:
        return _ended(ended)
    reason = str((state.get("waiting") or {}).get("reason") or "")
    if not reason:
        raise bad_request(f"{where} is waiting to start - no logs yet")
    raise bad_request(f"{where} is waiting to start: {_WAITING.get(reason, reason)}")


def _ended(state: Mapping[str, Any]) -> Run:
    finished = state.get("finishedAt")
    ended_ms = unix_ms_of(finished) if finished else 0
    return Run(unix_ms_of(state["startedAt"]) if state.get("startedAt") else ended_ms, ended_ms)


class Sampled:
    """Sends a few of a script's requests and answers the others alike.

    Whenever somebody looks, a script is told from its beginning: it may have sent a hundred thousand by then.
    """

    def __init__(self, send: Send) -> None:
        """Send nothing yet."""
        self._send = send
        self._came: dict[tuple[Target, Asked], list[Came]] = {}
        self._asked = 0

    def __call__(self, target: Target, asked: Asked = PLAIN) -> Came:
        """Return what comes of a request, or what has come of one like it; what is known is renewed bit by bit."""
        self._asked += 1
        came = self._came.setdefault((target, asked), [])
        if len(came) < SAMPLES:
            came.append(self._send(target, asked))
            return came[-1]
        if self._asked % SAMPLES == 0:
            came.append(self._send(target, asked))
            del came[0]
        return came[self._asked % SAMPLES]

    def look_up(self, host: str) -> Meant | None:
        """Return what a name means."""
        return self._send.look_up(host)


class Printer:
    """What one run of a container prints, in order of time; it goes on from where it was."""

    def __init__(
        self,
        pod: Mapping[str, Any],
        container: Mapping[str, Any],
        run: Run,
        facts: Facts,
        answers: Answers,
        send: Send | None = None,
        around: Sequence[Change] = (),
        fails: Sequence[str] = (),
    ) -> None:
        """Begin before the first line.

        `send` sends the requests that its commands make; `around` is what others do to its files, in order of time;
        `fails` is what it says when it ends since it cannot listen.
        """
        inside = look_inside(pod, container, facts, answers)
        name = inside.words[0].rpartition("/")[2] if inside.words else ""
        scripted = (name in PROGRAMS and inside.has(name)) or inside.is_script(inside.words)
        if send is not None and name not in ASKING:
            send = Sampled(send)
        self.again_ms = 0 if around else FOREVER_MS
        """When (Unix) it has to be told what others do to its files from then on."""
        self._script = _Script(inside, run.started_ms, send, around) if scripted else None
        self._printed = None if scripted else answers.of_logs(inside.image)
        if fails:
            self._printed = Printed(inside.image, start=tuple(fails))
        self._started_ms = run.started_ms
        self._told_ms = run.started_ms - 1
        metadata = pod["metadata"]
        self._names = {
            "image": inside.image,
            "container": str(container["name"]),
            "pod": str(metadata["name"]),
            "namespace": str(metadata["namespace"]),
            "node": str(pod["spec"].get("nodeName") or ""),
            "ip": inside.address,
        }

    def look_again(self, around: Sequence[Change], unix_ms: int) -> None:
        """Take what others do to its files after what is known of that; `unix_ms` is the present."""
        self.again_ms = unix_ms + AHEAD_MS // 2
        if self._script is not None:
            self._script.look_again(around)

    def upto(self, until_ms: int, ended_ms: int | None) -> list[Line]:
        """Return the lines that follow, up to Unix `until_ms`; `ended_ms` is when the container ended, if it has."""
        over = ended_ms is not None and until_ms >= ended_ms
        until_ms = until_ms if ended_ms is None else min(until_ms, ended_ms)
        if self._script is not None:
            lines = self._script.upto(until_ms, over=over)
        else:
            lines = list(self._of_image(until_ms, over=over))
        self._told_ms = max(self._told_ms, until_ms)
        return lines[-LINES_MAX:]

    def _of_image(self, until_ms: int, *, over: bool) -> Iterator[Line]:
        printed, begun_ms = self._printed, self._started_ms
        if printed is None:
            return
        if self._told_ms < begun_ms <= until_ms:
            for text in printed.start:
                yield Line(begun_ms, 1, filled(text, self._names))
        if printed.every is not None:
            period_ms = 1000 * printed.every.seconds
            told, count = max(0, self._told_ms - begun_ms) // period_ms, max(0, until_ms - begun_ms) // period_ms
            for number in range(max(told, count - LINES_MAX) + 1, count + 1):
                text = filled(printed.every.line, {**self._names, "n": str(number)})
                yield Line(begun_ms + number * period_ms, 1, text)
        if over:
            for text in printed.stop:
                yield Line(until_ms, 2, filled(text, self._names))


def filled(text: str, names: Mapping[str, str]) -> str:
    """Return a line with names in the place of `{name}`; other brackets stay."""
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text


class _Script:
    """What a shell script prints, in the time that it takes."""

    def __init__(self, inside: Inside, started_ms: int, send: Send | None, around: Sequence[Change]) -> None:
        shell = Shell(inside, PROGRAMS, started_ms, dict(inside.environment), inside.folder, lenient=True, send=send)
        self._shell, self._coming = shell, deque(around)
        self._known_ms = around[-1].ms if around else started_ms
        self._running: Running | None = shell.call(inside.words)
        self._now_ms = started_ms
        self._open = {1: "", 2: ""}

    def look_again(self, around: Sequence[Change]) -> None:
        fresh = [one for one in around if one.ms > self._known_ms]
        if fresh:
            self._coming.extend(fresh)
            self._known_ms = fresh[-1].ms

    def upto(self, until_ms: int, *, over: bool) -> list[Line]:
        found: list[Line] = []
        try:
            while self._running is not None and self._now_ms <= until_ms:
                while self._coming and self._coming[0].ms <= self._now_ms:
                    change = self._coming.popleft()
                    self._shell.change(change.path, change.text, more=change.more)
                one = next(self._running)
                if isinstance(one, Watches):
                    self._now_ms = self._coming[0].ms if self._coming else self._now_ms + FOREVER_MS
                    continue
                if not isinstance(one, Wrote):
                    # Nobody sends anything to it, so it reads nothing.
                    self._now_ms += one.ms if isinstance(one, Waits) else 0
                    continue
                *whole, self._open[one.fd] = (self._open[one.fd] + one.text).split("\n")
                found += [Line(self._now_ms, one.fd, text) for text in whole]
                if len(found) > 2 * LINES_MAX:
                    del found[:LINES_MAX]
        except (StopIteration, Exit):
            self._running = None
        except TooLong:
            self._running = None
            found.append(Line(self._now_ms, 2, ENDED_HERE))
        except (Unplayable, RecursionError) as problem:
            self._running = None
            why = str(problem) if isinstance(problem, Unplayable) else "it is too deep"
            found.append(Line(self._now_ms, 2, NOT_PLAYED.format(why)))
        if over or self._running is None:
            found += [Line(min(self._now_ms, until_ms), fd, text) for fd, text in self._open.items() if text]
            self._open = {1: "", 2: ""}
        return found


def cut(lines: Sequence[Line], *, since_ms: int | None = None, tail: int | None = None) -> list[Line]:
    """Return the lines from a moment on, and of them the last so many."""
    kept = [line for line in lines if since_ms is None or line.ms >= since_ms]
    return kept if tail is None else kept[len(kept) - min(tail, len(kept)) :]


def refuse_exec(pod: Mapping[str, Any], name: str) -> None:
    """Refuse to run a command in a container that does not run.

    Raises:
        ApiError: 400, the pod is on no node; 404, its container does not run.
    """
    if not pod["spec"].get("nodeName"):
        raise bad_request(f"pod {pod['metadata']['name']} does not have a host assigned")
    if (told_of(pod, name).get("state") or {}).get("running") is None:
        raise ApiError(404, "NotFound", f'unable to upgrade connection: container not found ("{name}")')
