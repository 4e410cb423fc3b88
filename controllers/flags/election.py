"""Flags of leader election, the same for each component that has replicas.

Source: k8s.io/component-base/config/options/leaderelectionconfig.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from controllers.flags.flag import Component, Flag, duration, switch, word


@dataclass(frozen=True, slots=True)
class ElectionFlags:
    """The flags of one component."""

    elect: Flag[bool]
    lease_duration: Flag[int]
    renew_deadline: Flag[int]
    retry_period: Flag[int]
    resource_lock: Flag[str]
    resource_name: Flag[str]
    resource_namespace: Flag[str]
    expiry: Flag[str]

    def table(self) -> tuple[Flag[Any], ...]:
        """Return them as rows of the table of flags."""
        return (
            self.elect,
            self.lease_duration,
            self.renew_deadline,
            self.retry_period,
            self.resource_lock,
            self.resource_name,
            self.resource_namespace,
            self.expiry,
        )


LOCKS: Final = ("leases", "endpoints", "configmaps", "endpointsleases", "configmapsleases")
"""Kinds of lock. Today's client-go knows Leases alone; the others are those of an earlier era, and of its end."""


def _lock(text: str) -> None:
    if text not in LOCKS:
        raise ValueError('resourceLock: Invalid value: resourceLock value must be "leases"')


STORED: Final = "stored"
"""A lease ends for all when the time that stands in it says so: what people believe, and a world can be run under."""


def _expiry(text: str) -> None:
    if text not in ("observed", STORED):
        raise ValueError(f"it is observed or {STORED}")


def _named(text: str) -> None:
    if not text:
        raise ValueError("Required value")


def election(component: Component) -> ElectionFlags:
    """Return a component's flags of leader election."""
    return ElectionFlags(
        switch(component, "leader-elect", True, "Replicas elect one that acts; without it each of them acts."),
        duration(component, "leader-elect-lease-duration", "15s", "How long a silent leader's lease is respected."),
        duration(component, "leader-elect-renew-deadline", "10s", "A leader that cannot renew for so long stops."),
        duration(component, "leader-elect-retry-period", "2s", "How often replicas try."),
        word(
            component,
            "leader-elect-resource-lock",
            "leases",
            "What kind of object is the lock: `leases`; in an earlier era `endpoints` or `configmaps`, and at its end "
            "`endpointsleases` or `configmapsleases`, both at once. Upstream has leases alone since 1.27.",
            check=_lock,
        ),
        word(component, "leader-elect-resource-name", component, "The lock's name.", check=_named),
        word(component, "leader-elect-resource-namespace", "kube-system", "The lock's namespace.", check=_named),
        word(
            component,
            "leader-elect-expiry",
            "observed",
            "`observed`: a lease ends so long after a replica saw it change, on its own clock. `stored`: when the time "
            "that stands in the lease says so, by each replica's own clock, which people believe it does.",
            check=_expiry,
            ours=True,
        ),
    )
