"""A package read: everything that is wrong with it is named by its path, at once; nothing that it holds does harm."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clustersim.classroom import lessons
from controllers.lesson import Files, read
from controllers.rules.table import RULES
from scheduler_core.api.errors import ApiError
from tests.lesson.tiny import FOLDER, STARTS, files, lesson


def causes(change: Callable[[Any], None] | None = None, **texts: str) -> dict[str, str]:
    """Return field → message of everything that is wrong with a changed package."""
    with pytest.raises(ApiError) as wrong:
        read(files(change, **texts), STARTS, rules=RULES)
    assert wrong.value.code == 400
    found: dict[str, str] = {}
    for cause in wrong.value.causes:
        found[cause.field] = f"{found.get(cause.field, '')}; {cause.message}"
    return found


def _do(document: Any) -> Any:
    return document["steps"][0]["scene"]["do"]


def _ask(document: Any) -> Any:
    return document["steps"][0]["ask"]


def _options(document: Any) -> Any:
    return document["steps"][2]["ask"]["options"]


def test_the_package_is_read_whole() -> None:
    found = read(files(), STARTS, rules=RULES)
    assert [step.id for step in found.steps] == ["where", "gone", "again"]
    assert [bool(found.begins[name]) for name in ("where", "gone", "again", "ticket")] == [True, False, False, True]
    assert [one["metadata"]["name"] for one in found.begins["ticket"]] == ["n1", "n2"]
    assert found.begins["ticket"][0]["status"]["capacity"]["cpu"] == "1", "a step's own nodes stand for the package's"


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (lambda d: d.update(id="other"), "id", "must be the folder's name"),
        (lambda d: d.update(id="../tiny"), "id", "expected `str` matching regex"),
        (lambda d: d.pop("title"), "title", "is required"),
        (lambda d: d["title"].pop("zh"), "title.zh", "is required"),
        (lambda d: d.update(minuts=3), "minuts", "did you mean minutes?"),
        (lambda d: d.update(minutes=7), "minutes", "its steps take 8 minutes"),
        (lambda d: d.update(minimumMinutes=5), "minimumMinutes", "take 6 minutes"),
        (lambda d: d.update(minutes="8"), "minutes", "expected `int`, got `str`"),
        (lambda d: d.update(template="moon"), "template", "'moon' is not one of empty"),
        (lambda d: d["nodes"][0].update(name=False), "nodes[0].name", "write it in quotes"),
        (lambda d: d["nodes"][0].update(cpus=2), "nodes[0].cpus", "unknown field"),
        (lambda d: d.update(objects=[{"apiVersion": "v1", "kind": "Nothing"}]), "objects[0]", "is served"),
        (lambda d: d.update(steps=[]), "steps", "expected `array` of length >= 1"),
        (lambda d: d["steps"][1].update(id="where"), "steps[1].id", "a second step"),
        (lambda d: d["steps"][1].update(id="Where"), "steps[1].id", "expected `str` matching regex"),
        (lambda d: d["steps"][0].update(minutes=0), "steps[0].minutes", "expected `int` >= 1"),
        (lambda d: d["steps"][0].pop("title"), "steps[0].title", "is required"),
        (lambda d: d["steps"][0]["scene"].update(vew={}), "steps[0].scene.vew", "did you mean view?"),
        (lambda d: d["steps"][1]["scene"].update(nodes=[{}]), "steps[1].scene", "set fresh"),
        (lambda d: _do(d).append({}), "steps[0].scene.do[1]", "must have one key"),
        (lambda d: _do(d).append({"fly": {}}), "steps[0].scene.do[1].fly", "unknown field"),
        (lambda d: _do(d).append({"run": {}}), "steps[0].scene.do[1].run.until", "is required"),
        (
            lambda d: _do(d).append({"run": {"until": "pod('web').redy"}}),
            "steps[0].scene.do[1].run.until",
            "line 1, column 11: undefined field 'redy': did you mean ready?",
        ),
        (
            lambda d: _do(d).append({"run": {"until": "true", "seconds": 1e9}}),
            "steps[0].scene.do[1].run.seconds",
            "at most 120",
        ),
        (
            lambda d: _do(d).append({"step": {"by": "day"}}),
            "steps[0].scene.do[1].step.by",
            "point",
        ),
        (
            lambda d: _do(d).append({"race": {"kind": "Pod", "name": "a", "patches": 3}}),
            "steps[0].scene.do[1].race.patches",
            "must be a list of merge patches",
        ),
        (
            lambda d: _do(d).append({"clear": {"pace": 0}}),
            "steps[0].scene.do[1].clear",
            "unknown field",
        ),
        (lambda d: _ask(d).update(kind="guess"), "steps[0].ask.kind", "invalid enum value 'guess'"),
        (lambda d: _ask(d).pop("pod"), "steps[0].ask.pod", "is required"),
        (
            lambda d: _ask(d).update(models={"n1": "nothing"}),
            "steps[0].ask.models.n1",
            "no rule 'nothing'",
        ),
        (lambda d: _ask(d).update(because=["x"]), "steps[0].ask.because[0]", "no rule 'x'"),
        (lambda d: _options(d).pop(), "steps[2].ask.options", "must be 2 to 8"),
        (
            lambda d: _options(d)[0].update(right="pod('web').node = 'n1'"),
            "steps[2].ask.options[0].right",
            "line 1, column 19: Syntax error",
        ),
        (
            lambda d: _options(d)[1].update(id="moves"),
            "steps[2].ask.options[1].id",
            "a second option",
        ),
        (
            lambda d: d["steps"][2]["wait"].update(until="1"),
            "steps[2].wait.until",
            "it comes to the type int, not a bool",
        ),
        (lambda d: d["steps"][2]["wait"].update(makeItSo="pray"), "steps[2].wait.makeItSo", ""),
        (lambda d: d["steps"][0]["reveal"].update(check=[3]), "steps[0].reveal.check[0]", "expected `str`, got `int`"),
        (lambda d: d["art"].update(step="nowhere"), "art.step", "no step 'nowhere'"),
        (lambda d: d["art"].update(check=["1 +"]), "art.check[0]", "line 1, column 4: "),
        (lambda d: d["ticket"].pop("id"), "ticket.id", "is required"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(change: Callable[[Any], Any], field: str, message: str) -> None:
    found = causes(change)
    assert field in found, found
    assert message in found[field]


def test_everything_is_told_at_once() -> None:
    def change(document: Any) -> None:
        document["steps"][2]["wait"]["until"] = "nope()"
        document["steps"][0]["ask"]["models"]["n1"] = "nothing"
        document["template"] = "moon"

    assert set(causes(change)) == {"template", "steps[0].ask.models.n1", "steps[2].wait.until"}


@pytest.mark.parametrize(
    ("old", "new", "field", "message"),
    [
        ("# gone\n", "# went\n", "en.md", "no step 'went' in lesson.yaml"),
        ("## so\nGone is gone.", "", "en.md", "step 'gone' has no text under ## so"),
        ("## hint", "## hunt", "en.md:4", "no part 'hunt'"),
        ("## hint", "## scene", "en.md:4", "a second part 'scene' in 'where'"),
        ("# gone\n", "# where\n", "en.md:11", "a second part 'where'"),
        ("[3](=)", "3", "en.md:3", "the number 3 has no expression"),
        ("asks for", "asks, 7 days a week, for", "en.md:3", "the number 7 has no expression"),
        ("[n2](=trace('web').chosen)", "[n2](=trace('web').chosn)", "en.md:7: [n2]", "did you mean chosen?"),
        ("# where\n", "# where\nToo early.\n", "en.md:2", "before the first heading of a part"),
    ],
)
def test_a_text_is_read_with_the_line_of_what_is_wrong(old: str, new: str, field: str, message: str) -> None:
    text = files().texts["en"]
    assert old in text
    found = causes(en=text.replace(old, new, 1))
    assert field in found, found
    assert message in found[field]


@pytest.mark.parametrize("document", [None, [], "tiny", 3, {"steps": {}}, {"steps": [None]}, {"steps": [[]]}])
def test_what_is_no_package_is_refused(document: Any) -> None:
    with pytest.raises(ApiError):
        read(Files("tiny", document, {}), STARTS)


def test_names_and_code_may_have_digits() -> None:
    text = files().texts["en"].replace("Look at `n2`.", "Look at n2, v1.34, web-1 and `x = 7`.")
    assert lesson(en=text).prose["en"]["where"]["hint"][0].parts[1].text == "x = 7"


def test_a_folder_without_its_files_or_with_others_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    with pytest.raises(ApiError, match=r"lesson\.yaml is missing"):
        lessons.load(folder, STARTS)
    (folder / "lesson.yaml").symlink_to(FOLDER / "lesson.yaml")
    with pytest.raises(ApiError, match="no plain file"):
        lessons.load(folder, STARTS)
    (folder / "lesson.yaml").unlink()
    (folder / "lesson.yaml").write_bytes(b"a: " + b"x" * (lessons.FILE_BYTES_MAX + 1))
    with pytest.raises(ApiError, match="is larger than"):
        lessons.load(folder, STARTS)
    (folder / "lesson.yaml").write_bytes(b"a: [\n")
    with pytest.raises(ApiError, match="line 2, column 1"):
        lessons.load(folder, STARTS)
    with pytest.raises(ApiError, match="is no folder"):
        lessons.load(tmp_path / "nowhere", STARTS)


def test_a_file_of_aliases_is_refused_before_it_grows() -> None:
    names = "abcdefghi"
    bomb = f"a: &a [{', '.join('x' * 9)}]\n"
    for before, name in itertools.pairwise(names):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    with pytest.raises(ApiError, match="too large when its aliases are expanded"):
        lessons.from_text("tiny", bomb, {})


def test_a_lesson_that_cannot_be_read_is_not_listed(settings: Any, tmp_path: Path) -> None:
    for name in ("good", "bad"):
        folder = tmp_path / name
        folder.mkdir()
        text = (FOLDER / "lesson.yaml").read_text().replace("id: tiny", f"id: {name}")
        (folder / "lesson.yaml").write_text(text if name == "good" else text.replace("minutes: 8", "minutes: many"))
        for language in ("en", "zh"):
            (folder / f"{language}.md").write_text((FOLDER / f"{language}.md").read_text())
    settings.LESSONS = [tmp_path, tmp_path / "nowhere"]
    assert list(lessons.catalogue()) == ["good"]
    assert lessons.find("bad") is None
    # A file that has changed is read again.
    file = tmp_path / "bad" / "lesson.yaml"
    file.write_text(file.read_text().replace("minutes: many", "minutes: 8"))
    assert sorted(lessons.catalogue()) == ["bad", "good"]
