"""The page's own modules and style sheets, in the form in which a single file carries them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple

from django.conf import settings

from clustersim.packing import ENTRY, STYLES, reached

SERVER: Final = "recording/serve.js"
"""The module that answers instead of a server."""

BOOT: Final = "recording/boot.js"
"""The plain script that unpacks the others."""

_STATIC: Final = re.compile(r'^((?:import|export)\b[^;"]*?\bfrom\s+|import\s+)"(\.{1,2}/[^"]+)"', re.MULTILINE)
_DYNAMIC: Final = re.compile(r'\bimport\(\s*"(\.{1,2}/[^"]+)"\s*\)')


class Module(NamedTuple):
    """A module of the page: what it imports at once and later, and its text with `module:<path>` for addresses."""

    imports: tuple[str, ...]
    later: tuple[str, ...]
    text: str


class Bundle(NamedTuple):
    """What a file carries of the page.

    Attributes:
        modules: (path, text), each after those that it imports at once.
        styles: (name, text) in the order in which they count.
        boot: the text of the plain script.
    """

    modules: tuple[tuple[str, str], ...]
    styles: tuple[tuple[str, str], ...]
    boot: str


def module_of(path: str, source: str) -> Module:
    """Return a module whose imports name other modules by their paths below `static/js`.

    Args:
        path: of the module itself, as `stage/stage.js`.
        source: its text.
    """
    here = dirname(path)
    imports: list[str] = []
    later: list[str] = []

    def at_once(match: re.Match[str]) -> str:
        imports.append(normpath(join(here, match[2])))
        return f'{match[1]}"module:{imports[-1]}"'

    def when_asked(match: re.Match[str]) -> str:
        later.append(normpath(join(here, match[1])))
        return f'importPacked("{later[-1]}")'

    text = _DYNAMIC.sub(when_asked, _STATIC.sub(at_once, source))
    return Module(tuple(imports), tuple(later), text)


OTHERS: Final = frozenset({"handout", "home", "join", "lessons", "write"})
"""Style sheets of other pages: what they say of a page's parts is not said of this one."""


@cache
def bundle() -> Bundle:
    """Return what this release's page is made of."""
    root = Path(settings.STATICFILES_DIRS[0])
    sources = {path.relative_to(root / "js").as_posix(): path for path in (root / "js").rglob("*.js")}
    modules = {name: module_of(name, path.read_text(encoding="utf-8")) for name, path in sources.items()}
    # Types stand in comments: what only they name is no module of the page.
    modules = {
        name: module._replace(later=tuple(other for other in module.later if other in modules))
        for name, module in modules.items()
    }
    sheets = {path.stem: path for path in (root / "css").glob("*.css")}
    names = [*STYLES, *sorted(set(sheets) - set(STYLES) - OTHERS)]
    return Bundle(
        tuple((name, modules[name].text) for name in reached(modules, (ENTRY, SERVER), later=True)),
        tuple((name, sheets[name].read_text(encoding="utf-8")) for name in names),
        (root / "js" / BOOT).read_text(encoding="utf-8"),
    )
