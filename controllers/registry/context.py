"""Who writes through the registry, and what may be asked of the guard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

from controllers.log.draft import Draft
from controllers.log.operations import Operation
from controllers.log.store import Stored
from controllers.registry.marks import Mark, Marks, StepName
from controllers.registry.repeats import Run
from scheduler_core.expressions.authorizing import Authorize

SESSION: Final = "session"
"""Who writes what a session begins with, and what its own routes write."""

Guard = Callable[[Operation, Stored | None, Draft | None], None]
"""Roles: gets the operation, the object before and the object as it would be stored; raises ApiError 403."""

_UNNOTED: Final = nullcontext()
_EVERYBODY: Final = "system:authenticated"


@lru_cache(maxsize=1024)
def user_info(actor: str) -> Mapping[str, Any]:
    """Return the UserInfo of an author of the log, as upstream calls its components; shared, read-only."""
    component, _, part = actor.partition("/")
    if component.startswith("user:"):
        return {"username": component.removeprefix("user:"), "groups": [_EVERYBODY]}
    if component == "kubelet":
        return {"username": f"system:node:{part}", "groups": ["system:nodes", _EVERYBODY]}
    if component.startswith("kube-scheduler"):
        return {"username": "system:kube-scheduler", "groups": [_EVERYBODY]}
    if component.startswith("kube-controller-manager") and part:
        accounts = ["system:serviceaccounts", "system:serviceaccounts:kube-system", _EVERYBODY]
        return {"username": f"system:serviceaccount:kube-system:{part}-controller", "groups": accounts}
    return {"username": "system:apiserver", "groups": ["system:masters", _EVERYBODY]}


@dataclass(frozen=True, slots=True)
class Repeated:
    """What a body says twice."""

    texts: Sequence[tuple[int, str]]
    """(place among all fields, sentence)."""
    places: Mapping[str, int]
    """Where each field stands, by its path."""


@dataclass(slots=True)
class Context:
    """Who writes, and how names and uids are made. `warnings` is filled by the registry."""

    actor: str
    epoch_ms: int
    new_uid: Callable[[], str]
    new_suffix: Callable[[], str]
    now_ms: int = 0
    field_validation: Literal["Ignore", "Warn", "Strict"] = "Warn"
    field_manager: str = ""
    """Who owns what this write changes (managed fields); empty: owners stay as they are."""
    dry_run: bool = False
    explains: bool = False
    """Whether whoever writes is told what this cluster does otherwise than a real one: on the page, never through the
    API, which answers as a real one does."""
    creator: Mapping[str, str] = field(default_factory=dict)
    user: Mapping[str, Any] | None = None
    """The UserInfo of whoever writes, where it does not follow from the actor."""
    warnings: list[str] = field(default_factory=list)
    created: bool = False
    """Set where a patch created what it is of."""
    guard: Guard | None = None
    authorize: Authorize | None = None
    """Who tells expressions who may do what; None: everybody may everything."""
    marks: Marks | None = None
    """Where the steps of this write are noted; None: nowhere."""
    emptied: Mapping[str, Any] = field(default_factory=dict)
    """The body's empty lists and maps by where they were: they are left out, and some of upstream's rules, and what its
    sentences show, tell them from none."""
    off: Mapping[str, Any] = field(default_factory=dict)
    """What the body has and is left out because its feature is off, by where it was: who sends it owns it."""
    repeated: Repeated | None = None
    """What the body says twice; None: nothing."""
    spelled: Mapping[str, bytes] | None = None
    """How members of the body are spelled, where that counts (`Kind.spelled`); None: nowhere."""
    run: Run | None = None
    """The run of creates that this write belongs to; None: it stands alone."""
    drawn: list[str] = field(default_factory=list)
    """What was drawn for this write, in order, where its run wants to know."""

    @property
    def user_info(self) -> Mapping[str, Any]:
        """Return the UserInfo of whoever writes: `{username, groups, uid?, extra?}`."""
        return {"uid": "", "extra": {}, **(user_info(self.actor) if self.user is None else self.user)}

    @property
    def looked_up(self) -> set[str] | None:
        """Return the set that takes the resources that the admission of a run of creates depends on."""
        return None if self.run is None else self.run.looked_up

    @property
    def unix_ms(self) -> int:
        """Return Unix milliseconds of this write."""
        return self.epoch_ms + self.now_ms

    def step(self, step: StepName, plugin: str = "") -> AbstractContextManager[Mark | None]:
        """Note a step, where somebody asks for them."""
        return _UNNOTED if self.marks is None else self.marks.step(step, plugin)

    def check(self, operation: Operation, old: Stored | None, new: Draft | None) -> None:
        """Ask the guard, where there is one.

        Raises:
            ApiError: 403.
        """
        if self.guard is not None:
            self.guard(operation, old, new)
