"""Command objects: the kinds of `clustersim.io/v1`, each typed once (docs/architecture.md §2).

These structs are the schema (validation, OpenAPI, `kubectl explain`), the limits of what may be asked, and what engine
and session API read documents into. A field's `Meta` has its bounds and the text that explains it. `open_fields`: what
owners observe may have more members than are listed. How they are read: `controllers.registry.structs`.
"""

from __future__ import annotations

from controllers.registry.models.clustersim_v1.classroom import Bookmark, BookmarkSpec, Poll, PollSpec, PollStatus
from controllers.registry.models.clustersim_v1.client import (
    CLIENT_COUNT_MAX,
    CLIENT_RATE_MAX,
    CLIENT_RATE_MIN,
    CLIENT_TIMEOUT_MAX,
    CLIENT_TIMEOUT_MIN,
    Client,
    ClientSpec,
    ClientStatus,
    Sticky,
)
from controllers.registry.models.clustersim_v1.clock import (
    PACE_MAX_MS,
    RATE_MAX,
    RATE_MIN,
    RUN_SECONDS_MAX,
    STEP_COUNT_MAX,
    Clock,
    ClockSpec,
    ClockStatus,
    Hold,
    Run,
    RunStatus,
    Step,
)
from controllers.registry.models.clustersim_v1.cycle import Cycle, CycleInput, Held, Waiting
from controllers.registry.models.clustersim_v1.election import Belief, Callback, Election, Exit, Outcome
from controllers.registry.models.clustersim_v1.flags import Flags, FlagsSpec, FlagsStatus
from controllers.registry.models.clustersim_v1.lesson import Lesson, LessonSpec, LessonStatus, Script, ScriptStatus
from controllers.registry.models.clustersim_v1.replay import Replay, ReplaySpec, ReplayStatus
from controllers.registry.models.clustersim_v1.replica import (
    FAULT_RATE_MAX,
    FAULT_RATE_MIN,
    FAULT_SECONDS_MAX,
    Fault,
    Refusal,
    Replica,
    ReplicaSpec,
    ReplicaStatus,
    Verdict,
)
from controllers.registry.models.clustersim_v1.scheduler import (
    Queue,
    QueueStatus,
    SchedulerConfig,
    SchedulerConfigSpec,
    SchedulerConfigStatus,
)
from controllers.registry.models.clustersim_v1.shape import Anything, Object, Shape

__all__ = [
    "CLIENT_COUNT_MAX",
    "CLIENT_RATE_MAX",
    "CLIENT_RATE_MIN",
    "CLIENT_TIMEOUT_MAX",
    "CLIENT_TIMEOUT_MIN",
    "FAULT_RATE_MAX",
    "FAULT_RATE_MIN",
    "FAULT_SECONDS_MAX",
    "PACE_MAX_MS",
    "RATE_MAX",
    "RATE_MIN",
    "RUN_SECONDS_MAX",
    "STEP_COUNT_MAX",
    "Anything",
    "Belief",
    "Bookmark",
    "BookmarkSpec",
    "Callback",
    "Client",
    "ClientSpec",
    "ClientStatus",
    "Clock",
    "ClockSpec",
    "ClockStatus",
    "Cycle",
    "CycleInput",
    "Election",
    "Exit",
    "Fault",
    "Flags",
    "FlagsSpec",
    "FlagsStatus",
    "Held",
    "Hold",
    "Lesson",
    "LessonSpec",
    "LessonStatus",
    "Object",
    "Outcome",
    "Poll",
    "PollSpec",
    "PollStatus",
    "Queue",
    "QueueStatus",
    "Refusal",
    "Replay",
    "ReplaySpec",
    "ReplayStatus",
    "Replica",
    "ReplicaSpec",
    "ReplicaStatus",
    "Run",
    "RunStatus",
    "SchedulerConfig",
    "SchedulerConfigSpec",
    "SchedulerConfigStatus",
    "Script",
    "ScriptStatus",
    "Shape",
    "Step",
    "Sticky",
    "Verdict",
    "Waiting",
]
