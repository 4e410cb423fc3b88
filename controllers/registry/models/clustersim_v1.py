"""Command objects: the kinds of `clustersim.io/v1`, in the form of the generated models (docs/architecture.md §2).

Annotations are strings as in the generated modules, since one reader serves both; `**name** - text` in a docstring is
what `kubectl explain` prints. A class with `open_fields` keeps fields that it does not list: what owners observe grows
with them.
"""

# ruff: noqa: N815, F821
# mypy: ignore-errors

from . import _schema


@_schema.dataclass
class Clock(_schema.DictMixin):
    r"""Clock is the session's simulated clock: what is asked of it and what its owner has made of that.

    **parameters**

    * **spec** ``Optional[ClockSpec]`` - What is asked.
    * **status** ``Optional[ClockStatus]`` - What the owner has observed.
    """

    apiVersion: "Optional[str]" = None
    kind: "Optional[str]" = None
    metadata: "Optional[meta_v1.ObjectMeta]" = None
    spec: "Optional[ClockSpec]" = None
    status: "Optional[ClockStatus]" = None


@_schema.dataclass
class ClockSpec(_schema.DictMixin):
    r"""ClockSpec is what is asked of the clock.

    **parameters**

    * **paused** ``Optional[bool]`` - Stop simulated time.
    * **rate** ``Optional[float]`` - Simulated seconds per real second, 0.1 to 100.
    * **pace** ``Optional[int]`` - Simulated milliseconds a scheduling cycle spends at each extension point.
    * **step** ``Optional[ClockStep]`` - Steps to take while paused.
    """

    paused: "Optional[bool]" = None
    rate: "Optional[float]" = None
    pace: "Optional[int]" = None
    step: "Optional[ClockStep]" = None


@_schema.dataclass
class ClockStep(_schema.DictMixin):
    r"""ClockStep asks for steps; a new id is a new request.

    **parameters**

    * **id** ``Optional[int]`` - Grows with every request.
    * **by** ``Optional[str]`` - point, cycle, event or seconds.
    * **count** ``Optional[int]`` - How many.
    """

    id: "Optional[int]" = None
    by: "Optional[str]" = None
    count: "Optional[int]" = None


@_schema.dataclass
class ClockStatus(_schema.DictMixin):
    r"""ClockStatus is the clock as its owner runs it."""

    open_fields = True

    observedGeneration: "Optional[int]" = None
    paused: "Optional[bool]" = None
    rate: "Optional[float]" = None
    pace: "Optional[int]" = None
    simTimeMs: "Optional[int]" = None
    anchorUnixMs: "Optional[int]" = None
    effectiveRate: "Optional[float]" = None
    stepped: "Optional[int]" = None
    stepId: "Optional[int]" = None
    stepping: "Optional[bool]" = None
    held: "Optional[dict[any]]" = None
    narrated: "Optional[dict[any]]" = None
    hibernated: "Optional[bool]" = None


@_schema.dataclass
class Replica(_schema.DictMixin):
    r"""Replica is one replica of a control-plane component; its name is what it writes into Leases."""

    apiVersion: "Optional[str]" = None
    kind: "Optional[str]" = None
    metadata: "Optional[meta_v1.ObjectMeta]" = None
    spec: "Optional[ReplicaSpec]" = None
    status: "Optional[ReplicaStatus]" = None


@_schema.dataclass
class ReplicaSpec(_schema.DictMixin):
    r"""ReplicaSpec says which component this is and which fault it is asked to have.

    **parameters**

    * **component** ``Optional[str]`` - kube-scheduler or kube-controller-manager.
    * **fault** ``Optional[Fault]`` - The newest fault asked for.
    * **verdict** ``Optional[Verdict]`` - The newest word on a pod that this scheduler holds at Permit.
    """

    component: "Optional[str]" = None
    fault: "Optional[Fault]" = None
    verdict: "Optional[Verdict]" = None


@_schema.dataclass
class Verdict(_schema.DictMixin):
    r"""Verdict allows or rejects a pod that waits at Permit.

    **parameters**

    * **id** ``Optional[int]`` - Grows with every request.
    * **uid** ``Optional[str]`` - The pod's uid.
    * **plugin** ``Optional[str]`` - In which plugin's name; empty in that of every plugin that holds the pod.
    * **verdict** ``Optional[str]`` - allow or reject.
    * **message** ``Optional[str]`` - Why it is rejected.
    """

    id: "Optional[int]" = None
    uid: "Optional[str]" = None
    plugin: "Optional[str]" = None
    verdict: "Optional[str]" = None
    message: "Optional[str]" = None


@_schema.dataclass
class Fault(_schema.DictMixin):
    r"""Fault is something asked to go wrong, or right again.

    **parameters**

    * **id** ``Optional[int]`` - Grows with every request.
    * **kind** ``Optional[str]`` - crash, partition, skew, rate or recover.
    * **seconds** ``Optional[float]`` - How long, or how far a clock is off.
    * **rate** ``Optional[float]`` - How fast the replica's clock runs.
    """

    open_fields = True

    id: "Optional[int]" = None
    kind: "Optional[str]" = None
    seconds: "Optional[float]" = None
    rate: "Optional[float]" = None


@_schema.dataclass
class ReplicaStatus(_schema.DictMixin):
    r"""ReplicaStatus is the replica as its owner runs it; `cycle` is what a new owner needs to take a held cycle up."""

    open_fields = True

    observedGeneration: "Optional[int]" = None
    state: "Optional[str]" = None
    leading: "Optional[bool]" = None
    lease: "Optional[dict[any]]" = None
    seenRevision: "Optional[int]" = None
    clockSkewMs: "Optional[int]" = None
    clockRate: "Optional[float]" = None
    lastBranch: "Optional[str]" = None
    faultId: "Optional[int]" = None
    cycle: "Optional[dict[any]]" = None


@_schema.dataclass
class Queue(_schema.DictMixin):
    r"""Queue shows one scheduler's queue."""

    apiVersion: "Optional[str]" = None
    kind: "Optional[str]" = None
    metadata: "Optional[meta_v1.ObjectMeta]" = None
    status: "Optional[QueueStatus]" = None


@_schema.dataclass
class QueueStatus(_schema.DictMixin):
    r"""QueueStatus lists the first pods of each part of the queue; counts has the whole numbers."""

    open_fields = True

    active: "Optional[List[dict[any]]]" = None
    backoff: "Optional[List[dict[any]]]" = None
    unschedulable: "Optional[List[dict[any]]]" = None
    gated: "Optional[List[dict[any]]]" = None
    waiting: "Optional[List[dict[any]]]" = None
    binding: "Optional[List[dict[any]]]" = None
    assumed: "Optional[List[dict[any]]]" = None
    counts: "Optional[dict[int]]" = None


@_schema.dataclass
class SchedulerConfig(_schema.DictMixin):
    r"""SchedulerConfig is the session's scheduler: an era or a KubeSchedulerConfiguration."""

    apiVersion: "Optional[str]" = None
    kind: "Optional[str]" = None
    metadata: "Optional[meta_v1.ObjectMeta]" = None
    spec: "Optional[SchedulerConfigSpec]" = None
    status: "Optional[SchedulerConfigStatus]" = None


@_schema.dataclass
class SchedulerConfigSpec(_schema.DictMixin):
    r"""SchedulerConfigSpec is what is asked of the scheduler.

    **parameters**

    * **era** ``Optional[str]`` - round-robin, algorithm-provider, framework-1.18 or v1.34.
    * **configuration** ``Optional[dict]`` - A KubeSchedulerConfiguration.
    * **policy** ``Optional[dict]`` - A Policy document, for eras that have them.
    * **provider** ``Optional[str]`` - Name of an algorithm provider, for eras that have them.
    """

    era: "Optional[str]" = None
    configuration: "Optional[dict[any]]" = None
    policy: "Optional[dict[any]]" = None
    provider: "Optional[str]" = None


@_schema.dataclass
class SchedulerConfigStatus(_schema.DictMixin):
    r"""SchedulerConfigStatus is the configuration in use."""

    open_fields = True

    observedGeneration: "Optional[int]" = None
    hash: "Optional[str]" = None
    profiles: "Optional[List[dict[any]]]" = None


@_schema.dataclass
class Replay(_schema.DictMixin):
    r"""Replay plays a recorded trace of nodes and pods into the session."""

    apiVersion: "Optional[str]" = None
    kind: "Optional[str]" = None
    metadata: "Optional[meta_v1.ObjectMeta]" = None
    spec: "Optional[ReplaySpec]" = None
    status: "Optional[ReplayStatus]" = None


@_schema.dataclass
class ReplaySpec(_schema.DictMixin):
    r"""ReplaySpec is the trace and how fast it is played.

    **parameters**

    * **nodes** ``Optional[str]`` - The node list, CSV.
    * **pods** ``Optional[str]`` - The pod list, CSV.
    * **divisor** ``Optional[float]`` - Trace seconds per session second.
    * **start** ``Optional[float]`` - Session second at which the trace begins.
    """

    nodes: "Optional[str]" = None
    pods: "Optional[str]" = None
    divisor: "Optional[float]" = None
    start: "Optional[float]" = None


@_schema.dataclass
class ReplayStatus(_schema.DictMixin):
    r"""ReplayStatus is how far the trace has been played."""

    open_fields = True

    observedGeneration: "Optional[int]" = None
    created: "Optional[int]" = None
    deleted: "Optional[int]" = None
    total: "Optional[int]" = None
    done: "Optional[bool]" = None
