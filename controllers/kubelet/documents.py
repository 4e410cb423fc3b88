"""What containers serve of their files: those that commands, init containers, sidecars and volumes have put there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from posixpath import normpath
from typing import Any, Final, Literal, NamedTuple

from controllers.kinds.core.commands import script_of
from controllers.kubelet.containers import Containers
from controllers.kubelet.scripts import Scripts
from controllers.kubelet.shell.inside import Facts, Inside, look_inside
from controllers.kubelet.stages.answers import Answers, Page, Root
from controllers.kubelet.webservers import Asked, NoSettings, Said, answer, read_settings

INDEX: Final = "index.html"

_Type = Literal["text/plain", "text/html", "application/json"]
_TYPES: Final[Mapping[str, _Type]] = {"html": "text/html", "htm": "text/html", "json": "application/json"}
_REASONS: Final = {one.value: one.phrase for one in HTTPStatus if one.value >= 300}
_DEFAULT: Final = "server {{ listen 80; location / {{ root {}; }} }}"
"""What an image of nginx does without settings of one's own."""

_SERVERS: Final = re.compile(r"\b(?:httpd|http\.server)\b[^;&|\n]*")
_FOLDER: Final = re.compile(r"\s(?:-h|-d|--directory)[ =](/[\w./-]+)")


class Request(NamedTuple):
    """What a container is asked for by HTTP; `client` is the address that it sees it come from."""

    port: int
    host: str
    path: str
    client: str = ""


class Served(NamedTuple):
    """An answer: its HTTP status and what it says; -1: nobody listens on the port."""

    code: int
    page: Page


def served(
    pod: Mapping[str, Any], container: Mapping[str, Any], request: Request, facts: Facts, answers: Answers, unix_ms: int
) -> Served | None:
    """Return what a container serves of its files; None: there is nothing but what its image brings along.

    Args:
        pod: whose container it is.
        container: from its spec.
        request: what it is asked for, without a query.
        facts: what volumes are made from.
        answers: the stages' answers.
        unix_ms: the present.
    """
    image = str(container.get("image", ""))
    root = _served_folder(container) or answers.root_of(image)
    if root is None:
        return None
    inside = look_inside(pod, container, facts, answers)
    one = next(one for one in Containers(pod).all if one.name == container["name"])
    disk = Scripts(facts).disk(pod, one, answers, unix_ms)
    files = _Files(inside, disk, answers.of_page(image, request.path).server)
    said = _told(files, root, request) if root.settings else None
    if said is None:
        return files.page(root.folder + _plain(request.path), INDEX)
    if said.code:
        body = said.text or (f"<h1>{said.code} {_REASONS[said.code]}</h1>\n" if said.code in _REASONS else "")
        kind: _Type = "text/plain"
        if not said.text or said.type in ("text/html", "application/json"):
            kind = "application/json" if said.type == "application/json" else "text/html"
        return Served(said.code, Page(body, type=kind, server=files.server))
    page = files.page(_plain(said.text), said.first)
    if page is None and not said.text.startswith(f"{root.folder}/"):
        return files.missing(404)
    return page


def _served_folder(container: Mapping[str, Any]) -> Root | None:
    """Return what a container's command says that it serves: `httpd -h /www`, `python -m http.server -d /www`."""
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    found = _SERVERS.search(script_of(words) or " ".join(words))
    if found is None:
        return None
    folder = _FOLDER.search(found[0])
    return Root(f"/{folder[1].strip('/')}") if folder is not None and folder[1].strip("/") else None


def _told(files: _Files, root: Root, request: Request) -> Said | None:
    """Return what the settings say that lie in volumes; None: there are none, or it is not known what they say."""
    names = ("/etc/nginx/nginx.conf", "/etc/nginx/conf.d")
    main, more = (name.replace("/etc/nginx", root.settings, 1) for name in names)
    inside = files.inside
    hidden = any(top in (more, root.settings) for top in inside.mounted)
    own = main in inside.files
    if not hidden and not own and not any(path.startswith(f"{more}/") for path in inside.mounted):
        return None

    def included(pattern: str) -> list[str]:
        if pattern != f"{more}/*.conf":
            return []
        found = {path: text for path, text in inside.files.items() if path.startswith(f"{more}/")}
        found |= {path: text or "" for path, text in files.disk.items() if path.startswith(f"{more}/")}
        if not hidden:
            found.setdefault(f"{more}/default.conf", _DEFAULT.format(root.folder))
        return [
            text for path, text in sorted(found.items()) if path.endswith(".conf") and "/" not in path[len(more) + 1 :]
        ]

    address = str(inside.address)
    values = {
        "host": request.host, "http_host": request.host, "uri": request.path, "request_uri": request.path,
        "hostname": inside.hostname, "server_addr": address, "server_port": str(request.port), "scheme": "http",
        "remote_addr": request.client, "request_method": "GET",
    }  # fmt: skip
    try:
        settings = read_settings(inside.files[main] if own else f"http {{ include {more}/*.conf; }}", included)
    except NoSettings:
        return None
    return answer(settings, Asked(request.port, request.host, request.path, values))


def _plain(path: str) -> str:
    """Return an absolute path without its detours; one that asks for a folder goes on asking for it."""
    plain = normpath(f"/{path.lstrip('/')}")
    return f"{plain}/" if path.endswith("/") and plain != "/" else plain


class _Files:
    """The files that a container may serve."""

    def __init__(self, inside: Inside, disk: Mapping[str, str | None], server: str) -> None:
        self.inside, self.disk, self.server = inside, disk, server

    def page(self, place: str, index: str) -> Served | None:
        """Return what a file comes to; None: only the image may have it."""
        asks_folder = place.endswith("/")
        place += index if asks_folder else ""
        if place not in self.disk and not self.inside.is_volume(place):
            lacks = place not in self.inside.files and self.inside.leaves_free(place, at_first=False)
            return self.missing(404) if lacks else None
        text = self.disk[place] if place in self.disk else self.inside.files.get(place)
        if text is None:
            return self.missing(403 if asks_folder and place.rpartition("/")[0] in self.inside.folders else 404)
        kind = _TYPES.get(place.rpartition(".")[2], "text/plain")
        return Served(200, Page(text, type=kind, server=self.server))

    def missing(self, code: int) -> Served:
        """Return the answer where there is no file."""
        return Served(code, Page(f"<h1>{code} {_REASONS[code]}</h1>\n", type="text/html", server=self.server))
