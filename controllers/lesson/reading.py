"""A package read from its files, with the path of everything that is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from controllers.lesson.converting import convert
from controllers.lesson.prose import PARTS, Prose, numbers, read_prose
from controllers.lesson.scripts import holds, read_script, wrong_predicate
from controllers.lesson.shape import Ask, Package, Step
from controllers.scenario.reading import kind_of, read_nodes
from controllers.scenario.shape import Start
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request
from scheduler_core.api.said import said
from scheduler_core.framework.registry import PluginRegistry

LANGUAGES: Final = ("en", "zh")
"""Languages of a package, each a file beside `lesson.yaml`."""

OPTIONS_MAX: Final = 8
"""Answers of one question; more are refused."""

_NEEDED: Final = ("scene", "so")
"""Parts that every step has; with a question `reveal`, too."""


class Files(NamedTuple):
    """A package's files: its folder's name, the document of `lesson.yaml`, the text of each language that there is."""

    folder: str
    document: Any
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A package, read.

    Attributes:
        package: `lesson.yaml`.
        prose: language → step → part → blocks.
        start: what the template gives.
        begins: step → the objects of its cleared cluster; none for a step that goes on from the one before.
    """

    package: Package
    prose: Mapping[str, Prose]
    start: Start
    begins: Mapping[str, tuple[Document, ...]]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return all steps, the exit ticket not among them."""
        return tuple(self.package.steps)


def read(
    files: Files,
    templates: Mapping[str, Start],
    *,
    plugins: PluginRegistry | None = None,
    rules: Collection[str] | None = None,
) -> Lesson:
    """Return the lesson that a package's files hold.

    Args:
        files: the package.
        templates: what it may begin with.
        plugins: scheduler plugins that are installed beside the in-tree ones.
        rules: ids of the rules that people believe in; None: they are not looked at.

    Raises:
        ApiError: 400, with the path of everything that is wrong.
    """
    package, causes = convert(files.document, Package)
    if package is None:
        raise _refusal(causes)
    if package.id != files.folder:
        causes.append(Cause("id", said("package.folder", "must be the folder's name, {folder!r}", folder=files.folder)))
    start = templates.get(package.template)
    if start is None:
        causes.append(
            Cause(
                "template",
                said(
                    "package.template",
                    "{template!r} is not one of {known}",
                    template=package.template,
                    known=", ".join(sorted(templates)),
                ),
            )
        )
        start = Start((), 1, 0)
    prose = {name: read_prose(files.texts[name], f"{name}.md", causes) for name in LANGUAGES if name in files.texts}
    if not prose:
        causes.append(Cause("en.md", said("package.noText", "a lesson needs a text in at least one language")))
    placed = _placed(package)
    _check_ids(package, placed, causes)
    begins: dict[str, tuple[Document, ...]] = {}
    for step, path in placed:
        _check_step(step, path, plugins, rules, causes)
        begins[step.id] = _begin(package, step, path, start, causes)
    _check_art(package, causes)
    for language, found in prose.items():
        _check_prose(found, f"{language}.md", [step for step, _ in placed], causes)
    if causes:
        raise _refusal(causes)
    return Lesson(package, prose, start, begins)


def _refusal(causes: list[Cause]) -> ApiError:
    texts = "; ".join(f"{cause.field}: {cause.message}" for cause in causes[:20])
    return bad_request(said("package.unreadable", "the lesson cannot be read: {texts}", texts=texts), causes)


def _placed(package: Package) -> list[tuple[Step, str]]:
    placed = [(step, f"steps[{index}]") for index, step in enumerate(package.steps)]
    return placed if package.ticket is None else [*placed, (package.ticket, "ticket")]


def _check_ids(package: Package, placed: list[tuple[Step, str]], causes: list[Cause]) -> None:
    known: set[str] = set()
    for step, path in placed:
        if step.id in known:
            causes.append(Cause(f"{path}.id", said("package.stepTwice", "a second step {id!r}", id=step.id)))
        known.add(step.id)
    planned = sum(step.minutes for step in package.steps)
    if planned > package.minutes:
        causes.append(Cause("minutes", said("package.minutes", "its steps take {planned} minutes", planned=planned)))
    least = sum(step.minutes for step in package.steps if step.minimum)
    if least > package.minimum_minutes:
        causes.append(
            Cause(
                "minimumMinutes",
                said("package.minimumMinutes", "the steps marked minimum take {least} minutes", least=least),
            )
        )
    if not any(step.minimum for step in package.steps):
        causes.append(Cause("steps", said("package.noMinimum", "at least one must be marked minimum")))


def _begin(package: Package, step: Step, path: str, start: Start, causes: list[Cause]) -> tuple[Document, ...]:
    """Return the objects of a step's cleared cluster: its own nodes and objects, or the package's.

    The first step and the exit ticket have one in any case.
    """
    own = bool(step.scene.nodes or step.scene.objects)
    if not (step.fresh or step is package.steps[0] or step is package.ticket):
        if own:
            causes.append(
                Cause(
                    f"{path}.scene",
                    said("package.fresh", "nodes and objects are those of a cleared cluster: set fresh"),
                )
            )
        return ()
    nodes = read_nodes(package.nodes, "nodes", causes if step is package.steps[0] else [])
    made = [*start.objects, *nodes]
    if step.scene.nodes:
        made = read_nodes(step.scene.nodes, f"{path}.scene.nodes", causes)
    listed = [(one, f"objects[{index}]") for index, one in enumerate(package.objects)]
    listed += [(one, f"{path}.scene.objects[{index}]") for index, one in enumerate(step.scene.objects)]
    for one, where in listed:
        if kind_of(one, where, causes) is not None:
            made.append(one)
    return tuple(made)


def _check_step(
    step: Step, path: str, plugins: PluginRegistry | None, rules: Collection[str] | None, causes: list[Cause]
) -> None:
    read_script(step.scene.do, f"{path}.scene.do", plugins, causes)
    for index, text in enumerate(step.reveal.check):
        causes.extend(wrong_predicate(text, f"{path}.reveal.check[{index}]"))
    for index, text in enumerate(step.checks):
        causes.extend(wrong_predicate(text, f"{path}.checks[{index}]"))
    if step.wait is not None:
        read_script(step.wait.do, f"{path}.wait.do", plugins, causes)
        if step.wait.until:
            causes.extend(wrong_predicate(step.wait.until, f"{path}.wait.until"))
        if isinstance(step.wait.make_it_so, list):
            read_script(step.wait.make_it_so, f"{path}.wait.makeItSo", plugins, causes)
    if step.ask is not None:
        causes.extend(_wrong_ask(step.ask, f"{path}.ask", rules))


def _wrong_ask(ask: Ask, path: str, rules: Collection[str] | None) -> Iterator[Cause]:
    if not ask.pod and (holds(ask) or ask.kind in ("node", "victims")):
        yield Cause(f"{path}.pod", said("package.needsPod", "is required: the pod that is asked about"))
    if ask.kind == "choice":
        if not 2 <= len(ask.options) <= OPTIONS_MAX:
            yield Cause(
                f"{path}.options", said("package.options", "must be 2 to {options_max}", options_max=OPTIONS_MAX)
            )
    elif ask.options:
        yield Cause(f"{path}.options", said("package.ownAnswers", "kind {kind} makes its own answers", kind=ask.kind))
    known: set[str] = set()
    for index, option in enumerate(ask.options):
        where = f"{path}.options[{index}]"
        if option.id in known:
            yield Cause(f"{where}.id", said("package.optionTwice", "a second option {id!r}", id=option.id))
        known.add(option.id)
        yield from wrong_predicate(option.right, f"{where}.right")
        if option.model:
            yield from _wrong_rule(option.model, f"{where}.model", rules)
    for answer, rule in ask.models.items():
        yield from _wrong_rule(rule, f"{path}.models.{answer}", rules)
    for index, rule in enumerate(ask.because):
        yield from _wrong_rule(rule, f"{path}.because[{index}]", rules)


def _wrong_rule(rule: str, where: str, rules: Collection[str] | None) -> Iterator[Cause]:
    if rules is not None and rule not in rules:
        yield Cause(
            where, said("package.noRule", "no rule {rule!r}; there are {known}", rule=rule, known=", ".join(rules))
        )


def _check_art(package: Package, causes: list[Cause]) -> None:
    if package.art is None:
        return
    for name in ("kind", "step"):
        if not isinstance(package.art.get(name), str):
            causes.append(Cause(f"art.{name}", said("package.needsText", "is required, a text")))
    if package.art.get("step") not in {step.id for step in package.steps}:
        causes.append(Cause("art.step", said("package.artStep", "no step {get!r}", get=package.art.get("step"))))
    for index, text in enumerate(_texts(package.art.get("check", []), "art.check", causes)):
        causes.extend(wrong_predicate(text, f"art.check[{index}]"))


def _texts(value: Any, path: str, causes: list[Cause]) -> list[Any]:
    if isinstance(value, list):
        return value
    causes.append(Cause(path, said("package.predicates", "must be a list of predicates")))
    return []


def _check_prose(prose: Prose, file: str, steps: list[Step], causes: list[Cause]) -> None:
    named = {step.id: step for step in steps}
    for heading in prose:
        if heading not in named:
            causes.append(Cause(file, said("package.noStep", "no step {heading!r} in lesson.yaml", heading=heading)))
    for step in steps:
        parts = prose.get(step.id, {})
        needed = (*_NEEDED, "reveal") if step.ask is not None else _NEEDED
        for part in needed:
            if not parts.get(part):
                causes.append(
                    Cause(
                        file,
                        said("package.noStepText", "step {id!r} has no text under ## {part}", id=step.id, part=part),
                    )
                )
        for part in PARTS:
            for block, number in numbers(parts.get(part, ())):
                where = f"{file}:{block.line}: [{number.text}]"
                causes.extend(wrong_predicate(number.expression, where, "value"))
