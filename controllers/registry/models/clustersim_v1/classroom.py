"""Bookmark and Poll: what a teacher keeps of a session, and asks in it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Object, Shape


class BookmarkSpec(Shape, frozen=True):
    """BookmarkSpec names a moment of the session's log."""

    name: Annotated[str, Meta(description="What people call the moment.")] = ""
    revision: Annotated[int, Meta(ge=1, description="The resourceVersion that the session had then.")] = 1
    at_ms: Annotated[int, Meta(ge=0, description="Simulated milliseconds of the moment.")] = 0


class Bookmark(Shape, frozen=True):
    """Bookmark is a moment of the log that somebody has given a name."""

    spec: BookmarkSpec = BookmarkSpec()


class PollSpec(Shape, frozen=True):
    """PollSpec is what a class is asked; nothing in it tells which answer is right."""

    kind: Annotated[
        Literal["choice", "leader", "node", "victims"],
        Meta(description="What an answer is: node, victims, leader, choice."),
    ] = "choice"
    pod: Annotated[str, Meta(description="The pod that is asked about, as namespace/name; empty: none.")] = ""
    question: Annotated[dict[str, str], Meta(description="The question, by language (en, zh).")] = {}
    options: Annotated[
        list[Object], Meta(description="What there is to choose from: id, label by language, facts.")
    ] = []
    because: Annotated[list[Object], Meta(description="Reasons that a vote may give: id, label by language.")] = []
    hold: Annotated[
        Literal["", "before-prefilter", "now", "paper"],
        Meta(description="Where time stands: before the pod's PreFilter, now, or it does not (paper)."),
    ] = ""
    limit: Annotated[int, Meta(ge=0, le=3600, description="Seconds of a round; 0: until it is closed.")] = 0
    alone: Annotated[bool, Meta(description="Whoever opened it answers it, and is told no more than a class.")] = False
    node: Annotated[str, Meta(description="The node that the pod had when the poll was opened.")] = ""
    lesson: Annotated[Object | None, Meta(description="The step of the lesson that asks.")] = None


class PollStatus(Shape, frozen=True):
    """PollStatus is how far the poll has come; right and chosen stand in it once it is revealed.

    Then the class may be shown the world under one rule after another: rule is the one that is shown, rules all that
    come to something else than the engine, the one that most votes believed first.
    """

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    state: str = "open"
    round: Annotated[int, Meta(ge=1)] = 1
    opened_ms: int = 0
    ends_ms: int | None = None
    seals: bool = True
    right: list[str] | None = None
    chosen: str | None = None
    rule: str = ""
    rules: list[str] = msgspec.field(default_factory=list)


class Poll(Shape, frozen=True):
    """Poll asks a class something that the engine decides."""

    spec: PollSpec = PollSpec()
    status: PollStatus = PollStatus()
