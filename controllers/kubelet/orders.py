"""What annotations tell a hollow kubelet: how a pod runs, and that a machine is silent (contract 24).

`<prefix>/run` on a pod: `unready` runs and is never ready, `complete` and `fail` end by themselves, `hold` is never
begun. `<prefix>/run-seconds` says for how long it runs before it ends, `<prefix>/exit-code` with what.
`<prefix>/failing-probes` lists probes that fail: `startup`, `liveness`, `readiness` of every container, `main/liveness`
of one. `<prefix>/listen-after` says how many seconds after its start a container takes connections.
`<prefix>/kubelet: "off"` on a node: its machine is silent; `"gone"`: it is lost; `"shutdown"`: it shuts down, and is
silent once its pods have ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.flags.kubelet import ANNOTATION_PREFIX

PREFIX: Final = ANNOTATION_PREFIX.default

RUNS: Final = ("unready", "complete", "fail", "hold")

PROBES: Final = frozenset({"startup", "liveness", "readiness"})

SECONDS_MAX: Final = 31_536_000
EXIT_CODE_MAX: Final = 255


@dataclass(frozen=True, slots=True)
class Orders:
    """What a pod's annotations ask of its kubelet; `run` is empty, `exit_code` and `seconds` None where they say
    nothing that can be read.
    """

    run: str = ""
    exit_code: int | None = None
    seconds: int | None = None
    failing: frozenset[str] = frozenset()
    """Probes that fail: `liveness` of every container, `main/liveness` of one."""
    listen_after: int = 0
    """Seconds from a container's start until what runs there takes connections."""

    def fails(self, container: str, kind: str) -> bool:
        """Return whether a container's probe of a kind fails."""
        return kind in self.failing or f"{container}/{kind}" in self.failing


def orders_of(pod: Mapping[str, Any], prefix: str = PREFIX) -> Orders:
    """Return what a pod's annotations ask for."""
    annotations = pod["metadata"].get("annotations") or {}
    run = annotations.get(f"{prefix}/run")
    return Orders(
        run if run in RUNS else "",
        _number(annotations.get(f"{prefix}/exit-code"), EXIT_CODE_MAX),
        _number(annotations.get(f"{prefix}/run-seconds"), SECONDS_MAX),
        frozenset(failing_of(annotations.get(f"{prefix}/failing-probes"))),
        _number(annotations.get(f"{prefix}/listen-after"), SECONDS_MAX) or 0,
    )


def failing_of(text: Any) -> list[str]:
    """Return the probes that an annotation says fail, in its order; what names none is left out."""
    words = str(text or "").replace(" ", "").split(",")
    return [word for word in dict.fromkeys(words) if word.rpartition("/")[2] in PROBES]


def is_off(node: Mapping[str, Any], prefix: str = PREFIX) -> bool:
    """Return whether a node's annotation silences its machine."""
    return (node["metadata"].get("annotations") or {}).get(f"{prefix}/kubelet") in ("off", "gone")


def is_shut_down(node: Mapping[str, Any], prefix: str = PREFIX) -> bool:
    """Return whether a node's annotation says that its machine shuts down, or has done so."""
    return bool((node["metadata"].get("annotations") or {}).get(f"{prefix}/kubelet") == "shutdown")


def is_gone(node: Mapping[str, Any], prefix: str = PREFIX) -> bool:
    """Return whether a node's annotation says that its machine does not exist any more."""
    return bool((node["metadata"].get("annotations") or {}).get(f"{prefix}/kubelet") == "gone")


def _number(text: Any, most: int) -> int | None:
    if not isinstance(text, str) or not (text.isascii() and text.isdecimal()) or len(text) > 9:
        return None
    return min(int(text), most)
