"""What the server refuses is named, so that a page says it in its language: each in Chinese, and none left over."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Final

import pytest

from clustersim.pages import catalogue

ROOT: Final = Path(__file__).resolve().parents[2]
ROOMS: Final = (
    "clustersim/sessionapi",
    "clustersim/classroom",
    "clustersim/bodies.py",
    "clustersim/documents.py",
    "clustersim/hosts.py",
    "clustersim/runtime/commands.py",
    "clustersim/runtime/metrics.py",
    "controllers/kinds/clustersim",
    "controllers/lesson",
    "controllers/scheduler/modelling.py",
    "controllers/scheduler/settings.py",
    "controllers/whatif",
    "scheduler_core/model/optimum.py",
)
"""Where refusals of the session API are made."""

MESSAGE_AT: Final = {
    "ApiError": 2, "Cause": 1, "bad_request": 0, "conflict": 2, "forbidden": 2, "gone": 0, "unauthorized": 0,
    "_bad": 1, "_too_large": 0,
}  # fmt: skip
"""Which argument is the sentence."""

UPSTREAMS_OWN: Final = (
    "exceeded quota: ",
    "must have cluster-admin privileges",
    "{} is attempting to grant RBAC permissions",
    "forbidden: User ",
    'User "',
    "Required value",
    "Invalid value: ",
    "no matches for kind ",
    "Request entity too large",
    "line ",
    "{}: {}: ",
)
"""Sentences of kube-apiserver, kubectl and of the parsers of YAML and CSV: they stay as those say them."""


def _python() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the files that name sentences."""
    for room in ("clustersim", "controllers", "scheduler_core"):
        for file in sorted((ROOT / room).rglob("*.py")):
            text = file.read_text()
            if re.search(r"^from scheduler_core\.api\.said import .*\bsaid\b", text, re.MULTILINE):
                yield file, ast.parse(text)


def _named() -> dict[str, tuple[str, set[str]]]:
    """Return each named sentence of the server by its key, with the values that it is always given."""
    found: dict[str, tuple[str, set[str]]] = {}
    for file, tree in _python():
        for call in ast.walk(tree):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "said"):
                continue
            key, text = (ast.literal_eval(one) for one in call.args)
            given = {str(keyword.arg) for keyword in call.keywords}
            english, always = found.get(key, (text, given))
            assert english == text, f"{file}: {key} is the name of another sentence"
            assert given >= _blanks(text), f"{file}: {key} lacks a value"
            found[key] = text, always & given
    return found


def _blanks(english: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(english) if name}


def test_every_named_sentence_has_its_chinese_and_none_is_there_for_nothing() -> None:
    named, chinese = _named(), catalogue.chinese()
    assert len(named) > 200
    assert sorted(chinese) == sorted(named)
    strange = {key: set(re.findall(r"\{(\w+)\}", text)) - named[key][1] for key, text in chinese.items()}
    assert {key: blanks for key, blanks in strange.items() if blanks} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_no_refusal_is_made_of_a_sentence_without_a_name(room: str) -> None:
    place = ROOT / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    bare = [f"{file.relative_to(ROOT)}:{line}: {text}" for file in files for line, text in _bare(file)]
    assert bare == []


def _bare(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the sentences of refusals that are plain text, those too that a variable holds."""
    tree = ast.parse(file.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for scope in functions:
        held: dict[str, list[ast.expr]] = {}
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                held.setdefault(node.targets[0].id, []).append(node.value)
        for call in ast.walk(scope):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MESSAGE_AT):
                continue
            for message in call.args[MESSAGE_AT[call.func.id] :][:1]:
                for part in held.get(message.id, []) if isinstance(message, ast.Name) else [message]:
                    text = _plain(part)
                    if text and not text.startswith(UPSTREAMS_OWN):
                        yield part.lineno, text


def _plain(expression: ast.expr) -> str:
    """Return the text of an expression that is one; a call makes its own, such as `said(…)`."""
    match expression:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)  # type: ignore[misc]
        case ast.IfExp(body=one, orelse=other):
            return _plain(one) or _plain(other)
        case ast.BinOp(left=one, right=other):
            return _plain(one) or _plain(other)
        case _:
            return ""


def test_what_is_not_there_is_named_on_the_session_api() -> None:
    """`not_found` is the Kubernetes API's; `missing` says the same to a page."""
    files = sorted((ROOT / "clustersim/sessionapi").glob("*.py"))
    assert [file.name for file in files if re.search(r"\bnot_found\(", file.read_text())] == []
