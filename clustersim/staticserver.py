"""Static files: a release in the path (so that relative imports stay inside one release), cached for good."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedStaticFilesStorage

from clustersim import packing

PLOTLY: Final = "vendor/plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Yield plotly.js out of the installed wheel, without importing plotly (which takes a second)."""

    def __init__(self, app_names: object = None, *args: object, **kwargs: object) -> None:
        spec = importlib.util.find_spec("plotly")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("plotly is not installed: run `make run`, or pip install -r requirements.txt")
        self.folder = Path(spec.submodule_search_locations[0]) / "package_data"
        self.storage = FileSystemStorage(location=self.folder)
        # collectstatic joins storage.prefix and the file's name.
        self.storage.prefix = "vendor"  # type: ignore[attr-defined]

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """Return the file's absolute path when it is asked for."""
        found = [str(self.folder / "plotly.min.js")] if path == PLOTLY else []
        return found if find_all else (found[0] if found else [])

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        """Yield the one file."""
        yield "plotly.min.js", self.storage


COMMENT_LINES: Final = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*\n", re.DOTALL | re.MULTILINE)
"""Comments of a module that have their lines for themselves; one before code on its line stays."""


def bare(module: str) -> str:
    """Return a JavaScript module without its comments: a quarter of what a phone would fetch of it."""
    return COMMENT_LINES.sub("", module)


class BareStorage(CompressedStaticFilesStorage):
    """Static files as they are served: modules without comments, the session page in packs, all of it compressed."""

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """Strip the modules that were collected, pack what the session page is made of, then compress."""
        if dry_run:
            return
        modules: dict[str, str] = {}
        for name in paths:
            if name.startswith("js/") and name.endswith(".js"):
                file = Path(self.path(name))
                modules[name.removeprefix("js/")] = bare(file.read_text(encoding="utf-8"))
                file.write_text(modules[name.removeprefix("js/")], encoding="utf-8")
        pages = packing.packed(modules)
        sheets = [Path(self.path(f"css/{name}.css")) for name in packing.STYLES]
        pages["session.css"] = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
        for name, text in pages.items():
            file = Path(self.path(f"page/{name}"))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        yield from super().post_process({**paths, **{f"page/{name}": None for name in pages}}, **options)


class StaticMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise over every release kept in the data folder; a page that is open keeps its own until it reloads."""

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        for folder in sorted(settings.STATIC_ROOT.parent.glob("*")):
            if folder.is_dir() and folder != settings.STATIC_ROOT:
                self.add_files(str(folder), prefix=f"/static/{folder.name}/")

    def immutable_file_test(self, path: str, url: str) -> bool:
        """Return True for all: a release's files never change, the next release has another path."""
        return re.match(r"/static/[^/]+/", url) is not None

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Answer with the whole file at once: ASGI would read a file iterator in one thread hop per block."""
        response = static_file.get_response(request.method, request.META)
        body = response.file.read() if response.file is not None else b""
        if response.file is not None:
            response.file.close()
        answer = HttpResponse(body, status=int(response.status))
        del answer.headers["Content-Type"]
        for name, value in response.headers:
            answer.headers[name] = value
        return answer
