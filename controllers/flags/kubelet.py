"""Flags of the hollow kubelets."""

from __future__ import annotations

import re
from typing import Any, Final

from controllers.flags.flag import Flag, duration, era, whole, word
from controllers.flags.thresholds import (
    EVICTION_HARD,
    EVICTION_RECLAIM,
    EVICTION_SOFT,
    EVICTION_SOFT_GRACE,
    SHUTDOWN_BY_PRIORITY,
)

_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def _prefix(text: str) -> None:
    if len(text) > 253 or _SUBDOMAIN.fullmatch(text) is None:
        raise ValueError("must be a lowercase RFC 1123 subdomain, as the prefix of an annotation is")


ANNOTATION_PREFIX: Final = word(
    "kubelet",
    "annotation-prefix",
    "clustersim.io",
    'Before the slash of the annotations that kubelets obey: `kubelet: "off"` on a node, `run`, `exit-code` and '
    "`run-seconds` on a pod.",
    check=_prefix,
    ours=True,
)

ERA: Final = era(
    "kubelet", "`v1.2`: nodes have the condition OutOfDisk; the annotation `pressure: out-of-disk` makes it true."
)

EVICTION_POD_GRACE: Final = whole(
    "kubelet",
    "eviction-max-pod-grace-period",
    0,
    "Seconds that a pod has at most that goes for `eviction-soft`.",
)
PRESSURE_TRANSITION: Final = duration(
    "kubelet",
    "eviction-pressure-transition-period",
    "5m0s",
    "How long a node goes on telling that it runs out of something after it has enough again.",
    least_ms=0,
)
SHUTDOWN_GRACE: Final = duration(
    "kubelet",
    "shutdown-grace-period",
    "0s",
    "How long a machine waits for its pods when it shuts down; 0: not at all (`shutdownGracePeriod` of upstream's "
    "configuration file).",
    least_ms=0,
    ours=True,
)
SHUTDOWN_CRITICAL: Final = duration(
    "kubelet",
    "shutdown-grace-period-critical-pods",
    "0s",
    "The part of `shutdown-grace-period` that critical pods have, after the others "
    "(`shutdownGracePeriodCriticalPods` of upstream's configuration file).",
    least_ms=0,
    ours=True,
)

TABLE: Final[tuple[Flag[Any], ...]] = (
    ANNOTATION_PREFIX,
    ERA,
    EVICTION_HARD,
    EVICTION_SOFT,
    EVICTION_SOFT_GRACE,
    EVICTION_RECLAIM,
    EVICTION_POD_GRACE,
    PRESSURE_TRANSITION,
    SHUTDOWN_GRACE,
    SHUTDOWN_CRITICAL,
    SHUTDOWN_BY_PRIORITY,
)
