"""An expression on the page: its errors with their places, what it says of every node, and the scheduler with it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, tells

CONFIGURATION = """profiles:
- plugins:
    multiPoint:
      enabled:
      - name: CEL
  pluginConfig:
  - name: CEL
    args:
      filters:
      - name: first
        expression: node.metadata.nam == 'n1'
"""


def _open(page: Page) -> None:
    page.get_by_test_id("dock-scheduler").click()
    page.get_by_test_id("expression-open").click()
    page.get_by_test_id("expression-dialog").wait_for()


def test_a_student_tries_an_expression(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    student = classroom.student("Mei")
    _open(student)
    text, result = student.get_by_test_id("expression-text"), student.get_by_test_id("expression-result")
    student.get_by_test_id("expression-pod").select_option("")
    expect(text).to_be_focused()
    text.fill("node.metadata.name == 'n2' &&\n  pod.spec.colour == 'red'")
    student.get_by_test_id("dialog-submit").click()
    problem = student.get_by_test_id("expression-problems").locator("li")
    expect(problem).to_contain_text("Line 2, column 11: undefined field 'colour'")
    problem.get_by_role("button").click()
    expect(text).to_be_focused()
    tells(text, "area => area.value.slice(area.selectionStart, area.selectionEnd)", ".")
    picture(student, "expression-refused")

    text.fill("node.metadata.name == 'n2'")
    text.press("Control+Enter")
    expect(result.locator("li")).to_have_count(3)
    assert [" ".join(row.split()) for row in result.locator("li").all_inner_texts()] == [
        "n1 false", "n2 true", "n3 false",
    ]  # fmt: skip
    expect(result).to_contain_text("Asked again when the node changes.")
    picture(student, "expression-filter")
    student.get_by_test_id("expression-kind").select_option("score")
    text.fill("allocatable.cpu / 1000")
    text.press("Control+Enter")
    expect(result.locator("li.number")).to_have_count(3)
    student.keyboard.press("Escape")
    expect(student.get_by_test_id("expression-dialog")).to_have_count(0)
    expect(student.get_by_test_id("expression-open")).to_be_focused()

    student.locator(".theme-button").click()
    student.get_by_role("button", name="中").click()
    student.get_by_test_id("expression-open").click()
    student.get_by_test_id("expression-text").fill("nod == 1")
    student.get_by_test_id("dialog-submit").click()
    expect(student.get_by_test_id("expression-problems")).to_contain_text("第 1 行第 1 列：")
    picture(student, "expression-zh-dark")


def test_a_configuration_with_a_wrong_expression_names_its_line(open_classroom: Callable[[str], Classroom]) -> None:
    teacher = open_classroom("three-nodes").teacher()
    teacher.get_by_test_id("dock-scheduler").click()
    teacher.get_by_test_id("scheduler-change").click()
    dialog = teacher.get_by_test_id("scheduler-dialog")
    dialog.get_by_test_id("yaml-editor").fill(CONFIGURATION)
    dialog.get_by_test_id("dialog-submit").click()
    problem = teacher.locator(".yaml-problems li")
    expect(problem).to_contain_text("line 11")
    expect(problem).to_contain_text("profiles[0].pluginConfig[0].args.filters[0].expression")
    expect(problem).to_contain_text("line 1, column 14: undefined field 'nam': did you mean name?")
    dialog.get_by_test_id("yaml-editor").fill(CONFIGURATION.replace("nam ==", "name =="))
    dialog.get_by_test_id("dialog-submit").click()
    expect(dialog).to_have_count(0)
    expect(teacher.locator(".scheduler-points li[data-point='filter']")).to_contain_text("CEL")
    expect(teacher.locator(".scheduler-points li[data-point='score']")).to_contain_text("CEL")
