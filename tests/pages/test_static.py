"""What is served of the page's own modules: their code without the comments that stand on lines of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustersim.staticserver import bare

STATIC = Path(__file__).resolve().parent.parent.parent / "static"
MODULES = STATIC / "js"


@pytest.mark.parametrize(
    ("source", "served"),
    [
        ("/** One line. */\nlet a = 1;\n", "let a = 1;\n"),
        ("/**\n * Two\n * lines.\n */\nlet a = 1;\n", "let a = 1;\n"),
        ("  // Why.\n  let a = 1; // beside code\n", "  let a = 1; // beside code\n"),
        ("/** @type {B} */ (a).b();\n/** Next. */\n", "/** @type {B} */ (a).b();\n"),
        (
            'let a = "// no comment";\nlet b = `/* neither */`;\n',
            'let a = "// no comment";\nlet b = `/* neither */`;\n',
        ),
    ],
)
def test_comments_on_lines_of_their_own_are_left_out(source: str, served: str) -> None:
    assert bare(source) == served


def test_of_every_module_the_lines_of_code_are_served_as_they_are() -> None:
    modules = list(MODULES.rglob("*.js"))
    assert len(modules) > 200
    for module in modules:
        source = module.read_text(encoding="utf-8")
        # Between backticks a line that looks like a comment would be text.
        assert not any(part.lstrip().startswith(("//", "/*")) for part in _inner_lines(source)), module
        inside = False
        code = []
        for line in source.splitlines():
            text = line.strip()
            begins = not inside and text.startswith("/*") and (text.endswith("*/") or "*/" not in text)
            if not (inside or begins or text.startswith("//")):
                code.append(line)
            inside = (inside or begins) and "*/" not in text
        assert bare(source).splitlines() == code, module


def _inner_lines(source: str) -> list[str]:
    """Return the lines that begin within a template literal, as far as a count of backticks tells."""
    found, inside = [], False
    for line in source.splitlines():
        text = line.strip()
        if inside:
            found.append(line)
        if not text.startswith(("//", "/*", "*")):
            inside ^= line.count("`") % 2 == 1
    return found


def test_no_stylesheet_turns_the_page_with_the_device() -> None:
    """WCAG 1.3.4; axe is not asked for it (tests/tools/axe.py)."""
    sheets = list((STATIC / "css").rglob("*.css"))
    assert len(sheets) > 10
    assert [sheet.name for sheet in sheets if "orientation" in sheet.read_text(encoding="utf-8")] == []


WHOLE_PAGE = re.compile(r"(?:\.session|:root|(?<![\w-])body)(?:[^\s>+~{,(]|\((?:[^()]|\([^()]*\))*\))*:has\((?!> )")


def test_what_the_whole_page_depends_on_is_said_in_classes() -> None:
    """A `:has()` of the body that looks below its children has each element that comes or goes style the page anew."""
    assert WHOLE_PAGE.search(":root:not([data-wall]) .session.has-selection:not(.enlarged, [data-scene]):has(.wi) {")
    found = [
        f"{sheet.name}: {line.strip()}"
        for sheet in (STATIC / "css").rglob("*.css")
        for line in sheet.read_text(encoding="utf-8").splitlines()
        if WHOLE_PAGE.search(line)
    ]
    assert found == []
