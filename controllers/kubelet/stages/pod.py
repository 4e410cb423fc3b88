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
    when=When(phases=("Running",), containers=("running",), unready=True),
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

POD_STAGES: Final[tuple[Stage, ...]] = (ADMITTED, STARTED, RECOVERED, ENDED, REMOVED)

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
