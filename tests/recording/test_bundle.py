"""The page's modules in one file: what they import comes before them, and every address is one of the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustersim.packing import ENTRY, reached
from clustersim.recording.bundle import SERVER, bundle, module_of


def test_imports_are_named_by_path_and_later_ones_asked_for() -> None:
    module = module_of(
        "stage/stage.js",
        'import { a } from "../lib/a.js";\n'
        'import {\n  b,\n  c,\n} from "./b.js";\n'
        'import "./effect.js";\n'
        'export { d } from "./d.js";\n'
        '/** @import { T } from "../lib/types.d.ts" */\n'
        'const text = "from \\"./not.js\\"";\n'
        'const later = () => import("./later.js");\n',
    )
    assert module.imports == ("lib/a.js", "stage/b.js", "stage/effect.js", "stage/d.js")
    assert module.later == ("stage/later.js",)
    assert 'from "module:lib/a.js"' in module.text
    assert 'importPacked("stage/later.js")' in module.text


def test_each_module_comes_after_what_it_imports_and_rings_are_refused() -> None:
    def one(*imports: str) -> str:
        return "".join(f'import "./{name}";\n' for name in imports)

    modules = {name: module_of(name, text) for name, text in (("a", one("b", "c")), ("b", one("c")), ("c", ""))}
    assert reached(modules, ("a",)) == ["c", "b", "a"]
    modules["c"] = module_of("c", one("a"))
    with pytest.raises(ValueError, match="imports itself"):
        reached(modules, ("a",))


def test_the_page_is_whole() -> None:
    found = bundle()
    paths = [path for path, _ in found.modules]
    assert len(set(paths)) == len(paths)
    assert {ENTRY, SERVER, "lib/text/stage.zh-hans.js", "decision/decision.js"} <= set(paths)
    seen: set[str] = set()
    for path, text in found.modules:
        assert set(re.findall(r'"module:([^"]+)"', text)) <= seen, path
        asked = set(re.findall(r'importPacked\("([^"]+\.js)"\)', text))
        assert asked <= set(paths), path
        seen.add(path)
    assert [name for name, _ in found.styles][:2] == ["tokens", "base"]


def test_no_other_page_has_a_say_in_how_it_looks() -> None:
    pages = [path for path in Path("templates").glob("*.html") if path.stem not in ("base", "session")]
    linked = {name for path in pages for name in re.findall(r"css/([a-z-]+)\.css", path.read_text(encoding="utf-8"))}
    assert {"handout", "write"} <= linked
    assert {name for name, _ in bundle().styles} & linked == set()
