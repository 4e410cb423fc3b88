"""Command objects: the kinds of `clustersim.io/v1`, each typed once (docs/architecture.md §2).

These structs are the schema (validation, OpenAPI, `kubectl explain`), the limits of what may be asked, and what engine
and session API read documents into. A field's `Meta` has its bounds and the text that explains it. `open_fields`: what
owners observe may have more members than are listed. How they are read: `controllers.registry.structs`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

Object = dict[str, Any]

RATE_MIN: Final = 0.1
"""Simulated seconds per real second: slower shows nothing more; outside these the answer is 422."""

RATE_MAX: Final = 100
"""Simulated seconds per real second: faster no worker keeps up with."""

PACE_MAX_MS: Final = 60_000
"""Simulated milliseconds at one extension point; more is refused with 422: a minute is longer than anybody waits."""

STEP_COUNT_MAX: Final = 10_000
"""Steps of one request; more are refused with 422: the owner answers within seconds."""

RUN_SECONDS_MAX: Final = 120
"""Real seconds that one run may take; more are refused with 422: a class has looked away by then."""

FAULT_SECONDS_MAX: Final = 86_400
"""Simulated seconds that a fault may last, or that a clock may be off; more is refused with 422."""

FAULT_RATE_MIN: Final = 0.01
"""The slowest that a replica's clock may run; slower is refused with 422."""

FAULT_RATE_MAX: Final = 10
"""The fastest that a replica's clock may run; faster is refused with 422."""


CLIENT_RATE_MIN: Final = 0.01
"""Requests per simulated second of one client; fewer are refused with 422."""

CLIENT_RATE_MAX: Final = 50
"""Requests per simulated second of one client; more are refused with 422: no success rate needs more."""

CLIENT_TIMEOUT_MIN: Final = 0.1
"""The shortest time, in simulated seconds, that a client may wait for an answer; a shorter one is refused with 422."""

CLIENT_TIMEOUT_MAX: Final = 60
"""The longest time, in simulated seconds, that a client may wait for an answer; a longer one is refused with 422."""

CLIENT_COUNT_MAX: Final = 1_000_000
"""Requests that a client may be asked to send in all; more are refused with 422."""


class Shape(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of what command objects are made of: every field may be absent."""

    open_fields: ClassVar[bool] = False


class Step(Shape, frozen=True):
    """ClockStep asks for steps; a new id is a new request."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    by: Annotated[
        Literal["cycle", "event", "point", "seconds"] | None, Meta(description="point, cycle, event or seconds.")
    ] = None
    count: Annotated[int, Meta(ge=0, le=STEP_COUNT_MAX, description="How many.")] | None = None


class Hold(Shape, frozen=True):
    """Hold stops time when a scheduler takes a pod, before anything of its decision is made."""

    id: Annotated[str, Meta(description="Who asks, as the name of a poll.")] = ""
    pod: Annotated[str, Meta(description="The pod, as namespace/name.")] = ""


class Run(Shape, frozen=True):
    """Run lets time go as fast as it can until something is true; a new id is a new request."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    until: Annotated[str, Meta(description="A predicate, as docs/lessons.md has them.")] = ""
    seconds: Annotated[
        float, Meta(gt=0, le=RUN_SECONDS_MAX, description="Real seconds after which it ends in any case.")
    ] = 20.0
    began_ms: Annotated[int, Meta(ge=0, description="Simulated milliseconds that since() counts from.")] = 0
    waits_ms: Annotated[int, Meta(ge=0, description="Simulated milliseconds that waited() counts from.")] | None = None


class RunStatus(Shape, frozen=True):
    """RunStatus is what became of a run: running, reached, timeout or failed."""

    open_fields: ClassVar[bool] = True

    id: int = 0
    state: str = ""
    message: str = ""
    sim_time_ms: Annotated[int, Meta(ge=0)] = 0


class ClockSpec(Shape, frozen=True):
    """ClockSpec is what is asked of the clock."""

    paused: Annotated[bool, Meta(description="Stop simulated time.")] = False
    rate: Annotated[
        float, Meta(ge=RATE_MIN, le=RATE_MAX, description="Simulated seconds per real second, 0.1 to 100.")
    ] = 1.0
    pace: Annotated[
        int,
        Meta(
            ge=0,
            le=PACE_MAX_MS,
            description="Simulated milliseconds a scheduling cycle spends at each extension point.",
        ),
    ] = 0
    step: Annotated[Step | None, Meta(description="Steps to take while paused.")] = None
    hold: Annotated[Hold | None, Meta(description="The pod before whose PreFilter time stops, as long as asked.")] = (
        None
    )
    run: Annotated[Run | None, Meta(description="How far time is to go by itself.")] = None


class ClockStatus(Shape, frozen=True):
    """ClockStatus is the clock as its owner runs it."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    paused: bool | None = None
    rate: Annotated[float, Meta(ge=RATE_MIN, le=RATE_MAX)] | None = None
    pace: Annotated[int, Meta(ge=0, le=PACE_MAX_MS)] | None = None
    sim_time_ms: Annotated[int, Meta(ge=0)] | None = None
    anchor_unix_ms: Annotated[int, Meta(ge=0)] | None = None
    carry_rate: Annotated[float, Meta(ge=0, le=RATE_MAX)] | None = None
    effective_rate: Annotated[float, Meta(ge=0, le=1_000)] | None = None
    stepped: Annotated[int, Meta(ge=0)] = 0
    step_id: Annotated[int, Meta(ge=0)] = 0
    stepping: bool = False
    held: Object | None = None
    run: RunStatus | None = None
    narrated: Object | None = None


class Clock(Shape, frozen=True):
    """Clock is the session's simulated clock: what is asked of it and what its owner has made of that."""

    spec: Annotated[ClockSpec, Meta(description="What is asked.")] = ClockSpec()
    status: Annotated[ClockStatus, Meta(description="What the owner has observed.")] = ClockStatus()


class Verdict(Shape, frozen=True):
    """Verdict allows or rejects a pod that waits at Permit."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    uid: Annotated[str, Meta(description="The pod's uid.")] = ""
    plugin: Annotated[
        str, Meta(description="In which plugin's name; empty in that of every plugin that holds the pod.")
    ] = ""
    verdict: Annotated[Literal["allow", "reject"] | None, Meta(description="allow or reject.")] = None
    message: Annotated[str, Meta(description="Why it is rejected.")] = ""


class Fault(Shape, frozen=True):
    """Fault is something asked to go wrong, or right again."""

    open_fields: ClassVar[bool] = True

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    kind: Annotated[
        Literal["crash", "drop-watch", "partition", "pause", "rate", "recover", "release", "skew", "slow-watch"] | None,
        Meta(description="What: docs/session-api.md says what each does."),
    ] = None
    seconds: (
        Annotated[
            float,
            Meta(
                ge=-FAULT_SECONDS_MAX,
                le=FAULT_SECONDS_MAX,
                description="How long, how late, or how far a clock is off.",
            ),
        ]
        | None
    ) = None
    rate: (
        Annotated[float, Meta(ge=FAULT_RATE_MIN, le=FAULT_RATE_MAX, description="How fast the replica's clock runs.")]
        | None
    ) = None
    until_ms: int | None = None


class ReplicaSpec(Shape, frozen=True):
    """ReplicaSpec says which component this is and which fault it is asked to have."""

    component: Annotated[str, Meta(description="kube-scheduler or kube-controller-manager.")] = ""
    fault: Annotated[Fault | None, Meta(description="The newest fault asked for.")] = None
    verdict: Annotated[
        Verdict | None, Meta(description="The newest word on a pod that this scheduler holds at Permit.")
    ] = None


class Outcome(Shape, frozen=True):
    """Outcome is what came of a verdict."""

    open_fields: ClassVar[bool] = True

    id: int = 0
    uid: str = ""
    outcome: str = ""


class Exit(Shape, frozen=True):
    """Exit is how a replica's process ended last: 0 when it was asked to, 1 when it lost its lease."""

    open_fields: ClassVar[bool] = True

    code: int = 0
    reason: str = ""
    at_ms: int = 0


class Callback(Shape, frozen=True):
    """Callback is one that client-go's elector made; `identity` is the new leader's where it tells of one."""

    open_fields: ClassVar[bool] = True

    callback: str = ""
    at_ms: int = 0
    identity: str = ""


class Belief(Shape, frozen=True):
    """Belief is a time during which a replica believed that it leads; `to_ms` is null while it does."""

    open_fields: ClassVar[bool] = True

    from_ms: int = 0
    to_ms: int | None = None


class Election(Shape, frozen=True):
    """Election is a try for the lock that says something, in simulated milliseconds, and what the replica had seen."""

    open_fields: ClassVar[bool] = True

    at_ms: int = 0
    branch: str = ""
    leading: bool = False
    conflict: bool = False
    holder: str = ""
    seen_ms: int = 0
    expires_ms: int = 0


class Refusal(Shape, frozen=True):
    """Refusal is a write that was refused because another one was faster, in the API server's words."""

    open_fields: ClassVar[bool] = True

    at_ms: int = 0
    message: str = ""


class ReplicaStatus(Shape, frozen=True):
    """ReplicaStatus is the replica as its owner runs it; `cycle` is what a new owner needs to take a held cycle up."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    state: str = ""
    leading: bool = False
    lease: Object | None = None
    seen_revision: int = 0
    clock_skew_ms: int = 0
    clock_rate: float = 1.0
    last_branch: str = ""
    restarts: int = 0
    refused: int = 0
    last_exit: Exit | None = None
    callbacks: list[Callback] = []
    beliefs: list[Belief] = []
    tries: list[Election] = []
    refusals: list[Refusal] = []
    fault_id: int = 0
    fault: Fault | None = None
    faults: list[Fault] = []
    verdict: Outcome | None = None
    cycle: Object | None = None
    answer: Object | None = None


class CycleInput(Shape, frozen=True):
    """What must be there of a cycle's input, as `scheduler_core.scheduler.run.CycleInput` writes it."""

    seen_revision: Annotated[int, Meta(ge=0)]
    attempt: Annotated[int, Meta(ge=1)]
    assumed: dict[str, str]
    nominations: dict[str, str]
    waiting: list[str]
    start: Annotated[int, Meta(ge=0)]
    order: list[str]
    configuration: str
    profile: str
    now_ms: Annotated[int, Meta(ge=0)]
    preemptor: Object | None = None
    extenders: list[Object] = []
    volumes: dict[str, dict[str, str]] = {}
    claims: dict[str, str] = {}


class Cycle(Shape, frozen=True):
    """Cycle is a scheduling cycle in hand: what must be there for it to be run again to its point."""

    pod: str
    uid: str
    attempt: int
    point: str
    started_at_ms: Annotated[int, Meta(ge=0)]
    seen_revision: Annotated[int, Meta(ge=0)]
    trace_id: str
    input: CycleInput


class Held(Shape, frozen=True):
    """Held is one plugin that keeps a pod at Permit."""

    name: str
    until_ms: int


class Waiting(Shape, frozen=True):
    """Waiting is a pod that Permit holds: what must be there for it to go on waiting under a new owner."""

    uid: str
    node: str
    plugins: list[Held]


class Replica(Shape, frozen=True):
    """Replica is one replica of a control-plane component; its name is what it writes into Leases."""

    spec: ReplicaSpec = ReplicaSpec()
    status: ReplicaStatus = ReplicaStatus()


class QueueStatus(Shape, frozen=True):
    """QueueStatus lists the first pods of each part of the queue; counts has the whole numbers."""

    open_fields: ClassVar[bool] = True

    active: list[Object] | None = None
    backoff: list[Object] | None = None
    unschedulable: list[Object] | None = None
    gated: list[Object] | None = None
    waiting: list[Object] | None = None
    binding: list[Object] | None = None
    assumed: list[Object] | None = None
    counts: dict[str, int] | None = None


class Queue(Shape, frozen=True):
    """Queue shows one scheduler's queue."""

    status: QueueStatus = QueueStatus()


class SchedulerConfigSpec(Shape, frozen=True):
    """SchedulerConfigSpec is what is asked of the scheduler."""

    era: Annotated[str, Meta(description="round-robin, algorithm-provider, framework-1.18 or v1.34.")] | None = None
    configuration: Annotated[Object | None, Meta(description="A KubeSchedulerConfiguration.")] = None
    policy: Annotated[Object | None, Meta(description="A Policy document, for eras that have them.")] = None
    provider: Annotated[str, Meta(description="Name of an algorithm provider, for eras that have them.")] | None = None


class SchedulerConfigStatus(Shape, frozen=True):
    """SchedulerConfigStatus is the configuration in use."""

    open_fields: ClassVar[bool] = True

    observed_generation: int | None = None
    hash: str = ""
    profiles: list[Object] | None = None


class SchedulerConfig(Shape, frozen=True):
    """SchedulerConfig is the session's scheduler: an era or a KubeSchedulerConfiguration."""

    spec: SchedulerConfigSpec = SchedulerConfigSpec()
    status: SchedulerConfigStatus = SchedulerConfigStatus()


class FlagsSpec(Shape, frozen=True):
    """FlagsSpec holds the flags that are set, by name; what each may be stands in `controllers.flags`."""

    kube_apiserver: Annotated[dict[str, str], Meta(description="Flags of kube-apiserver.")] = msgspec.field(
        default_factory=dict, name="kube-apiserver"
    )
    kube_controller_manager: Annotated[dict[str, str], Meta(description="Flags of kube-controller-manager.")] = (
        msgspec.field(default_factory=dict, name="kube-controller-manager")
    )
    kube_scheduler: Annotated[dict[str, str], Meta(description="Flags of kube-scheduler.")] = msgspec.field(
        default_factory=dict, name="kube-scheduler"
    )
    kubelet: Annotated[dict[str, str], Meta(description="Flags of the kubelets.")] = {}
    kube_proxy: Annotated[dict[str, str], Meta(description="Flags of the nodes' proxies.")] = msgspec.field(
        default_factory=dict, name="kube-proxy"
    )


class FlagsStatus(Shape, frozen=True):
    """FlagsStatus is what the owner has obeyed."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0


class Flags(Shape, frozen=True):
    """Flags are the command lines of the session's components: what is set, beside the defaults."""

    spec: FlagsSpec = FlagsSpec()
    status: FlagsStatus = FlagsStatus()


class ReplaySpec(Shape, frozen=True):
    """ReplaySpec is the trace and how fast it is played."""

    nodes: Annotated[str, Meta(description="The node list, CSV.")] = ""
    pods: Annotated[str, Meta(description="The pod list, CSV.")] = ""
    divisor: Annotated[float, Meta(gt=0, description="Trace seconds per session second.")] = 1.0
    start: Annotated[float, Meta(description="Session second at which the trace begins.")] = 0.0


class ReplayStatus(Shape, frozen=True):
    """ReplayStatus is how far the trace has been played."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    created: Annotated[int, Meta(ge=0)] = 0
    deleted: Annotated[int, Meta(ge=0)] = 0
    total: int = 0
    done: bool = False


class Replay(Shape, frozen=True):
    """Replay plays a recorded trace of nodes and pods into the session."""

    spec: ReplaySpec = ReplaySpec()
    status: ReplayStatus = ReplayStatus()


class ClientSpec(Shape, frozen=True):
    """ClientSpec says who sends requests, where to, and how often."""

    source: Annotated[
        str,
        Meta(description="cluster (a pod of its own), outside, node/<name>, or pod/<name> in the namespace."),
    ] = msgspec.field(default="cluster", name="from")
    namespace: Annotated[
        str, Meta(description="The namespace of the pod that sends, in which names are looked up.")
    ] = "default"
    target: Annotated[str, Meta(description="Where to, as http://web:80/.")] = ""
    rate: Annotated[
        float, Meta(ge=CLIENT_RATE_MIN, le=CLIENT_RATE_MAX, description="Requests per simulated second.")
    ] = 1.0
    timeout: Annotated[
        float,
        Meta(ge=CLIENT_TIMEOUT_MIN, le=CLIENT_TIMEOUT_MAX, description="Simulated seconds to wait for an answer."),
    ] = 1.0
    count: Annotated[int, Meta(ge=0, le=CLIENT_COUNT_MAX, description="Requests to send in all; 0: without end.")] = 0


class Sticky(Shape, frozen=True):
    """Sticky is what a proxy remembers of a client for sessionAffinity: which port leads it where, and since when."""

    open_fields: ClassVar[bool] = True

    via: str = ""
    port: str = ""
    place: str = ""
    at_ms: int = 0


class ClientStatus(Shape, frozen=True):
    """ClientStatus is what came of a client's requests, the newest whole, all of them counted."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    state: str = ""
    message: str = ""
    started_ms: Annotated[int, Meta(ge=0)] = 0
    sent: Annotated[int, Meta(ge=0)] = 0
    success: float | None = None
    results: dict[str, int] = {}
    windows: list[Object] = []
    pods: list[Object] = []
    newest: list[Object] = []
    sticky: Sticky | None = None


class Client(Shape, frozen=True):
    """Client sends requests to a Service, a pod or a node, and tells what came of each."""

    spec: ClientSpec = ClientSpec()
    status: ClientStatus = ClientStatus()


class BookmarkSpec(Shape, frozen=True):
    """BookmarkSpec names a moment of the session's log."""

    name: Annotated[str, Meta(description="What people call the moment.")] = ""
    revision: Annotated[int, Meta(ge=1, description="The resourceVersion that the session had then.")] = 1
    at_ms: Annotated[int, Meta(ge=0, description="Simulated milliseconds of the moment.")] = 0


class Bookmark(Shape, frozen=True):
    """Bookmark is a moment of the log that somebody has given a name."""

    spec: BookmarkSpec = BookmarkSpec()


class PollSpec(Shape, frozen=True):
    """PollSpec is what a class is asked; nothing in it tells which answer is right."""

    kind: Annotated[
        Literal["choice", "leader", "node", "victims"],
        Meta(description="What an answer is: node, victims, leader, choice."),
    ] = "choice"
    pod: Annotated[str, Meta(description="The pod that is asked about, as namespace/name; empty: none.")] = ""
    question: Annotated[dict[str, str], Meta(description="The question, by language (en, zh).")] = {}
    options: Annotated[
        list[Object], Meta(description="What there is to choose from: id, label by language, facts.")
    ] = []
    because: Annotated[list[Object], Meta(description="Reasons that a vote may give: id, label by language.")] = []
    hold: Annotated[
        Literal["", "before-prefilter", "now", "paper"],
        Meta(description="Where time stands: before the pod's PreFilter, now, or it does not (paper)."),
    ] = ""
    limit: Annotated[int, Meta(ge=0, le=3600, description="Seconds of a round; 0: until it is closed.")] = 0
    alone: Annotated[bool, Meta(description="Whoever opened it answers it, and is told no more than a class.")] = False
    node: Annotated[str, Meta(description="The node that the pod had when the poll was opened.")] = ""
    lesson: Annotated[Object | None, Meta(description="The step of the lesson that asks.")] = None


class PollStatus(Shape, frozen=True):
    """PollStatus is how far the poll has come; right and chosen stand in it once it is revealed.

    Then the class may be shown the world under one rule after another: rule is the one that is shown, rules all that
    come to something else than the engine, the one that most votes believed first.
    """

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    state: str = "open"
    round: Annotated[int, Meta(ge=1)] = 1
    opened_ms: int = 0
    ends_ms: int | None = None
    seals: bool = True
    right: list[str] | None = None
    chosen: str | None = None
    rule: str = ""
    rules: list[str] = msgspec.field(default_factory=list)


class Poll(Shape, frozen=True):
    """Poll asks a class something that the engine decides."""

    spec: PollSpec = PollSpec()
    status: PollStatus = PollStatus()


class Script(Shape, frozen=True):
    """Script is what the session's owner performs, action by action; a new id is a new script."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    path: Annotated[str, Meta(description="Names it in messages.")] = ""
    actions: Annotated[list[Object], Meta(description="What is done, in order, as docs/lessons.md has it.")] = []


class LessonSpec(Shape, frozen=True):
    """LessonSpec is where a lesson stands: for a class, or for somebody alone."""

    package: Annotated[str, Meta(description="The lesson's id.")] = ""
    minimum: Annotated[bool, Meta(description="The short version.")] = False
    alone: Annotated[bool, Meta(description="Whoever opened it learns without a teacher.")] = False
    ticket: Annotated[bool, Meta(description="The exit ticket alone.")] = False
    again: Annotated[str, Meta(description="A lesson whose exit ticket is asked before the first step.")] = ""
    step: Annotated[str, Meta(description="The step that it has come to; empty: it has not begun, or is over.")] = ""
    phase: Annotated[
        Literal["", "ask", "end", "reveal", "scene", "so", "wait"],
        Meta(description="What of the step is shown."),
    ] = ""
    asks: Annotated[bool, Meta(description="The step asks something after its scene.")] = False
    poll: Annotated[str, Meta(description="The poll of the step, empty where none was asked.")] = ""
    hint: Annotated[bool, Meta(description="The step's hint is shown.")] = False
    done: Annotated[list[str], Meta(description="The steps that have come to their end.")] = []
    checkpoints: Annotated[dict[str, int], Meta(description="Step: the revision at which it began.")] = {}
    began: Annotated[dict[str, int], Meta(description="Step: the simulated milliseconds at which it began.")] = {}
    script: Annotated[Script | None, Meta(description="What happens now.")] = None


class ScriptStatus(Shape, frozen=True):
    """ScriptStatus is how far a script has come: playing, done or failed."""

    open_fields: ClassVar[bool] = True

    id: int = 0
    done: int = 0
    of: int = 0
    state: str = ""
    message: str = ""
    began_ms: Annotated[int, Meta(ge=0)] = 0
    waits_ms: Annotated[int, Meta(ge=0)] | None = None


class LessonStatus(Shape, frozen=True):
    """LessonStatus is what the session's owner has made of the script."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    script: ScriptStatus | None = None


class Lesson(Shape, frozen=True):
    """Lesson is the lesson that a session goes through."""

    spec: LessonSpec = LessonSpec()
    status: LessonStatus = LessonStatus()


class Anything(msgspec.Struct):
    """An object of which no struct says anything: its own schema does."""

    open_fields: ClassVar[bool] = True
