"""What a preemption did, step by step, as traces tell it: from the FitError that triggered it to each victim's end."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.snapshot.node_info import PodInfo

PREEMPTOR: Final = "preemption/preemptor"
"""Where CycleState keeps the preemptor's newest view, in a tuple: (None,) where it is gone."""


class StepName(StrEnum):
    """The steps, in the order in which one preemption can come to them."""

    TRIGGERED = "triggered"
    """No node fits: a FitError. Nothing else triggers a preemption."""
    READ_AFRESH = "readAfresh"
    """The preemptor's newest view is taken; an error where it is gone."""
    NOT_ELIGIBLE = "notEligible"
    """It may not preempt; `text` says why."""
    POTENTIAL_NODES = "potentialNodes"
    """`count` nodes where evicting pods might help."""
    DRY_RUN = "dryRun"
    """`count` candidates were found."""
    EXTENDED = "extended"
    """`count` candidates are left by the extenders; absent where none was asked."""
    CHOSEN = "chosen"
    """`node` costs least."""
    OWN_NOMINATION_CLEARED = "ownNominationCleared"
    """No node can be freed, so the pod's own nomination, to `node`, goes."""
    HELD = "held"
    """The pod waits outside the active lane while its victims are told."""
    NOMINATED_IN_QUEUE = "nominatedInQueue"
    """The queue counts the pod on `node`, before the API knows."""
    NOMINATION_WRITTEN = "nominationWritten"
    """The API call that sets `status.nominatedNodeName`; `error` where it was refused."""
    ROLLED_BACK = "rolledBack"
    """The queue's nomination is taken back: the API call was refused."""
    NOMINATION_CLEARED = "nominationCleared"
    """A lesser pod's nomination to the node goes."""
    VICTIM_DELETED = "victimDeleted"
    VICTIM_REJECTED = "victimRejected"
    """A victim that waited at Permit is turned away."""
    VICTIM_GONE = "victimGone"
    """A victim had gone already."""
    VICTIM_TERMINATING = "victimTerminating"
    """A victim is going already: nothing is asked again."""
    VICTIM_SPARED = "victimSpared"
    """A victim before it could not be told, so this one is not."""
    RELEASED = "released"
    """The pod may enter the active lane again."""
    ACTIVATED = "activated"
    """A call was refused, so no deletion may ever come: the pod looks again at once."""


class Step(msgspec.Struct, frozen=True):
    """One step; what does not apply is empty.

    Attributes:
        name: what happened.
        node: the node it was about.
        pod: namespace/name of the pod it was about, where that is not the preemptor.
        count: how many, None where nothing was counted.
        text: in words.
        error: what an API call was refused with.
    """

    name: StepName
    node: str = ""
    pod: str = ""
    count: int | None = None
    text: str = ""
    error: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the form that traces hold: `step`, and what is not empty."""
        shown: dict[str, Any] = {"step": self.name.value}
        for name in self.__struct_fields__[1:]:
            value = getattr(self, name)
            if value not in ("", None):
                shown[name] = value
        return shown


def read_afresh(state: CycleState, pod: PodInfo) -> PodInfo | None:
    """Return the preemptor's newest view, None where it is gone; the pod itself in a cycle that keeps none."""
    kept: tuple[PodInfo | None] | None = state.get(PREEMPTOR)
    return pod if kept is None else kept[0]
