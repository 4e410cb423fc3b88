"""Lesson: where a course stands, and the scripts that it plays."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Object, Shape


class Script(Shape, frozen=True):
    """Script is what the session's owner performs, action by action; a new id is a new script."""

    id: Annotated[int, Meta(description="Grows with every request.")] = 0
    path: Annotated[str, Meta(description="Names it in messages.")] = ""
    actions: Annotated[list[Object], Meta(description="What is done, in order, as docs/lessons.md has it.")] = []


class LessonSpec(Shape, frozen=True):
    """LessonSpec is where a lesson stands: for a class, or for somebody alone."""

    package: Annotated[str, Meta(description="The lesson's id.")] = ""
    minimum: Annotated[bool, Meta(description="The short version.")] = False
    alone: Annotated[bool, Meta(description="Whoever opened it learns without a teacher.")] = False
    ticket: Annotated[bool, Meta(description="The exit ticket alone.")] = False
    again: Annotated[str, Meta(description="A lesson whose exit ticket is asked before the first step.")] = ""
    step: Annotated[str, Meta(description="The step that it has come to; empty: it has not begun, or is over.")] = ""
    phase: Annotated[
        Literal["", "ask", "end", "reveal", "scene", "so", "wait"],
        Meta(description="What of the step is shown."),
    ] = ""
    asks: Annotated[bool, Meta(description="The step asks something after its scene.")] = False
    poll: Annotated[str, Meta(description="The poll of the step, empty where none was asked.")] = ""
    hint: Annotated[bool, Meta(description="The step's hint is shown.")] = False
    done: Annotated[list[str], Meta(description="The steps that have come to their end.")] = []
    checkpoints: Annotated[dict[str, int], Meta(description="Step: the revision at which it began.")] = {}
    began: Annotated[dict[str, int], Meta(description="Step: the simulated milliseconds at which it began.")] = {}
    script: Annotated[Script | None, Meta(description="What happens now.")] = None


class ScriptStatus(Shape, frozen=True):
    """ScriptStatus is how far a script has come: playing, done or failed."""

    open_fields: ClassVar[bool] = True

    id: int = 0
    done: int = 0
    of: int = 0
    state: str = ""
    message: str = ""
    began_ms: Annotated[int, Meta(ge=0)] = 0
    waits_ms: Annotated[int, Meta(ge=0)] | None = None


class LessonStatus(Shape, frozen=True):
    """LessonStatus is what the session's owner has made of the script."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0
    script: ScriptStatus | None = None


class Lesson(Shape, frozen=True):
    """Lesson is the lesson that a session goes through."""

    spec: LessonSpec = LessonSpec()
    status: LessonStatus = LessonStatus()
