"""The table of flags: every component's, and how a document of `flags.clustersim.io` is read and checked by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.flags import apiserver, controllermanager, kubelet, kubeproxy, scheduler
from controllers.flags.election import ElectionFlags
from controllers.flags.flag import COMPONENTS, Flag, Flags
from scheduler_core.api.errors import Cause

RESOURCE: Final = "flags.clustersim.io"
"""The command object that holds what is set."""

NAME: Final = "flags"
"""Its name. There is none before somebody sets a flag: all have their defaults then."""

TABLE: Final[tuple[Flag[Any], ...]] = (
    *apiserver.TABLE,
    *controllermanager.TABLE,
    *scheduler.TABLE,
    *kubelet.TABLE,
    *kubeproxy.TABLE,
)

ELECTIONS: Final[Mapping[str, ElectionFlags]] = {
    "kube-controller-manager": controllermanager.ELECTION,
    "kube-scheduler": scheduler.ELECTION,
}
"""Component → its flags of leader election."""

_BY_NAME: Final[Mapping[tuple[str, str], Flag[Any]]] = {(flag.component, flag.name): flag for flag in TABLE}


def find(component: str, name: str) -> Flag[Any] | None:
    """Return a flag; None: there is none of this name."""
    return _BY_NAME.get((component, name))


def read_flags(spec: Any) -> Flags:
    """Return the flags that a spec sets (component → name → text); what cannot be read has its default."""
    values: dict[tuple[str, str], Any] = {}
    for (component, name), flag in _BY_NAME.items():
        section = spec.get(component) if isinstance(spec, Mapping) else None
        text = section.get(name) if isinstance(section, Mapping) else None
        if isinstance(text, str):
            try:
                values[component, name] = flag.parse(text)
            except ValueError:
                continue
    return Flags(values)


def wrong_flags(spec: Mapping[str, Any], path: str = "") -> list[Cause]:
    """Return what is wrong with a spec (component → name → text), in the words of upstream's command lines.

    Args:
        spec: texts of flags by component and name; members without a component's name are not looked at.
        path: what the fields of causes begin with, its dot included.
    """
    causes: list[Cause] = []
    for component in COMPONENTS:
        for name, text in (spec.get(component) or {}).items():
            where, flag = f"{path}{component}.{name}", find(component, name)
            if flag is None:
                causes.append(Cause(where[:200], f"unknown flag: --{name[:80]}"))
                continue
            try:
                flag.parse(text)
            except ValueError as wrong:
                causes.append(Cause(where, f'invalid argument "{text[:80]}" for "--{name}" flag: {wrong}'))
    for elected, election in ELECTIONS.items():
        causes.extend(_wrong_election(read_flags(spec), election, f"{path}{elected}."))
    return causes


def _wrong_election(flags: Flags, election: ElectionFlags, path: str) -> list[Cause]:
    """Return what client-go's elector refuses to run with."""
    causes: list[Cause] = []
    if flags[election.lease_duration] <= flags[election.renew_deadline]:
        causes.append(
            Cause(f"{path}{election.lease_duration.name}", "leaseDuration must be greater than renewDeadline")
        )
    if flags[election.renew_deadline] * 10 <= flags[election.retry_period] * 12:
        causes.append(
            Cause(
                f"{path}{election.renew_deadline.name}", "renewDeadline must be greater than retryPeriod*JitterFactor"
            )
        )
    return causes


def told_flags(spec: Any) -> dict[str, dict[str, str]]:
    """Return all flags in force as they are written: component → name → text."""
    told: dict[str, dict[str, str]] = {component: {} for component in COMPONENTS}
    for flag in TABLE:
        section = spec.get(flag.component) if isinstance(spec, Mapping) else None
        text = section.get(flag.name) if isinstance(section, Mapping) else None
        told[flag.component][flag.name] = text if isinstance(text, str) else flag.text
    return told
