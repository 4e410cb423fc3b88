"""A lesson is played headless, and what it states has to hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command

from tests.lesson.tiny import FOLDER, files, findings


def test_a_lesson_that_holds_has_no_findings() -> None:
    assert findings() == []


def _option(index: int, **fields: str) -> Callable[[Any], None]:
    return lambda document: document["steps"][2]["ask"]["options"][index].update(fields)


@pytest.mark.parametrize(
    ("change", "step", "field"),
    [
        (lambda d: d["steps"][0]["reveal"].update(check=["pod('web').node == 'n1'"]), "where", "reveal.check[0]"),
        (lambda d: d["steps"][0].update(checks=["trace('web').total['n9'] > 0"]), "where", "checks[0]"),
        (lambda d: d["art"].update(check=["size(nodes()) == 3"]), "where", "art.check[0]"),
        (lambda d: d["steps"][0]["ask"]["models"].update(n1="engine"), "where", "ask.models.n1"),
        (lambda d: d["steps"][0]["ask"]["models"].update(n7="first-in-list"), "where", "ask.models.n7"),
        (_option(0, model=""), "again", "ask.options[0].model"),
        (_option(0, model="engine"), "again", "ask.options[0].model"),
        (_option(1, right="pod('web').node == 'n9'"), "again", "ask.options"),
        (_option(0, right="!pod('web').exists"), "again", "ask.options"),
        (lambda d: d["steps"][2]["wait"].update(until="pod('web').node == 'n1'", seconds=1), "again", "wait"),
        (lambda d: d["steps"][1]["scene"]["do"][0]["delete"].update(name="nobody"), "gone", "scene"),
        (lambda d: d["ticket"]["ask"]["options"][0].update(right="false"), "ticket", "ask.options"),
    ],
)
def test_what_does_not_hold_is_named_by_step_and_field(change: Callable[[Any], None], step: str, field: str) -> None:
    assert (step, field) in {(found.step, found.field) for found in findings(change)}


def test_a_number_in_the_text_is_compared_with_what_came_about() -> None:
    text = files().texts["en"].replace("[3,000](=node", "[3,100](=node")
    (found, *_) = findings(en=text)
    assert (found.lesson, found.step, found.expected, found.found) == ("tiny", "where", "3,100", "3000")
    assert found.field.startswith("en.md:7 ")


def test_the_short_version_is_played_too() -> None:
    def change(document: Any) -> None:
        # Alone on a cleared cluster, the pod of the first step has never been.
        document["steps"][0]["minimum"] = False
        document["steps"][2]["fresh"] = True

    fields = [found.field for found in findings(change)]
    assert [field.partition(" [")[0] for field in fields] == ["short version: en.md:19", "short version: zh.md:19"]


def test_the_exit_ticket_is_played_as_it_is_asked_before_another_lesson() -> None:
    """What holds with one scheduler alone is told: another lesson has three."""

    def change(document: Any) -> None:
        document["ticket"]["checks"] = ["replica('kube-scheduler-1').state == ''"]

    assert [(found.step, found.field) for found in findings(change)] == [("ticket", "asked again: checks[0]")]


def test_the_command_prints_a_json_object_a_finding(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    for name in ("lesson.yaml", "en.md", "zh.md"):
        text = (FOLDER / name).read_text().replace("[3,000](=node", "[3,100](=node")
        (folder / name).write_text(text)
    with pytest.raises(SystemExit) as ended:
        call_command("lesson", "check", str(folder), "--json", "--language", "zh")
    assert ended.value.code == 1
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert set(told) == {"lesson", "step", "field", "expected", "found"}
    assert told["field"].startswith("zh.md:")
