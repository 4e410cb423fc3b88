"""The course of a lesson: its steps and their phases, where one can go from a place, and what is played for that.

Pure: whoever leads the lesson (`clustersim/sessionapi/teaching.py`) keeps the place, opens polls, has scripts played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from controllers.lesson.prose import Block
from controllers.lesson.reading import Lesson
from controllers.lesson.scripts import scene_script, until_of, wait_script
from controllers.lesson.shape import Step
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

SCENE, ASK, WAIT, REVEAL, SO, END = "scene", "ask", "wait", "reveal", "so", "end"


class Place(NamedTuple):
    """Where a lesson stands; without a step it is over."""

    step: str
    phase: str


class Course:
    """One way through a lesson."""

    def __init__(
        self, lesson: Lesson, *, minimum: bool = False, ticket: bool = False, again: Lesson | None = None
    ) -> None:
        """Choose a way.

        Args:
            lesson: the package.
            minimum: the short version.
            ticket: the exit ticket alone.
            again: another lesson, whose exit ticket is asked before the first step.
        """
        self.lesson = lesson
        package = lesson.package
        steps = [step for step in package.steps if step.minimum or not minimum]
        if ticket and package.ticket is not None:
            steps = [package.ticket]
        self._sources = {step.id: lesson for step in steps}
        self.again: Lesson | None = None
        """The lesson whose exit ticket is the first step here."""
        if again is not None and again.package.ticket is not None and not ticket:
            self.again = again
            steps.insert(0, again.package.ticket)
            self._sources[again.package.ticket.id] = again
        self.steps: Sequence[Step] = steps
        self._by_id = {step.id: step for step in steps}

    def step(self, name: str) -> Step:
        """Return a step.

        Raises:
            ApiError: 404, it is none of this way.
        """
        found = self._by_id.get(name)
        if found is None:
            known = ", ".join(self._by_id)
            raise ApiError(
                404,
                "NotFound",
                said("lesson.noStep", "no step {name!r} here: there are {known}", name=name[:63], known=known),
                name=name[:63],
            )
        return found

    def index(self, name: str) -> int:
        """Return a step's place in the order, from 0."""
        return self.steps.index(self.step(name))

    @property
    def first(self) -> Place:
        """Return where the lesson begins."""
        return Place(self.steps[0].id, SCENE)

    def phases(self, step: Step) -> tuple[str, ...]:
        """Return the phases that a step has, in order."""
        found = [SCENE]
        if step.ask is not None:
            found.append(ASK)
        if until_of(step) or (step.wait is not None and step.wait.do):
            found.append(WAIT)
        if any(prose.get(step.id, {}).get(REVEAL) for prose in self._sources[step.id].prose.values()):
            found.append(REVEAL)
        return (*found, SO)

    def text(self, step: Step, part: str, language: str) -> tuple[Block, ...]:
        """Return a part's text in a language, or in one that there is."""
        prose = self._sources[step.id].prose
        found = prose.get(language) or next(iter(prose.values()))
        return found.get(step.id, {}).get(part, ())

    def after(self, place: Place) -> Place:
        """Return the phase that follows, of this step or of the next; past the last one the lesson is over."""
        step = self.step(place.step)
        phases = self.phases(step)
        at = phases.index(place.phase) + 1
        return Place(step.id, phases[at]) if at < len(phases) else self.next_step(place)

    def next_step(self, place: Place) -> Place:
        """Return the beginning of the step that follows, or the end."""
        at = self.index(place.step) + 1
        return Place(self.steps[at].id, SCENE) if at < len(self.steps) else Place("", END)

    def before(self, place: Place) -> Place:
        """Return where `back` leads: to the step's beginning, or from there to that of the step before."""
        at = self.index(place.step)
        return Place(self.steps[at - 1 if place.phase == SCENE and at else at].id, SCENE)

    # -- what is played -------------------------------------------------------------------------------------------

    def entering(self, name: str, left: Place | None = None) -> list[Document]:
        """Return the script that leads to the beginning of a step's question.

        Args:
            name: the step.
            left: where the lesson stands; what this step goes on from is taken as it is where the lesson comes from the
                end of the step before. None: all of it is played, from a cleared cluster on.
        """
        step = self.step(name)
        script: list[Document] = []
        for one in self._missing(step, left):
            if one.step != (left.step if left is not None else "") or one.phase == SCENE:
                script += scene_script(self._any(one.step), self.lesson.begins[one.step], self.lesson.package.pace)
            script += wait_script(self._any(one.step))
        source = self._sources[name]
        return script + scene_script(step, source.begins[name], source.package.pace)

    def _any(self, name: str) -> Step:
        """Return a step of the package, on this way or not."""
        return next(step for step in self.lesson.package.steps if step.id == name)

    def _missing(self, step: Step, left: Place | None) -> list[Place]:
        """Return what has to be played before a step, in order: a step with SCENE whole, with WAIT its wait alone."""
        needed = predecessors(self._sources[step.id], step)
        if left is None or left.step not in {one.id for one in needed}:
            return [Place(one.id, SCENE) for one in needed]
        at = next(number for number, one in enumerate(needed) if one.id == left.step)
        rest = [Place(one.id, SCENE) for one in needed[at + 1 :]]
        return [Place(left.step, WAIT), *rest] if left.phase in (SCENE, ASK) else rest


def predecessors(lesson: Lesson, step: Step) -> list[Step]:
    """Return the steps that one goes on from, in order: back to the newest that begins on a cleared cluster."""
    found: list[Step] = []
    if lesson.begins[step.id]:
        return found
    steps = lesson.steps
    at = steps.index(step)
    while not lesson.begins[steps[at].id]:
        at -= 1
        found.insert(0, steps[at])
    return found
