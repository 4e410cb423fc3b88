"""How long containers take between being told to end and being gone: their hooks, then what they need themselves.

Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (killContainer, executePreStopHook), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.core.commands import script_of
from controllers.kubelet.shell.running import FOREVER_MS

GRACE_MS_MIN: Final = 2_000
"""What containers have at least between being asked to end and being killed, whatever was asked for."""

_UNITS: Final = {"": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SLEEP: Final = re.compile(r"(?:\S*/)?sleep\s+(?:(\d{1,9}(?:\.\d{1,3})?)([smhd]?)|inf(?:inity)?)")
_PARTS: Final = re.compile(r";|&&|\n")
_BRANCHES: Final = re.compile(r"\s*(while|until|for|if|case|exit|exec|trap)\b")
"""From here on a script may go any way."""


def hook_ms(container: Mapping[str, Any]) -> int:
    """Return how long `lifecycle.preStop` of a container takes: its sleep, or those of its command that are certain."""
    hook = (container.get("lifecycle") or {}).get("preStop") or {}
    words = [str(word) for word in (hook.get("exec") or {}).get("command") or ()]
    if not words:
        return 1000 * int((hook.get("sleep") or {}).get("seconds") or 0)
    total_ms = 0
    for part in _PARTS.split(script_of(words) or " ".join(words)):
        if _BRANCHES.match(part):
            break
        found = _SLEEP.fullmatch(part.strip())
        if found is not None:
            total_ms += FOREVER_MS if found[1] is None else round(float(found[1]) * _UNITS[found[2]])
    return min(total_ms, FOREVER_MS)


def pre_stop_ms(pod: Mapping[str, Any]) -> int:
    """Return the longest hook of the pod's containers: so long they are not asked to end."""
    return max(map(hook_ms, pod["spec"].get("containers") or ()), default=0)


def ending_ms(hook_ms: int, own_ms: int, grace_ms: int) -> int:
    """Return how long it takes until a container is gone: what its hook leaves of its grace, it has itself.

    Args:
        hook_ms: how long its hook takes.
        own_ms: how long it takes itself once it is asked.
        grace_ms: how long it may take.
    """
    if not hook_ms:
        return min(own_ms, grace_ms)
    hook_ms = min(hook_ms, grace_ms)
    return hook_ms + min(own_ms, max(grace_ms - hook_ms, GRACE_MS_MIN))
