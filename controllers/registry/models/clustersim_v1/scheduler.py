"""Queue and SchedulerConfig: what a scheduler has before it, and by what it decides."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Object, Shape


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
