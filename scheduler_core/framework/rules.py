"""What differs between eras in how a framework runs, as one value that a profile carries.

An era's plugins are ordinary plugins; this is the rest of it: the range of scores, how refusals are worded, how long a
pod stays assumed. The defaults are kube-scheduler 1.34's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from scheduler_core.api.pod import Pod
from scheduler_core.framework.fit_error import NO_NODES_MESSAGE, fit_error
from scheduler_core.framework.interface import EXTENSION_POINTS, MAX_NODE_SCORE
from scheduler_core.framework.status import Status
from scheduler_core.framework.verdicts import FilterOutcome

CURRENT_ERA: Final = "v1.34"
"""The era of a session that names none."""


class FitErrorText(Protocol):
    """How an era words that no node fits."""

    def __call__(self, nodes: int, reasons: Mapping[str, int], *, pre_filter: str = "", post_filter: str = "") -> str:
        """Return the message; the arguments are those of `fit_error.fit_error`."""
        ...


class ScheduledText(Protocol):
    """How an era words that a pod has got its node."""

    def __call__(self, namespace: str, name: str, node_name: str) -> str:
        """Return the note of the Scheduled event."""
        ...


class ErrorText(Protocol):
    """How an era words that a plugin broke."""

    def __call__(self, point: str, plugin: str, pod: Pod, message: str) -> str:
        """Return the error's text.

        Args:
            point: `PreFilter`, `Filter` …; of Score `Score`, `NormalizeScore` or `Weight` (the score is out of range).
            plugin: whose error it is.
            pod: the pod in hand.
            message: what the plugin said.
        """
        ...


def error_text(point: str, plugin: str, pod: Pod, message: str) -> str:
    """Return today's text of a plugin's error."""
    quoted = f'"{plugin}"'
    match point:
        case "Filter":
            return f"running {quoted} filter plugin: {message}"
        case "Score":
            return f"running Score plugins: plugin {quoted} failed with: {message}"
        case "NormalizeScore":
            return f"running Normalize on Score plugins: plugin {quoted} failed with: {message}"
        case "Weight":
            return f"applying score defaultWeights on Score plugins: plugin {quoted} {message}"
        case _:
            return f"running {point} plugin {quoted}: {message}"


def scheduled_note(namespace: str, name: str, node_name: str) -> str:
    """Return today's note of the Scheduled event."""
    return f"Successfully assigned {namespace}/{name} to {node_name}"


@dataclass(frozen=True, slots=True)
class Rules:
    """How a framework of one era runs.

    Attributes:
        era: name, as in the command object's spec.
        score_max: what the best node gets from one plugin after normalisation, before its weight (today's
            MaxNodeScore 100; MaxPriority 10 before the framework).
        fit_error: words that no node fits.
        node_fit_error: (pod's name, what Filter said) → the words of an era that speaks of each node; it takes the
            place of `fit_error` where Filter has run.
        no_nodes: the message of an attempt in a cluster without nodes.
        scheduled_note: words the Scheduled event.
        error_text: words that a plugin broke.
        pre_filter_refusal: (plugin, what it said) → the words of an era for a pod that PreFilter turned away; None: the
            plugin's own.
        refusal: (pod's name, status, whether it had waited) → the words of an era for a pod that Permit turned away;
            None: those of `fit_error`.
        expiry_ms: simulated milliseconds that an assumed pod may stay unconfirmed once its binding went out; None: for
            ever, as upstream has it since 1.23.
        feasible_max: feasible nodes at which the search stops, the next one beginning behind where it stopped; None: as
            percentageOfNodesToScore has it.
        run_all_filters: a node's refusal is that of every filter that fails there, not of the first alone.
        extension_points: name of each point in a profile's sets → its protocol.
        point_names: points that the era calls otherwise: today's name → the era's (`PreScore` → `PostFilter`).
        pre_filter_fits: a PreFilter plugin's no is a FitError, so PostFilter has its turn; else the first such no ends
            the attempt.
        pre_score_of_one: PreScore runs for a single feasible node, too.
        nominated_first: a pod's nominated node is tried before all others and, if it passes, taken alone (upstream
            since 1.21); else it is one among the others.
        pops_backoff: with nothing active the pod whose backoff ends first goes early.
        unschedulable_max_ms: simulated milliseconds after which a pod that no event helped is tried again; None: the
            queue's own.
        change_activates: a pod that was turned away goes back to the active lane, backoff or not, when anything of it
            changes but its status.
        waits_for_events: a pod that was turned away waits for an event that may help; without, it is tried again as
            soon as its backoff is over.
    """

    era: str = CURRENT_ERA
    score_max: int = MAX_NODE_SCORE
    fit_error: FitErrorText = fit_error
    node_fit_error: Callable[[str, FilterOutcome], str] | None = None
    no_nodes: str = NO_NODES_MESSAGE
    scheduled_note: ScheduledText = scheduled_note
    error_text: ErrorText = error_text
    pre_filter_refusal: Callable[[str, str], str] | None = None
    refusal: Callable[[str, Status, bool], str] | None = None
    expiry_ms: int | None = None
    feasible_max: int | None = None
    run_all_filters: bool = False
    extension_points: Mapping[str, type] = field(default_factory=lambda: EXTENSION_POINTS)
    point_names: Mapping[str, str] = field(default_factory=dict)
    pre_filter_fits: bool = True
    pre_score_of_one: bool = False
    nominated_first: bool = True
    pops_backoff: bool = True
    unschedulable_max_ms: int | None = None
    change_activates: bool = False
    waits_for_events: bool = True

    def point(self, name: str) -> str:
        """Return the era's name of an extension point as traces have it (`PreScore`)."""
        return self.point_names.get(name, name)

    def set_name(self, name: str) -> str:
        """Return the era's name of a point as configurations have it (`preScore`)."""
        shown = self.point(name[:1].upper() + name[1:])
        return shown[:1].lower() + shown[1:]


CURRENT_RULES: Final = Rules()
