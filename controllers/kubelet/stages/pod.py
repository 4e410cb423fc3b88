"""The life of a pod on its node: admitted, containers pulled, created and started, and on request ended and removed."""

from __future__ import annotations

from typing import Final

from controllers.kubelet.stage import Condition, Next, Say, Stage, Wait, When

ADMITTED: Final = Stage(
    name="pod-admitted",
    when=When(phases=("Pending",), containers=("none",)),
    wait=Wait(base_ms=50, jitter_ms=100),
    next=Next(
        phase="Pending",
        containers="waiting",
        reason="ContainerCreating",
        conditions=(
            Condition("PodReadyToStartContainers", "False"),
            Condition("Initialized", "True"),
            Condition("Ready", "False", "ContainersNotReady", "containers with unready status: [{containers}]"),
            Condition(
                "ContainersReady", "False", "ContainersNotReady", "containers with unready status: [{containers}]"
            ),
        ),
    ),
)

_UNREADY: Final = (
    Condition("PodReadyToStartContainers", "True"),
    Condition("Initialized", "True"),
    Condition("Ready", "False", "ContainersNotReady", "containers with unready status: [{containers}]"),
    Condition("ContainersReady", "False", "ContainersNotReady", "containers with unready status: [{containers}]"),
)


def _over(reason: str) -> tuple[Condition, ...]:
    return (
        Condition("PodReadyToStartContainers", "False"),
        Condition("Initialized", "True", reason),
        Condition("Ready", "False", reason),
        Condition("ContainersReady", "False", reason),
    )


_COMPLETED: Final = Next(phase="Succeeded", containers="ended", addressed=True, conditions=_over("PodCompleted"))
_FAILED: Final = Next(phase="Failed", containers="ended", exit_code=1, addressed=True, conditions=_over("PodFailed"))

STARTED_AND_ENDED: Final = tuple(
    Stage(
        name=f"pod-started-and-{run}",
        when=When(phases=("Pending",), containers=("waiting",), runs=(run,), timed=False),
        wait=Wait(base_ms=50, jitter_ms=100),
        containers=True,
        next=after,
    )
    for run, after in (("complete", _COMPLETED), ("fail", _FAILED))
)
"""A task that nobody told how long to run is over before its kubelet looks at it again."""

TASK_ENDED: Final = tuple(
    Stage(
        name=f"pod-{run}",
        when=When(phases=("Running",), containers=("running",), runs=(run,)),
        wait=Wait(base_ms=0, as_told=True),
        next=after,
    )
    for run, after in (("complete", _COMPLETED), ("fail", _FAILED))
)

STARTED_UNREADY: Final = Stage(
    name="pod-started-unready",
    when=When(phases=("Pending",), containers=("waiting",), runs=("unready",)),
    wait=Wait(base_ms=50, jitter_ms=100),
    containers=True,
    next=Next(phase="Running", containers="running", addressed=True, conditions=_UNREADY),
)

UNREADIED: Final = Stage(
    name="pod-unreadied",
    when=When(phases=("Running",), containers=("running",), runs=("unready",), ready=True),
    wait=Wait(base_ms=0),
    next=Next(phase="Running", containers="running", addressed=True, conditions=_UNREADY),
)

STARTED: Final = Stage(
    name="pod-started",
    when=When(phases=("Pending",), containers=("waiting",)),
    wait=Wait(base_ms=50, jitter_ms=100),
    containers=True,
    next=Next(
        phase="Running",
        containers="running",
        addressed=True,
        conditions=(
            Condition("PodReadyToStartContainers", "True"),
            Condition("Initialized", "True"),
            Condition("Ready", "True"),
            Condition("ContainersReady", "True"),
        ),
    ),
)

RECOVERED: Final = Stage(
    name="pod-recovered",
    when=When(phases=("Running",), containers=("running",), runs=("", "complete", "fail"), ready=False),
    wait=Wait(base_ms=1_000),
    next=Next(
        phase="Running",
        containers="running",
        addressed=True,
        conditions=(Condition("Ready", "True"), Condition("ContainersReady", "True")),
    ),
)
"""The node was away and its pods were counted as not ready; they never stopped."""

ENDED: Final = Stage(
    name="pod-ended",
    when=When(deleting=True, phases=("Pending", "Running", "Unknown"), containers=("running", "waiting")),
    wait=Wait(base_ms=500, jitter_ms=1_500, within_grace=True),
    each=(Say("Killing", "Stopping container {container}"),),
    next=Next(removed=True),
)
"""Well behaved containers end within two seconds of being asked, whatever grace they have; a preStop hook that sleeps
keeps them until it is over or the grace is."""

REMOVED: Final = Stage(
    name="pod-removed",
    when=When(deleting=True),
    wait=Wait(base_ms=0),
    next=Next(removed=True),
)

POD_STAGES: Final[tuple[Stage, ...]] = (
    ADMITTED,
    *STARTED_AND_ENDED,
    *TASK_ENDED,
    STARTED_UNREADY,
    UNREADIED,
    STARTED,
    RECOVERED,
    ENDED,
    REMOVED,
)

CREATE: Final = Wait(base_ms=40, jitter_ms=80)
"""From image to started container."""

COMPLETE: Final = Wait(base_ms=200, jitter_ms=800)
"""How long an init container runs."""

PULLING: Final = Say("Pulling", 'Pulling image "{image}"')
PULLED: Final = Say(
    "Pulled",
    'Successfully pulled image "{image}" in {took} ({waited} including waiting). Image size: {size} bytes.',
)
PRESENT: Final = Say("Pulled", 'Container image "{image}" already present on machine')
CREATED: Final = Say("Created", "Created container: {container}")
RAN: Final = Say("Started", "Started container {container}")
