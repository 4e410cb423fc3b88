"""docs/scheduler.md against the code: `--update-golden` writes its tables anew, its paragraphs are checked."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

from scheduler_core.framework.events import ActionType, EventRegistration
from scheduler_core.framework.interface import EnqueueExtensions
from scheduler_core.framework.runtime import Framework
from scheduler_core.profiles.arguments import argument_errors
from scheduler_core.profiles.defaults import DEFAULT_ORDER, IN_TREE, default_configuration, in_tree_registry

FILE = Path(__file__).parents[2] / "docs" / "scheduler.md"
BLOCK = re.compile(r"(<!-- made: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PAGE = FILE.read_text(encoding="utf-8")
PARAGRAPHS = dict(re.findall(r"^### (\w+)\n\n(.*?)(?=\n### |\Z)", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def framework() -> Framework:
    return Framework(default_configuration(), in_tree_registry())


def profile_table(framework: Framework) -> str:
    lines = ["| plugin | weight | runs at |", "|---|---|---|"]
    for name, weight in DEFAULT_ORDER:
        points = [point[0].upper() + point[1:] for point, names in framework.profile.plugins.items() if name in names]
        lines.append(f"| {name} | {weight or ''} | {', '.join(points)} |")
    return "\n".join(lines) + "\n"


def happening(registration: EventRegistration) -> str:
    """Return an event in words: resource, then what is done to it."""
    action = registration.event.action
    if action == ActionType.ALL:
        parts = ["anything"]
    else:
        whole = [one for one in (ActionType.UPDATE,) if action & one == one]
        left = action & ~ActionType.UPDATE if whole else action
        parts = [
            (one.name or "").removeprefix("UPDATE_").lower().replace("_", " ")
            for one in ActionType
            if left & one == one and one not in whole
        ]
        parts += ["update"] * len(whole)
    return f"{registration.event.resource.value}: {', '.join(parts)}"


def events_table(framework: Framework) -> str:
    lines = ["| plugin | event | hint |", "|---|---|---|"]
    for name in sorted(IN_TREE):
        plugin = framework.plugins.get(name)
        if not isinstance(plugin, EnqueueExtensions):
            continue
        for registration in plugin.events_to_register():
            lines.append(f"| {name} | {happening(registration)} | {'looks' if registration.hint else 'always Queue'} |")
    return "\n".join(lines) + "\n"


MAKERS = {"profile": profile_table, "events": events_table}


def test_its_tables_are_what_the_code_says(framework: Framework, pytestconfig: pytest.Config) -> None:
    made = BLOCK.sub(lambda found: found[1] + MAKERS[found[2]](framework) + found[4], PAGE)
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(made, encoding="utf-8")
    assert [found[2] for found in BLOCK.finditer(PAGE)] == list(MAKERS)
    assert FILE.read_text(encoding="utf-8") == made, "run this file with --update-golden and review the difference"


def test_every_plugin_has_its_paragraph_and_no_other_has() -> None:
    assert sorted(PARAGRAPHS) == sorted(IN_TREE)


@pytest.mark.parametrize("name", sorted(IN_TREE))
def test_a_paragraph_names_its_source(name: str) -> None:
    assert re.search(r"Source: `[\w./]+`", PARAGRAPHS[name]) or "Ours:" in PARAGRAPHS[name]


def quoted_reasons() -> list[tuple[str, str]]:
    """Return (plugin, reason) of every reason that a paragraph quotes in full."""
    found = []
    for name, text in PARAGRAPHS.items():
        for quote in re.findall(r"`([^`]+)`", " ".join(text.split())):
            if (
                quote.startswith(("node(s)", "pod has", "waiting for", "no new"))
                and "{" not in quote
                and "[" not in quote
            ):
                found.append((name, quote))
    return found


@pytest.mark.parametrize(("name", "reason"), quoted_reasons())
def test_a_quoted_reason_is_the_plugins_own(name: str, reason: str, framework: Framework) -> None:
    source = inspect.getsource(importlib.import_module(type(framework.plugins[name]).__module__))
    assert reason in " ".join(re.sub(r'"\s*\n\s*f?"', "", source).split())


def named_arguments() -> list[tuple[str, str]]:
    found = []
    for name, text in PARAGRAPHS.items():
        for listed in re.findall(r"Arguments?:? ((?:`\w+`(?:, )?)+)", " ".join(text.split())):
            found += [(name, argument) for argument in re.findall(r"`(\w+)`", listed)]
    return found


@pytest.mark.parametrize(("name", "argument"), named_arguments())
def test_a_named_argument_is_known(name: str, argument: str) -> None:
    unknown = [cause for cause in argument_errors(name, {argument: None}, "args") if "unknown field" in cause.message]
    assert not unknown
