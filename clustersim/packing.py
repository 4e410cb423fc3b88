"""The session page's modules as they are served: few files instead of two hundred.

A browser asks for a module's imports when it has read the module, six at a time: two hundred small files are a dozen
rounds, each with headers of its own, and compress badly. What a page needs at the same moment is put into one file, a
pack, in which each module is a function of what it imports:

    export const $lib_text = (() => { ...; return { text, number }; })();

Modules may be packed as long as they import no ring and hold no `export let`, which holds for all (`packed` refuses
others). Everything that the entry reaches is served from its own folder, so that a page has each module once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from posixpath import dirname, normpath, relpath
from posixpath import join as joined
from typing import Final, NamedTuple, Protocol

ENTRY: Final = "main.js"
"""The module that is the session page; it awaits its words, so it stays a file of its own."""

SESSION: Final = "packs/session.js"
"""The pack of what the entry imports at once: all that a phone shows before something is opened."""

SHARED: Final = "-shared.js"
"""How the pack ends that holds what a moment shares with modules that are imported at others."""

MOMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "packs/desk.js": (
        "panels/desktop.js",
        "stage/stage.js",
        "act/undo.js",
        "act/desk.js",
        "presenting/presenting.js",
    ),
    "packs/forms.js": (
        "forms/code_dialog.js",
        "forms/delete_dialog.js",
        "forms/expression_dialog.js",
        "forms/fault_dialog.js",
        "forms/import_dialog.js",
        "forms/keys_dialog.js",
        "forms/object_form.js",
        "forms/save_dialog.js",
        "forms/scheduler_dialog.js",
        "forms/yaml_tab.js",
    ),
}
"""Packs of modules that are imported later, at one moment; each holds what they need beyond the packs before it."""

STYLES: Final = ("tokens", "base", "session", "clock", "topbar", "inspector", "dialogs", "phone")
"""The style sheets that the page is first painted with, in the order in which they count; the others follow by name."""

_IMPORT: Final = re.compile(r'^import\s+(\{[^}]*\}|\*\s+as\s+\w+)\s+from\s+"(\.{1,2}/[^"]+)";[^\S\n]*\n', re.MULTILINE)
_EXPORT_FROM: Final = re.compile(r'^export\s+\{([^}]*)\}\s+from\s+"(\.{1,2}/[^"]+)";[^\S\n]*\n', re.MULTILINE)
_EXPORT_SEVERAL: Final = re.compile(r"^export\s+const\s+\{([^}]*)\}\s+=", re.MULTILINE)
_EXPORT_LIST: Final = re.compile(r"^export\s+\{([^}]*)\};[^\S\n]*\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export\s+((?:async\s+function|function|class|const)\s+(\w+))", re.MULTILINE)
_TYPE: Final = re.compile(r"/\*\*.*?\*/")
_LATER: Final = re.compile(r'\bimport\("(\.{1,2}/[^"]+)"\)')
_LEFT: Final = re.compile(r"^(?:import|export|await)\b.*", re.MULTILINE)


class Importing(Protocol):
    """What a module needs of others."""

    @property
    def imports(self) -> tuple[str, ...]:
        """The paths of the modules that it imports at once."""
        ...

    @property
    def later(self) -> tuple[str, ...]:
        """The paths of those that it imports when it asks for them."""
        ...


class Module(NamedTuple):
    """A module: its text, what it imports at once, and what later."""

    text: str
    imports: tuple[str, ...]
    later: tuple[str, ...]


def module_of(path: str, text: str) -> Module:
    """Return a module with the paths of others as they stand below the same folder."""
    here = dirname(path)
    at_once = [match[2] for pattern in (_IMPORT, _EXPORT_FROM) for match in pattern.finditer(text)]
    later = [match[1] for match in _LATER.finditer(_TYPE.sub("", text))]
    imports, asked = ([normpath(joined(here, one)) for one in found] for found in (at_once, later))
    return Module(text, tuple(imports), tuple(asked))


def packed(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the files that the session page is served as, by path: packs, and what stands in none.

    Args:
        sources: every module's text by its path, as `stage/stage.js`.

    Raises:
        ValueError: a module cannot be packed, or is not there.
    """
    modules = {path: module_of(path, text) for path, text in sources.items()}
    packs = _packs(modules)
    place = {path: pack for pack, members in packs.items() for path in members}
    files: dict[str, str] = {}
    for pack, members in packs.items():
        heads: dict[str, None] = {}
        bodies = [_as_function(path, modules[path], pack, place, heads) for path in members]
        files[pack] = "".join([*heads, *bodies])
    for path in reached(modules, [ENTRY], later=True):
        if path not in place:
            heads = {}
            text = _inside(path, modules[path].text, path, place, heads)
            files[path] = "".join([*heads, text])
    return files


def reached(modules: Mapping[str, Importing], entries: Iterable[str], *, later: bool = False) -> list[str]:
    """Return what the entries reach, each after what it imports at once.

    Args:
        modules: by their paths.
        entries: the paths that one begins with.
        later: whether what a module imports when it asks for it counts, too.

    Raises:
        ValueError: modules import each other in a ring, or one that is not there.
    """
    done: dict[str, bool] = {}
    found: list[str] = []
    waiting = list(entries)

    def visit(path: str) -> None:
        if done.get(path):
            return
        if path in done or path not in modules:
            raise ValueError(f"{path} imports itself by others, or is not there")
        done[path] = False
        for other in modules[path].imports:
            visit(other)
        done[path] = True
        found.append(path)
        if later:
            waiting.extend(modules[path].later)

    while waiting:
        visit(waiting.pop(0))
    return found


def _packs(modules: Mapping[str, Module]) -> dict[str, list[str]]:
    """Return the members of each pack, each after what it imports."""
    packs = {SESSION: [path for path in reached(modules, [ENTRY]) if path != ENTRY]}
    taken = {ENTRY, *packs[SESSION]}
    whole = reached(modules, [ENTRY], later=True)
    roots = {other for path in whole for other in modules[path].later} - taken
    for pack, wanted in MOMENTS.items():
        others = set(reached(modules, sorted(roots - set(wanted))))
        needed = [path for path in reached(modules, wanted) if path not in taken]
        # A phone that opens a lesson must not fetch the stage for a word that both use.
        packs[pack.replace(".js", SHARED)] = [path for path in needed if path in others]
        packs[pack] = [path for path in needed if path not in others]
        taken.update(needed)
    roots -= taken
    reaching: dict[str, list[str]] = {}
    for root in roots:
        for path in reached(modules, [root]):
            reaching.setdefault(path, []).append(root)
    for root in sorted(roots):
        # What only one later module needs comes with it.
        own = [path for path in reached(modules, [root]) if path not in taken and reaching[path] == [root]]
        if len(own) > 1:
            packs[f"packs/{_name(root)[1:]}.js"] = own
    return {pack: members for pack, members in packs.items() if members}


def _name(path: str) -> str:
    """Return what a module is called within packs: `stage/lanes-model.js` is `$stage_lanes_model`."""
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))


def _address(here: str, path: str) -> str:
    address = relpath(path, dirname(here) or ".")
    return address if address.startswith(".") else f"./{address}"


def _inside(path: str, text: str, file: str, place: Mapping[str, str], heads: dict[str, None]) -> str:
    """Return a module's text as it stands in a file: what it imports of packs comes out of these.

    `heads` grows by the imports that the file itself needs.
    """
    here = dirname(path)

    def known(address: str) -> str:
        """Return the name of a module, which the file's head makes known."""
        other = normpath(joined(here, address))
        name, pack = _name(other), place.get(other)
        if pack is None:
            heads[f'import * as {name} from "{_address(file, other)}";\n'] = None
        elif pack != file:
            heads[f'import {{ {name} }} from "{_address(file, pack)}";\n'] = None
        return name

    def at_once(match: re.Match[str]) -> str:
        names = match[1]
        return f"const {names.split()[-1] if names.startswith('*') else _taken(names)} = {known(match[2])};\n"

    def handed_on(match: re.Match[str]) -> str:
        return f"export const {{{_taken(match[1])}}} = {known(match[2])};\n"

    def when_asked(match: re.Match[str]) -> str:
        other = normpath(joined(here, match[1]))
        pack = place.get(other)
        if pack is None:
            return f'import("{_address(file, other)}")'
        return f'import("{_address(file, pack)}").then((pack) => pack.{_name(other)})'

    return _LATER.sub(when_asked, _EXPORT_FROM.sub(handed_on, _IMPORT.sub(at_once, text)))


def _taken(names: str) -> str:
    """Return names as they are taken out of a module's object: `a as b` is `a: b`."""
    return re.sub(r"(\w+)\s+as\s+(\w+)", r"\1: \2", names)


def _as_function(path: str, module: Module, file: str, place: Mapping[str, str], heads: dict[str, None]) -> str:
    """Return a module as one declaration of its pack.

    Raises:
        ValueError: something in it is imported or exported in a way that is not known here.
    """
    given: list[str] = []

    def export_several(match: re.Match[str]) -> str:
        given.extend(one.split(":")[-1].strip() for one in match[1].split(",") if one.strip())
        return f"const {{{match[1]}}} ="

    def export_list(match: re.Match[str]) -> str:
        given.extend(filter(None, (part.strip() for part in match[1].split(","))))
        return ""

    def export(match: re.Match[str]) -> str:
        given.append(match[2])
        return match[1]

    text = _inside(path, module.text, file, place, heads)
    text = _EXPORT.sub(export, _EXPORT_LIST.sub(export_list, _EXPORT_SEVERAL.sub(export_several, text)))
    left = _LEFT.search(text)
    if left or any(" as " in one for one in given):
        raise ValueError(f"{path} cannot be packed: {left[0] if left else given}")
    body = text.strip("\n")
    return f"// {path}\nexport const {_name(path)} = (() => {{\n{body}\nreturn {{ {', '.join(given)} }};\n}})();\n"
