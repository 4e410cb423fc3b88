"""What containers serve of their files: those that commands, init containers, sidecars and volumes have put there."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import normpath
from typing import Any, Final, Literal, NamedTuple

from controllers.kubelet.containers import Containers
from controllers.kubelet.scripts import Scripts
from controllers.kubelet.shell.inside import Facts, look_inside
from controllers.kubelet.stages.answers import Answers, Page

INDEX: Final = "index.html"

_Type = Literal["text/plain", "text/html", "application/json"]
_TYPES: Final[Mapping[str, _Type]] = {"html": "text/html", "htm": "text/html", "json": "application/json"}
_REASONS: Final = {403: "Forbidden", 404: "Not Found"}


class Served(NamedTuple):
    """An answer: its HTTP status and what it says."""

    code: int
    page: Page


def served(
    pod: Mapping[str, Any], container: Mapping[str, Any], path: str, facts: Facts, answers: Answers, unix_ms: int
) -> Served | None:
    """Return what a container serves of its files at a path; None: there is nothing but what its image brings along.

    Args:
        pod: whose container it is.
        container: from its spec.
        path: of a request, without its query.
        facts: what volumes are made from.
        answers: the stages' answers.
        unix_ms: the present.
    """
    image = str(container.get("image", ""))
    folder = answers.root_of(image)
    if not folder:
        return None
    inside = look_inside(pod, container, facts, answers)
    one = next(one for one in Containers(pod).all if one.name == container["name"])
    disk = Scripts(facts).disk(pod, one, answers, unix_ms)
    wanted = path.lstrip("/")
    place = folder + normpath(f"/{wanted}") + ("/" if wanted.endswith("/") else "")
    asks_folder = place.endswith("/")
    place += INDEX if asks_folder else ""
    if place not in disk and not inside.is_volume(place):
        return None
    text = disk[place] if place in disk else inside.files.get(place)
    server = answers.of_page(image, path).server
    if text is None:
        code = 403 if asks_folder and place == f"{folder}/{INDEX}" else 404
        body = f"<h1>{code} {_REASONS[code]}</h1>\n"
        return Served(code, Page(body, type="text/html", server=server))
    return Served(200, Page(text, type=_TYPES.get(place.rpartition(".")[2], "text/plain"), server=server))
