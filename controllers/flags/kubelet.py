"""Flags of the hollow kubelets."""

from __future__ import annotations

import re
from typing import Any, Final

from controllers.flags.flag import Flag, era, word

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

TABLE: Final[tuple[Flag[Any], ...]] = (ANNOTATION_PREFIX, ERA)
