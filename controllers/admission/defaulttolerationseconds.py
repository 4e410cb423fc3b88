"""DefaultTolerationSeconds: a pod stays for five minutes on a node that is not ready or cannot be reached.

Source: plugin/pkg/admission/defaulttolerationseconds.
"""

from __future__ import annotations

from typing import Final

from controllers.admission.common import on
from controllers.flags.apiserver import NOT_READY_TOLERATION, UNREACHABLE_TOLERATION
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api.document import child

_DEFAULTS: Final = (
    ("node.kubernetes.io/not-ready", NOT_READY_TOLERATION),
    ("node.kubernetes.io/unreachable", UNREACHABLE_TOLERATION),
)


def _mutate(attempt: Attempt) -> str:
    spec = child(attempt.document, "spec")
    present = spec.get("tolerations") or []
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": attempt.flags[flag]}
        for key, flag in _DEFAULTS
        if not any(
            one.get("key") in (key, None, "") and one.get("effect") in ("NoExecute", None, "") for one in present
        )
    ]
    if added:
        spec["tolerations"] = [*present, *added]
    return ", ".join(f"tolerates {one['key']} for {one['tolerationSeconds']} s" for one in added)


PLUGIN: Final = Plugin(
    "DefaultTolerationSeconds",
    "Lets pods stay for a while on nodes that are not ready or cannot be reached.",
    watches=on("pods", verbs=("create", "update")),
    mutate=_mutate,
)
