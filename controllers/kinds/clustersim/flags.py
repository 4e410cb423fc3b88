"""Flags: the command lines of the session's components."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.flags.flag import COMPONENTS
from controllers.flags.table import wrong_flags
from controllers.kinds.clustersim.common import command, with_spec
from controllers.registry.kind import Column
from scheduler_core.api.document import at


def _written(component: str) -> Callable[[Mapping[str, Any], Any], str]:
    """Return the cell of a component's flags, as they stand on a command line."""

    def cell(document: Mapping[str, Any], age: Any) -> str:
        return " ".join(f"--{name}={text}" for name, text in (at(document, "spec", component) or {}).items())

    return cell


KIND: Final = command(
    "Flags",
    "flags",
    *(
        Column(
            name, "string", f"What is set of {name}.", _written(name), priority=int(name in ("kubelet", "kube-proxy"))
        )
        for name in COMPONENTS
    ),
    defaults=with_spec,
    validate=lambda document: wrong_flags(document["spec"], "spec."),
    page={"spec": True, "status": True},
)
