"""Making by hand and undoing it: what is dragged, dropped and taken back."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, state, tells, wait_state
from tests.tools import axe

MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dropped\ndata:\n  a: b\n"
WRONG = "apiVersion: v1\nkind: Service\nmetadata:\n  name: wrong\nspec:\n  selector:\n    a: b\n  ports:\n  - port: 0\n"


def drop_file(page: Page, text: str) -> None:
    """Let go of a file over the page, as a file manager does."""
    page.evaluate(
        """text => {
            const carried = new DataTransfer();
            carried.items.add(new File([text], "some.yaml", { type: "application/yaml" }));
            const event = { dataTransfer: carried, bubbles: true, cancelable: true };
            for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, event));
        }""",
        text,
    )


def test_what_is_dragged_dropped_and_typed_is_made_and_can_be_undone(
    open_classroom: Callable[[str], Classroom],
) -> None:
    classroom = open_classroom("zones")
    teacher = classroom.teacher(viewport={"width": 1366, "height": 768})
    before = {
        node["name"] for node in wait_state(teacher, lambda now: len(now["nodes"]) == 12, "twelve nodes")["nodes"]
    }
    cut = teacher.evaluate(
        "() => [...document.querySelectorAll('.palette-item .label')]"
        ".filter(label => !label.clientWidth || label.scrollWidth > label.clientWidth).map(label => label.textContent)"
    )
    assert cut == [], "a laptop shows whole words"
    wide = teacher.evaluate(
        "() => { const style = document.documentElement.style; style.letterSpacing = '0.08em';"
        "const labels = [...document.querySelectorAll('.palette-item .label')];"
        "const cut = labels.filter(label => label.scrollWidth > label.clientWidth || label.scrollHeight > 30)"
        ".map(label => label.textContent); style.letterSpacing = ''; return cut; }"
    )
    assert wide == [], "with the wide letters of another machine, too"

    field = teacher.locator(".st-field")
    box = field.bounding_box()
    assert box is not None
    teacher.get_by_test_id("palette-node-small").drag_to(
        field, target_position={"x": box["width"] / 2, "y": box["height"] / 2}
    )
    made = wait_state(teacher, lambda now: {node["name"] for node in now["nodes"]} - before, "a node more")
    (name,) = {node["name"] for node in made["nodes"]} - before
    labels = classroom.cluster("GET", f"/api/v1/nodes/{name}")["metadata"]["labels"]
    assert labels["topology.kubernetes.io/zone"] == "zone-b", "it is in the zone that it was let go over"
    expect(teacher.get_by_test_id("undo")).to_have_attribute("aria-label", f"Undo: Node {name} created")

    drop_file(teacher, MANIFEST)
    dialog = teacher.get_by_test_id("import-dialog")
    editor = dialog.get_by_test_id("yaml-editor")
    expect(editor).to_have_value(MANIFEST)
    editor.focus()
    teacher.keyboard.press("Control+End")
    teacher.keyboard.type("imm")
    expect(dialog.get_by_role("option")).to_have_text(["immutableboolean"])
    assert axe.problems(teacher) == []
    picture(teacher, "yaml-fields")
    teacher.keyboard.press("Tab")
    expect(editor).to_have_value(MANIFEST + "immutable: ")
    teacher.keyboard.type("true")
    dialog.get_by_test_id("dialog-submit").click()
    expect(dialog.get_by_test_id("import-summary")).to_contain_text("1 created")
    teacher.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    teacher.locator("#stage").focus()
    teacher.keyboard.press("Control+z")
    expect(teacher.get_by_test_id("undo")).to_have_attribute("aria-label", f"Undo: Node {name} created")
    maps = json.dumps(classroom.cluster("GET", "/api/v1/namespaces/default/configmaps"))
    assert "dropped" not in maps
    picture(teacher, "making-1366")

    drop_file(teacher, f"{MANIFEST}---\n{WRONG}")
    dialog.get_by_test_id("dialog-submit").click()
    expect(dialog.get_by_test_id("import-summary")).to_contain_text("1 refused")
    line = MANIFEST.count("\n") + 1 + WRONG[: WRONG.index("port:")].count("\n") + 1
    dialog.get_by_role("button", name=f"line {line}").first.click()
    tells(editor, "one => one.value.slice(one.selectionStart, one.selectionEnd).trim()", "- port: 0")
    picture(teacher, "import-refused")
    teacher.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    teacher.locator("#stage").focus()
    teacher.keyboard.press("Control+z")
    expect(teacher.get_by_test_id("undo")).to_have_attribute("aria-label", f"Undo: Node {name} created")
    teacher.keyboard.press("Control+z")
    wait_state(teacher, lambda now: name not in {node["name"] for node in now["nodes"]}, "the node is gone again")

    line = teacher.get_by_test_id("command-line")
    line.focus()
    teacher.keyboard.type("describe no")
    teacher.keyboard.press("Tab")
    expect(line).to_have_value("describe node ")
    teacher.keyboard.type("n1")
    teacher.keyboard.press("Tab")
    expect(teacher.get_by_test_id("command-choices")).to_contain_text("n11")
    teacher.keyboard.press("Enter")
    wait_state(teacher, lambda now: now["selected"] == {"resource": "nodes", "key": "n1"}, "the node is described")
    expect(line).to_have_value("")
    line.fill("scale deploy nobody 3")
    teacher.keyboard.press("Enter")
    expect(teacher.get_by_test_id("command-error")).to_have_text('deployments.apps "nobody" not found')
    expect(line).to_have_value("scale deploy nobody 3")
    line.fill("get nodes")
    teacher.keyboard.press("Enter")
    answer = teacher.get_by_test_id("command-answer")
    expect(answer.locator("tbody tr")).to_have_count(12)
    picture(teacher, "command-line-1366")
    assert axe.problems(teacher) == []
    answer.get_by_role("button", name="n12", exact=True).click()
    wait_state(teacher, lambda now: now["selected"] == {"resource": "nodes", "key": "n12"}, "a row is selected")


HINT_BELOW = """() => {
  const [hint, field] = [".st-drop", ".st-field"].map((one) => document.querySelector(one).getBoundingClientRect());
  return hint.top >= field.bottom && hint.bottom <= innerHeight;
}"""


def test_a_pod_is_dragged_onto_the_stage(open_classroom: Callable[[str], Classroom]) -> None:
    teacher = open_classroom("three-nodes").teacher()
    wait_state(teacher, lambda now: len(now["pods"]) > 0, "the template's pods")
    before = {pod["name"] for pod in state(teacher)["pods"]}
    field = teacher.locator(".st-field")
    teacher.get_by_test_id("palette-pod-gated").hover()
    teacher.mouse.down()
    for _ in range(2):
        field.hover()
    # What will happen is said where no node stands.
    expect(teacher.locator(".st-drop")).to_have_text("Let go to create it")
    tells(teacher, HINT_BELOW, True)
    teacher.mouse.up()
    made = wait_state(teacher, lambda now: [pod for pod in now["pods"] if "gated" in pod["name"]], "it is made")
    assert [pod["name"] for pod in made["pods"] if "gated" in pod["name"] and pod["name"] not in before]


def test_a_notice_leads_to_what_was_made_and_is_not_drawn(open_classroom: Callable[[str], Classroom]) -> None:
    teacher = open_classroom("three-nodes").teacher()
    teacher.get_by_test_id("palette-service").click()
    teacher.get_by_test_id("toast-action").click()
    expect(teacher.get_by_test_id("inspector-name")).to_have_text("svc-1")
    teacher.get_by_test_id("palette-pod-small").click()
    expect(teacher.locator("#toasts")).to_contain_text("Pod small-1 created")
    expect(teacher.get_by_test_id("toast-action")).to_have_count(0)
