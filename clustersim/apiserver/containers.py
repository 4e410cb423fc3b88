"""What clients ask of containers (log, exec, attach): answered from the stages, since nothing runs in them.

Source: pkg/registry/core/pod/rest (log.go, subresources.go), ValidatePodLogOptions, each ResourceLocation, v1.34.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from clustersim.apiserver import protocols
from clustersim.apiserver.asking import Wire
from clustersim.apiserver.keeping import Keeper
from clustersim.apiserver.messages import Request, Response
from clustersim.apiserver.routes import Target
from clustersim.apiserver.virtual import ReadView
from clustersim.apiserver.within import Answered, Within
from clustersim.feed.hub import in_thread
from clustersim.store import open_store
from clustersim.store.history import last_before
from controllers.kubelet.containers import Containers
from controllers.kubelet.logs import LINES_MAX, Line, Printer, Run, chosen, cut, refuse_exec, run_of
from controllers.kubelet.outcomes import only_reads
from controllers.kubelet.ports import taken
from controllers.kubelet.scripts import Scripts
from controllers.kubelet.shell.inside import Facts, look_inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.looking import PROGRAMS
from controllers.kubelet.shell.shebang import SHELLS
from controllers.kubelet.stages.pods import STAGES_NAME, STAGES_NAMESPACE, STAGES_RESOURCE, Stages, stages_in
from controllers.log.stamps import unix_ms_of, wire_time
from controllers.log.store import Gone
from controllers.registry import fields
from scheduler_core.api.containers import told_of
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid, not_found

LOOK_SECONDS: Final = 1.0
"""How often a log that is followed is looked at."""

COMMAND_LENGTH_MAX: Final = 64 * 1024
"""Characters of a command's words."""

TEXT_PLAIN: Final = "text/plain; charset=utf-8"

NO_WEBSOCKET: Final = "this server answers by websocket alone ({}), which kubectl speaks from 1.31 on"


class StoreFacts:
    """A session's objects, for what containers see of them."""

    def __init__(self, view: ReadView) -> None:
        self._view = view

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return an object; None where there is none."""
        stored = self._view.get(resource, namespace, name)
        return None if stored is None else stored.object

    def list(self, resource: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a resource in a namespace."""
        return [stored.object for stored in self._view.list(resource, namespace)[0]]

    def at(self, unix_ms: int) -> Facts:
        """Return the objects as they were at the end of a second; as they are where that is compacted."""
        view = self._view
        try:
            revision = last_before(view.store, unix_ms // 1000 * 1000 + 1000 - view.epoch_ms, view.revision)
        except Gone:
            return self
        return self if revision <= view.compacted else _FormerFacts(view, revision)


class _FormerFacts(StoreFacts):
    """A session's objects as of a kept revision; those that have not changed since are not looked for in the past."""

    def __init__(self, view: ReadView, revision: int) -> None:
        super().__init__(view)
        self._revision = revision

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return an object; None where there was none."""
        stored = self._view.get(resource, namespace, name)
        if stored is not None and stored.revision <= self._revision:
            return stored.object
        return next((one for one in self.list(resource, namespace) if one["metadata"]["name"] == name), None)

    def list(self, resource: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """Return the objects that a namespace had."""
        try:
            return [stored.object for stored in self._view.list_at(resource, self._revision, namespace)]
        except Gone:
            return super().list(resource, namespace)


@dataclass(frozen=True, slots=True)
class LogPlan:
    """A log that is asked for; `chunks` follows it."""

    session_id: int
    resource: str
    namespace: str
    name: str
    uid: str
    container: str
    run: Run
    printer: Printer
    timestamps: bool
    since_ms: int | None
    tail: int | None
    content_type: str = TEXT_PLAIN

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield what there is, then what comes, until the container has ended."""
        tail = self.tail
        while True:
            lines, over = await in_thread(self._more)
            yield _bytes(cut(lines, since_ms=self.since_ms, tail=tail), self.timestamps)
            if over:
                return
            tail = None
            await asyncio.sleep(LOOK_SECONDS)

    def _more(self) -> tuple[list[Line], bool]:
        view = ReadView(open_store(self.session_id))
        stored = view.get(self.resource, self.namespace, self.name)
        now_ms = view.unix_ms()
        if stored is None or stored.uid != self.uid:
            return self.printer.upto(now_ms, now_ms), True
        ended_ms = _ended_ms(stored.object, self.container, self.run)
        if now_ms >= self.printer.again_ms:
            one = next(one for one in Containers(stored.object).all if one.name == self.container)
            around = Scripts(StoreFacts(view)).others(stored.object, one, stages_of(view).answers, now_ms)
            self.printer.look_again(around, now_ms)
        return self.printer.upto(now_ms, ended_ms), ended_ms is not None


@dataclass(frozen=True, slots=True)
class ExecPlan:
    """A command, or a person at a prompt, in a container."""

    session_id: int
    protocol: str
    """As which its frames are sent."""
    shell: Shell
    words: tuple[str, ...]
    stdin: bool
    tty: bool
    interactive: bool
    """Whether what is sent is typed into a shell."""
    keeper: Keeper
    """Keeps what the commands write."""
    files: Callable[[], Mapping[str, str | None]]
    """Tells what has been written in the container by now."""
    log: LogPlan | None = None
    """What is shown in the place of a command's output: who attaches sees what the container prints."""

    def look_again(self) -> None:
        """Let the command see what others have written meanwhile."""
        for path, text in self.files().items():
            self.shell.change(path, text)
        self.keeper.begins(self.shell)


def _ended_ms(pod: Mapping[str, Any], container: str, run: Run) -> int | None:
    """Return when a run ended; None while it goes on."""
    told = told_of(pod, container)
    running = (told.get("state") or {}).get("running")
    if running is not None and unix_ms_of(running["startedAt"]) <= run.started_ms:
        return None
    for state in (told.get("state") or {}, told.get("lastState") or {}):
        ended = state.get("terminated")
        if ended and ended.get("finishedAt"):
            return unix_ms_of(ended["finishedAt"])
    return run.started_ms


def log(view: ReadView, request: Request, target: Target, answered: Answered) -> Response | LogPlan:
    """Answer `GET …/log`, or say how it is followed; `answered` is how the API answers.

    Raises:
        ApiError: 400, 404, 422.
    """
    pod = pod_of(view, target)
    container = chosen(pod, request.query.get("container", ""))
    now_ms = view.unix_ms()
    since_ms, tail, limit = _options(request, now_ms)
    if not pod["spec"].get("nodeName"):
        return Response(200, b"", TEXT_PLAIN)
    previous = request.flag("previous")
    run = run_of(pod, container["name"], previous=previous)
    api = Within(view, pod, request.code, answered, owns=True, writes=False)
    stamped = request.flag("timestamps")
    plan = _plan(view, target, pod, container, run, api, timestamps=stamped, since_ms=since_ms, tail=tail)
    if request.flag("follow") and run.ended_ms is None:
        return plan
    lines = cut(plan.printer.upto(now_ms, run.ended_ms), since_ms=since_ms, tail=tail)
    return Response(200, _bytes(lines, plan.timestamps)[:limit], TEXT_PLAIN)


def _plan(
    view: ReadView,
    target: Target,
    pod: Document,
    container: Mapping[str, Any],
    run: Run,
    api: Within,
    *,
    timestamps: bool = False,
    since_ms: int | None = None,
    tail: int | None = None,
) -> LogPlan:
    metadata = pod["metadata"]
    stages = stages_of(view)
    answers, facts, containers = stages.answers, StoreFacts(view), Containers(pod)
    one = next((one for one in containers.all if one.name == container["name"]), None)
    around = [] if one is None else Scripts(facts).others(pod, one, answers, view.unix_ms())
    lasting = (*containers.inits, *containers.mains)
    lost = None if one is None else taken(replace(one, started_at=wire_time(run.started_ms)), lasting, stages.listens)
    says = () if lost is None else lost.says
    printer = Printer(pod, container, run, facts, answers, Wire(view, pod, answers, api), around, says)
    place = (target.kind.resource, metadata["namespace"], metadata["name"], metadata["uid"])
    return LogPlan(view.session_id, *place, container["name"], run, printer, timestamps, since_ms, tail)


def _options(request: Request, now_ms: int) -> tuple[int | None, int | None, int | None]:
    """Return (Unix milliseconds from which lines count, the last so many lines, bytes at most)."""
    causes: list[Cause] = []
    numbers: dict[str, int | None] = {}
    for name, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1)):
        text = request.query.get(name, "")
        try:
            numbers[name] = int(text[:18]) if text else None
        except ValueError as error:
            raise bad_request(f"{name}: {text[:80]!r} is not a number") from error
        if (numbers[name] or least) < least:
            why = "must be greater than 0" if least else "must be greater than or equal to 0"
            causes.append(fields.bad(name, numbers[name], why))
    since = request.query.get("sinceTime", "")
    if since and numbers["sinceSeconds"] is not None:
        causes.append(fields.not_allowed("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    if causes:
        raise invalid("PodLogOptions", "", "", causes)
    since_ms = None if numbers["sinceSeconds"] is None else now_ms - 1000 * (numbers["sinceSeconds"] or 0)
    if since:
        try:
            since_ms = unix_ms_of(since)
        except ValueError as error:
            raise bad_request(f"sinceTime: {since[:80]!r} is not a time") from error
    tail = numbers["tailLines"]
    return since_ms, None if tail is None else min(tail, LINES_MAX), numbers["limitBytes"]


def _bytes(lines: Sequence[Line], timestamps: bool) -> bytes:
    return "".join((f"{_stamp(line.ms)} " if timestamps else "") + line.text + "\n" for line in lines).encode()


def _stamp(unix_ms: int) -> str:
    """Return a moment as the kubelet prints it: nine digits after the point."""
    moment = datetime.fromtimestamp(unix_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{unix_ms % 1000:03}000000Z"


def execute(view: ReadView, request: Request, target: Target, answered: Answered, *, owns: bool) -> ExecPlan:
    """Say how `exec` or `attach` is answered.

    `answered` is how the API answers; `owns`: whether the command may act as the pod's account.

    Raises:
        ApiError: 400, 404; 501 to who asks by another way than a websocket.
    """
    pod = pod_of(view, target)
    container = chosen(pod, request.query.get("container", ""))
    refuse_exec(pod, container["name"])
    words = request.values.get("command", ())
    attach = target.subresource == "attach"
    if not attach and not words:
        raise bad_request("you must specify at least 1 command for the container")
    if sum(map(len, words)) > COMMAND_LENGTH_MAX:
        raise bad_request(f"a command has at most {COMMAND_LENGTH_MAX} characters")
    protocol = protocol_of(request, target, protocols.COMMANDS)
    facts, answers, now_ms = StoreFacts(view), stages_of(view).answers, view.unix_ms()
    inside = look_inside(pod, container, facts, answers)
    send = Wire(view, pod, answers, Within(view, pod, request.code, answered, owns=owns, writes=True))
    shell = Shell(inside, PROGRAMS, now_ms, dict(inside.environment), inside.folder, send=send)
    one = next(one for one in Containers(pod).all if one.name == container["name"])

    def files() -> Mapping[str, str | None]:
        now = ReadView(open_store(view.session_id))
        seen = now.get(target.kind.resource, pod["metadata"]["namespace"], target.name)
        if seen is None or seen.uid != pod["metadata"]["uid"]:
            return {}
        return Scripts(StoreFacts(now)).disk(seen.object, one, answers, now.unix_ms())

    for path, text in Scripts(facts).disk(pod, one, answers, now_ms).items():
        shell.change(path, text)
    keeper = Keeper(view.session_id, target.kind.resource, pod, one)
    keeper.begins(shell)
    stdin, tty = request.flag("stdin"), request.flag("tty")
    plan: LogPlan | None = None
    if attach:
        words = inside.words or ("sh",)
        if not (stdin and (_is_prompt(words) or only_reads(words))):
            run = run_of(pod, container["name"], previous=False)
            # Made to be attached to, it is over before anybody can: who comes for what it says gets it all the same.
            since_ms = run.started_ms if container.get("stdin") else view.unix_ms() + 1
            api = Within(view, pod, request.code, answered, owns=True, writes=False)
            plan = _plan(view, target, pod, container, run, api, since_ms=since_ms)
    interactive = stdin and _is_prompt(words) and inside.has(words[0].rpartition("/")[2])
    return ExecPlan(view.session_id, protocol, shell, tuple(words), stdin, tty, interactive, keeper, files, plan)


def _is_prompt(words: Sequence[str]) -> bool:
    return words[0].rpartition("/")[2] in SHELLS and all(word in ("-i", "-l", "-il") for word in words[1:])


def protocol_of(request: Request, target: Target, own: Sequence[str]) -> str:
    """Return the protocol of the websocket that a client waits for.

    Raises:
        ApiError: 501, it waits for none of these.
    """
    protocol = protocols.chosen(own, request.protocols)
    if not protocol:
        why = NO_WEBSOCKET.format(", ".join(own))
        raise ApiError(501, "NotImplemented", why, kind=target.kind.resource, name=target.name)
    return protocol


def pod_of(view: ReadView, target: Target) -> Document:
    """Return the pod that a path names.

    Raises:
        ApiError: 404.
    """
    stored = view.get(target.kind.resource, target.namespace or "", target.name)
    if stored is None:
        raise not_found(target.kind.resource, target.name)
    return stored.object


def stages_of(view: ReadView) -> Stages:
    """Return what the kubelets of a session do."""
    stored = view.get(STAGES_RESOURCE, STAGES_NAMESPACE, STAGES_NAME)
    return stages_in(None if stored is None else stored.object)
