"""What a lesson package is once it has been read: `lesson.yaml`, typed. Field names are those of the file."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

Object = dict[str, Any]
Name = Annotated[str, Meta(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]
"""Ids of packages, steps and options: lower-case letters, digits, dashes."""

HOLDS: Final = ("before-prefilter", "now", "paper")


class Shape(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of what a package is made of."""


class Label(Shape, frozen=True, kw_only=True):
    """A short text in each language."""

    en: Annotated[str, Meta(min_length=1, max_length=400)]
    zh: Annotated[str, Meta(min_length=1, max_length=400)]


class Option(Shape, frozen=True, kw_only=True):
    """One answer: right when its predicate holds once the wait is over; `model` is the rule that gives it."""

    id: Name
    label: Label
    right: str
    model: str = ""


class Ask(Shape, frozen=True, kw_only=True):
    """The question of a step.

    Attributes:
        kind: choice has options; the others make their own.
        hold: how time is held while it is open.
        pod: the pod that is asked about, `name` or `namespace/name`.
        question: what is asked.
        options: the answers of a choice.
        models: answer → rule, of kinds that make their own answers.
        because: ids of rules offered as reasons; empty: those of the models.
        limit: seconds of a round.
    """

    kind: Literal["choice", "node", "victims", "leader"]
    hold: Literal["before-prefilter", "now", "paper"] = "now"
    pod: str = ""
    question: Label
    options: list[Option] = []
    models: dict[str, str] = {}
    because: list[str] = []
    limit: Annotated[int, Meta(ge=10, le=600)] = 60


class Scene(Shape, frozen=True, kw_only=True):
    """What stands before the question: nodes and objects of a cleared cluster, then actions, then what people see."""

    nodes: list[Object] = []
    objects: list[Object] = []
    do: list[Object] = []
    view: Object = {}


class Wait(Shape, frozen=True, kw_only=True):
    """What happens between answer and reveal.

    Attributes:
        do: actions that start it.
        until: a predicate; empty: the decision about the pod that is asked about, if one is.
        seconds: real seconds until the teacher has to help.
        make_it_so: actions, or `step`, that bring it about at once.
    """

    do: list[Object] = []
    until: str = ""
    seconds: Annotated[float, Meta(gt=0, le=120)] = 20.0
    make_it_so: list[Object] | Literal["step"] = []


class Reveal(Shape, frozen=True, kw_only=True):
    """What people see at the end, and what has to be true then."""

    view: Object = {}
    check: list[str] = []


class Step(Shape, frozen=True, kw_only=True):
    """One step; `fresh`: on a cleared cluster, else on what the step before left."""

    id: Name
    title: Label
    minutes: Annotated[int, Meta(ge=1, le=60)]
    minimum: bool = False
    fresh: bool = False
    scene: Scene = Scene()
    ask: Ask | None = None
    wait: Wait | None = None
    reveal: Reveal = Reveal()
    checks: list[str] = []
    seed: Annotated[int, Meta(ge=0)] | None = None


class Package(Shape, frozen=True, kw_only=True):
    """A lesson.

    Attributes:
        document: the seed that it is about.
        art: the picture on the lesson's card: its `kind`, what that kind draws, and `step`, after whose wait all of
            `check` has to hold.
    """

    id: Name
    number: Annotated[int, Meta(ge=0, le=999)]
    document: Annotated[int, Meta(ge=0, le=9)] | None = None
    title: Label
    idea: Label
    minutes: Annotated[int, Meta(ge=1, le=300)]
    minimum_minutes: Annotated[int, Meta(ge=1, le=300)]
    template: str = "empty"
    nodes: list[Object] = []
    objects: list[Object] = []
    seed: Annotated[int, Meta(ge=0)] = 0
    pace: Annotated[int, Meta(ge=0, le=60_000)] = 0
    art: Object | None = None
    author: str = ""
    steps: Annotated[list[Step], Meta(min_length=1, max_length=40)]
    ticket: Step | None = None
