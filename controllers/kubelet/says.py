"""What kubelets tell: the events of pods and containers, worded as upstream words them.

Source: pkg/kubelet/images/image_manager.go, pkg/kubelet/kuberuntime, pkg/kubelet/prober, v1.34.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Say(NamedTuple):
    """An event; the message may use {image}, {container}, {size}, {took}, {waited}, {pod} and {why}."""

    reason: str
    message: str
    warning: bool = False


PULLING: Final = Say("Pulling", 'Pulling image "{image}"')
PULLED: Final = Say(
    "Pulled",
    'Successfully pulled image "{image}" in {took} ({waited} including waiting). Image size: {size} bytes.',
)
PRESENT: Final = Say("Pulled", 'Container image "{image}" already present on machine')
NOT_PULLED: Final = Say("Failed", 'Failed to pull image "{image}": {why}', True)
NOT_INSPECTED: Final = Say("InspectFailed", "{why}", True)
PULL_ERROR: Final = Say("Failed", "Error: {why}", True)
PULL_BACKOFF: Final = Say("BackOff", 'Back-off pulling image "{image}"')
CREATED: Final = Say("Created", "Created container: {container}")
RAN: Final = Say("Started", "Started container {container}")
HOOK_FAILED: Final = Say("FailedPostStartHook", "PostStartHook failed", True)
HOOK_ENDS: Final = Say("Killing", "FailedPostStartHook")
STOP_FAILED: Final = Say("FailedPreStopHook", "PreStopHook failed", True)
STOPPING: Final = Say("Killing", "Stopping container {container}")
CHANGED: Final = Say("Killing", "Container {container} definition changed, will be restarted")
UNHEALTHY: Final = Say("Killing", "Container {container} failed {why} probe, will be restarted")
PROBE_FAILED: Final = Say("Unhealthy", "{why}", True)
CRASHED: Final = Say("BackOff", "Back-off restarting failed container {container} in pod {pod}", True)
NOT_MOUNTED: Final = Say("FailedMount", "{why}", True)
RESIZED: Final = Say("ResizeCompleted", "Pod resize completed: {why}")
RESTARTED: Final = Say("Killing", "Container {container} resize requires restart")
LATE: Final = Say("DeadlineExceeded", "{why}")
REFUSED: Final = Say("SysctlForbidden", "{why}", True)
EVICTED: Final = Say("Evicted", "{why}", True)
