"""Checking a lesson: it is played headless, and everything that it states has to hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from controllers.lesson.course import predecessors
from controllers.lesson.judging import answers, right_answers
from controllers.lesson.playing import Player, TooLong
from controllers.lesson.prose import Part, numbers
from controllers.lesson.reading import Lesson
from controllers.lesson.scripts import scene_script, until_of, wait_script
from controllers.lesson.shape import Step
from controllers.predicates import Predicate, Unanswered, View
from scheduler_core.framework.registry import PluginRegistry

__all__ = ["Finding", "TooLong", "check"]

BEFORE: tuple[str, ...] = ("scene", "ask", "hint")
"""Parts of a step whose numbers are those before the answer is known."""


SHORT = "short version: "
"""Begins the field of a finding that only the short version has."""

AGAIN = "asked again: "
"""Begins the field of a finding that an exit ticket has only where it is asked before another lesson."""

AGAIN_REPLICAS = 3
"""Schedulers and controller managers that another lesson may have."""


class Finding(NamedTuple):
    """A statement that does not hold."""

    lesson: str
    step: str
    field: str
    expected: str
    found: str

    def document(self) -> dict[str, str]:
        """Return it as `lesson check --json` prints it."""
        return self._asdict()


def check(
    lesson: Lesson,
    *,
    plugins: PluginRegistry | None = None,
    languages: Sequence[str] = (),
    events_max: int | None = None,
) -> Iterator[Finding]:
    """Play a lesson and yield what does not hold: the whole, the steps of its short version, and the exit ticket,
    alone and as it is asked again before another lesson.

    Args:
        lesson: read without causes.
        plugins: scheduler plugins that are installed beside the in-tree ones.
        languages: whose texts are looked at; none: all that there are.
        events_max: events of the loop that it may take in all; None: as many as it likes.

    Raises:
        TooLong: it takes more.
    """
    package = lesson.package
    checker = _Checker(lesson, plugins, languages, events_max)
    known: set[tuple[str, str]] = set()
    for finding in checker.play(package.steps, package.seed, ""):
        known.add((finding.step, finding.field))
        yield finding
    short = [step for step in package.steps if step.minimum]
    if len(short) < len(package.steps):
        for finding in checker.play(short, package.seed, SHORT):
            if (finding.step, finding.field.removeprefix(SHORT)) not in known:
                yield finding
    if package.ticket is not None:
        for finding in checker.play([package.ticket], package.ticket.seed or package.seed + 1, ""):
            known.add((finding.step, finding.field))
            yield finding
        # Before another lesson it is asked on that one's control plane, with that one's lots.
        for finding in checker.play([package.ticket], package.seed, AGAIN, replicas=AGAIN_REPLICAS):
            if (finding.step, finding.field.removeprefix(AGAIN)) not in known:
                yield finding


class _Checker:
    def __init__(
        self, lesson: Lesson, plugins: PluginRegistry | None, languages: Sequence[str], events_max: int | None
    ) -> None:
        self._events_max = events_max
        self._lesson = lesson
        self._plugins = plugins
        self._prose = {name: prose for name, prose in lesson.prose.items() if not languages or name in languages}

    def play(self, steps: Iterable[Step], seed: int, version: str, *, replicas: int = 1) -> Iterator[Finding]:
        """Play steps one after the other on one session, whose control plane has so many replicas at least."""
        package = self._lesson.package
        replicas, left = max(self._lesson.start.replicas, replicas), self._events_max
        player = Player(seed=seed, replicas=replicas, pace=package.pace, plugins=self._plugins, events_max=left)
        try:
            yield from self._steps(player, steps, version)
        finally:
            if left is not None:
                self._events_max = left - player.events

    def _steps(self, player: Player, steps: Iterable[Step], version: str) -> Iterator[Finding]:
        for step in steps:
            begin = self._lesson.begins[step.id]
            if version and not begin:
                # What it goes on from may be a step that the short version leaves out.
                self._catch_up(player, step)
            yield from self._step(player, step, version)

    def _catch_up(self, player: Player, step: Step) -> None:
        """Play what a step goes on from and the short version leaves out; what is wrong there the whole one tells."""
        for before in predecessors(self._lesson, step):
            if not before.minimum:
                deque(self._perform(player, before, ""), maxlen=0)

    def _finding(self, step: Step, field: str, expected: str, found: str) -> Finding:
        return Finding(self._lesson.package.id, step.id, field, expected, found)

    def _step(self, player: Player, step: Step, version: str) -> Iterator[Finding]:
        phases = self._perform(player, step, version)
        for phase, problem in phases:
            if problem is not None:
                yield problem
                return
            view = player.view()
            if phase == "scene":
                yield from self._numbers(step, BEFORE, view, version)
                yield from self._distractors(step, view, version)
            else:
                yield from self._judged(step, view, version)
                statements = [(f"reveal.check[{index}]", text) for index, text in enumerate(step.reveal.check)]
                statements += [(f"checks[{index}]", text) for index, text in enumerate(step.checks)]
                art = self._lesson.package.art
                if art is not None and art["step"] == step.id and not version:
                    statements += [(f"art.check[{index}]", text) for index, text in enumerate(art.get("check", ()))]
                for field, text in statements:
                    yield from self._holds(step, version + field, text, view)
                yield from self._numbers(step, ("reveal", "so"), view, version)

    def _perform(self, player: Player, step: Step, version: str) -> Iterator[tuple[str, Finding | None]]:
        """Play a step's phases, and yield each when it has come to its end, with what went wrong."""
        pace = self._lesson.package.pace
        error = player.play(scene_script(step, self._lesson.begins[step.id], pace), "scene")
        yield "scene", self._finding(step, f"{version}scene", "the scene plays", error) if error else None
        if error:
            return
        error = player.play(wait_script(step), "wait")
        yield "wait", self._finding(step, f"{version}wait", until_of(step) or "plays", error) if error else None

    # -- what is stated -------------------------------------------------------------------------------------------

    def _holds(self, step: Step, field: str, text: str, view: View) -> Iterator[Finding]:
        try:
            value = Predicate.compile(text).value(view)
        except Unanswered as why:
            yield self._finding(step, field, text, str(why))
            return
        if value is not True:
            yield self._finding(step, field, text, "false")

    def _distractors(self, step: Step, view: View, version: str) -> Iterator[Finding]:
        if step.ask is None or step.ask.kind == "choice":
            return
        known = answers(step.ask, view)
        for answer in step.ask.models:
            if answer not in known:
                yield self._finding(step, f"{version}ask.models.{answer}", f"one of {', '.join(known)}", answer)

    def _judged(self, step: Step, view: View, version: str) -> Iterator[Finding]:
        ask = step.ask
        if ask is None:
            return
        right = right_answers(ask, view)
        if not right and ask.kind != "victims":
            yield self._finding(step, f"{version}ask.options", "at least one right answer", "none is right")
        if ask.kind == "choice" and len(right) == len(ask.options):
            yield self._finding(step, f"{version}ask.options", "at least one wrong answer", "all are right")
        for index, option in enumerate(ask.options):
            if option.id in right:
                continue
            field = f"{version}ask.options[{index}].model"
            if not option.model:
                yield self._finding(step, field, "the rule that gives this wrong answer", "none")
            elif option.model == ENGINE:
                yield self._finding(step, field, f"right: {option.right}", "wrong, and the engine is named as its rule")
        for answer, rule in ask.models.items():
            if (rule == ENGINE) != (answer in right) and ask.kind != "victims":
                told = "right" if answer in right else "wrong"
                yield self._finding(step, f"{version}ask.models.{answer}", rule, f"{answer} is {told}")

    def _numbers(self, step: Step, parts: Sequence[str], view: View, version: str) -> Iterator[Finding]:
        for language, prose in self._prose.items():
            for part in parts:
                for block, number in numbers(prose.get(step.id, {}).get(part, ())):
                    found = _shown(number, view)
                    if not _same(number.text, found):
                        field = f"{version}{language}.md:{block.line} [{number.text}](={number.expression})"
                        yield self._finding(step, field, number.text, found)


ENGINE = "engine"
"""The id of the rule that the engine itself follows."""


def _shown(number: Part, view: View) -> str:
    try:
        value = Predicate.compile(number.expression or "", "value").value(view)
    except Unanswered as why:
        return str(why)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def _same(written: str, found: str) -> bool:
    """Return whether a text shows a value: thousands may be grouped, a number may have fewer digits than the value."""
    plain = written.replace(",", "").replace("\u202f", "").replace("\u00a0", "").replace("\u2212", "-").strip()
    if plain == found:
        return True
    try:
        value, told = float(found), float(plain)
    except ValueError:
        return False
    digits = len(plain.partition(".")[2])
    return round(value, digits) == told
