"""The session page's modules as they are served: packs that hold what one moment needs, each module once."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from clustersim import packing
from clustersim.packing import packed
from clustersim.staticserver import bare

MODULES = Path(__file__).resolve().parent.parent.parent / "static" / "js"
IMPORT = re.compile(r'(?:from |import\()"(\.{1,2}/[^"]+)"')

SESSION = """// lib/more.js
export const $lib_more = (() => {
const A = 2;
return { A };
})();
// lib/text.js
export const $lib_text = (() => {
const A = 1;
function say() {}
const { A: B } = $lib_more;
return { B, A, say };
})();
"""
SHARED = """// stage/near-by.js
export const $stage_near_by = (() => {
async function near() {}
return { near };
})();
"""
DESK = """import { $lib_text } from "./session.js";
import { $stage_near_by } from "./desk-shared.js";
// stage/stage.js
export const $stage_stage = (() => {
const text = $lib_text;
const { near } = $stage_near_by;
class Stage {}
near(text);
return { Stage };
})();
"""


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOMENTS", {"packs/desk.js": ("stage/stage.js",)})


@pytest.mark.usefixtures("moments")
def test_what_a_moment_needs_is_one_file_and_each_module_stands_in_one() -> None:
    files = packed(
        {
            "main.js": 'import { say as tell } from "./lib/text.js";\n'
            'await tell(() => import("./stage/stage.js"),\n  () => import("./late/one.js"));\n',
            "lib/text.js": 'export const A = 1;\nexport function say() {}\nexport { A as B } from "./more.js";\n',
            "lib/more.js": "const A = 2;\nexport { A };\n",
            "stage/stage.js": 'import * as text from "../lib/text.js";\nimport { near } from "./near-by.js";\n'
            "export class Stage {}\nnear(text);\n",
            "stage/near-by.js": "export async function near() {}\n",
            "late/one.js": 'import { near } from "../stage/near-by.js";\nnear();\n',
            "other.js": "export const never = 1;\n",
        }
    )
    assert files == {
        "packs/session.js": SESSION,
        "packs/desk-shared.js": SHARED,
        "packs/desk.js": DESK,
        "late/one.js": 'import { $stage_near_by } from "../packs/desk-shared.js";\n'
        "const { near } = $stage_near_by;\nnear();\n",
        "main.js": 'import { $lib_text } from "./packs/session.js";\nconst { say: tell } = $lib_text;\n'
        'await tell(() => import("./packs/desk.js").then((pack) => pack.$stage_stage),\n'
        '  () => import("./late/one.js"));\n',
    }


@pytest.mark.usefixtures("moments")
@pytest.mark.parametrize(
    "text",
    [
        "export let counted = 0;\n",
        "export default 1;\n",
        'export * from "./more.js";\n',
        'import "./more.js";\n',
        "await 1;\n",
        'import { b } from "./ring.js";\nexport const a = b;\n',
        'import { b } from "./nowhere.js";\n',
    ],
)
def test_what_would_not_be_the_same_in_a_pack_is_refused(text: str) -> None:
    ring = 'import { a } from "./one.js";\nexport const b = a;\n'
    others = {"lib/more.js": "", "stage/stage.js": "", "lib/ring.js": ring}
    with pytest.raises(ValueError, match=r"lib/(one|ring|nowhere)\.js"):
        packed({"main.js": 'import { a } from "./lib/one.js";\n', "lib/one.js": text, **others})


def test_the_page_is_served_whole_and_no_module_twice() -> None:
    sources = {
        path.relative_to(MODULES).as_posix(): bare(path.read_text(encoding="utf-8")) for path in MODULES.rglob("*.js")
    }
    files = packed(sources)
    inside = re.findall(r"^// ([\w./-]+\.js)$", "".join(files.values()), re.MULTILINE)
    alone = [name for name in files if not name.startswith("packs/")]
    assert len(inside) > 150
    assert sorted({*inside, *alone}) == sorted([*inside, *alone]), "once each"
    for name, text in files.items():
        # What only a type names is a comment beside code.
        code = re.sub(r"/\*\*.*?\*/", "", text)
        wanted = {normpath(join(dirname(name), address)) for address in IMPORT.findall(code)}
        assert wanted <= set(files), name
    at_once = {name for name in inside if f"// {name}\n" in files[packing.SESSION]}
    assert {"lib/text.js", "panels/inspector.js"} <= at_once
    assert not {name for name in at_once if name.startswith(("stage/", "forms/", "decision/"))}, "a phone does without"
