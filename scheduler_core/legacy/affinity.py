"""Node affinity as the era wrote it: JSON in the annotation `scheduler.alpha.kubernetes.io/affinity`.

The text calls it a label; it is an annotation. Its members are those of today's `spec.affinity`, which came with 1.6
and is honoured beside it: what both ask must hold, and preferences of both count. Pod affinity in the annotation is
ignored: no predicate of the era's default provider read it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import view
from scheduler_core.api.pod import Affinity, NodeAffinity, Pod

ANNOTATION: Final = "scheduler.alpha.kubernetes.io/affinity"

ANNOTATIONS_MAX: Final = 512
"""Annotations whose reading is kept; past it the one used longest ago is read again."""


class AffinityError(ValueError):
    """An annotation that cannot be read."""


@lru_cache(maxsize=ANNOTATIONS_MAX)
def _read(text: str) -> NodeAffinity | AffinityError | None:
    try:
        return view(msgspec.json.decode(text), Affinity).node_affinity
    except (msgspec.DecodeError, UnicodeEncodeError) as wrong:
        return AffinityError(f"annotation {ANNOTATION} is no JSON: {wrong}")
    except ApiError as wrong:
        return AffinityError(f"annotation {ANNOTATION}: {wrong.message}")


def node_affinities(pod: Pod) -> list[NodeAffinity]:
    """Return the pod's node affinities: the annotation's, the spec's.

    Raises:
        AffinityError: the annotation cannot be read.
    """
    found: list[NodeAffinity] = []
    text = pod.metadata.annotations.get(ANNOTATION, "")
    if text:
        written = _read(text)
        if isinstance(written, AffinityError):
            raise AffinityError(str(written))
        if written is not None:
            found.append(written)
    if pod.spec.affinity is not None and pod.spec.affinity.node_affinity is not None:
        found.append(pod.spec.affinity.node_affinity)
    return found
