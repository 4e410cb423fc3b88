"""Ports that containers of one pod share: the second program that would listen on one ends, as it does on a real node.

It is known of well known images alone, as long as nothing says that they are to do something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from controllers.kubelet.containers import Container
from controllers.kubelet.images import image_of
from controllers.kubelet.stages.pods import Listens


def taken(own: Container, containers: Iterable[Container], rules: Iterable[Listens]) -> Listens | None:
    """Return what a container listens on whose port another one has that was started before it; None: it has its own.

    Args:
        own: the container; it has been started.
        containers: those of its pod, in the order in which they are started.
        rules: what is known of images.
    """
    rules = tuple(rules)
    rule = _rule_of(own.spec, rules)
    if rule is None or not own.started_at:
        return None
    is_before = True
    for other in containers:
        if other.name == own.name:
            is_before = False
        elif other.state == "running" and (one := _rule_of(other.spec, rules)) and one.port == rule.port:
            since = other.started_at
            if since < own.started_at or (is_before and since == own.started_at):
                return rule
    return None


def _rule_of(container: Mapping[str, Any], rules: Iterable[Listens]) -> Listens | None:
    if container.get("command") or container.get("args"):
        return None
    image = image_of(str(container.get("image", ""))).full
    rule = next((one for one in rules if fnmatchcase(image, one.image)), None)
    if rule is None:
        return None
    for mount in container.get("volumeMounts") or ():
        path = "/" + str(mount.get("mountPath", "")).strip("/")
        if rule.settings and (f"{path}/".startswith(f"{rule.settings}/") or f"{rule.settings}/".startswith(f"{path}/")):
            return None
    return rule
