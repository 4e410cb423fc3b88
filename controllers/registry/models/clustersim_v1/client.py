"""Client: who sends requests to a Service, and what came of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Object, Shape

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
