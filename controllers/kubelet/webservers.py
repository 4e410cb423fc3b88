"""What a web server's own settings make of a request: blocks of `server` and `location`, as nginx reads them.

Source: nginx.org/en/docs (ngx_http_core_module: listen, server_name, location, root, alias, index, default_type;
ngx_http_rewrite_module: return). A request that meets any other directive that may decide about it is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

LENGTH_MAX: Final = 64 * 1024
"""Characters of settings that are read."""

DEPTH_MAX: Final = 16
"""Blocks within each other."""

_WORD: Final = re.compile(
    r"""\s+|#[^\n]*|([;{}])|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;{}"'#][^\s;{}]*)""", re.DOTALL
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)
_IDLE: Final = frozenset(
    {
        "access_log", "add_header", "autoindex", "charset", "client_max_body_size", "default_type", "error_log", "etag",
        "expires", "gzip", "gzip_types", "include", "index", "keepalive_timeout", "listen", "log_not_found", "root",
        "sendfile", "server_name", "server_tokens", "tcp_nodelay", "tcp_nopush", "types",
    }
)  # fmt: skip
"""Directives that do not decide what comes of a request, or are read here."""

_AWAY: Final = frozenset({301, 302, 303, 307, 308})


class NoSettings(ValueError):
    """It is not what a web server could read."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A line of settings; `block` is what stands in its brackets, None where it has none."""

    words: tuple[str, ...]
    block: tuple[Directive, ...] | None

    @property
    def name(self) -> str:
        """Return its first word."""
        return self.words[0]


class Asked(NamedTuple):
    """What a web server is asked for; `values` are those of variables."""

    port: int
    host: str
    path: str
    values: Mapping[str, str]


class Said(NamedTuple):
    """What it answers: a status and a text, or, where there is no status, a file's path. Status -1: nobody listens."""

    code: int
    text: str = ""
    type: str = "text/html"
    first: str = "index.html"
    """The file that stands for a folder."""


SILENT: Final = Said(-1)


def read_settings(text: str, included: Callable[[str], Sequence[str]] = lambda pattern: ()) -> tuple[Directive, ...]:
    """Return the directives of a text; `included` returns the texts of the files that a pattern names.

    Raises:
        NoSettings: it cannot be read.
    """
    if len(text) > LENGTH_MAX:
        raise NoSettings("it is too long")
    return tuple(_block(_words(text), included, 0, within=False))


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (word, whether it was quoted)."""
    at = 0
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None:
            raise NoSettings(f"unexpected {text[at]!r}")
        at = found.end()
        mark, double, single, plain = found.groups()
        quoted = double if double is not None else single
        if quoted is not None:
            yield re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), quoted, flags=re.DOTALL), True
        elif mark or plain:
            yield mark or plain, False


def _block(
    words: Iterator[tuple[str, bool]], included: Callable[[str], Sequence[str]], depth: int, *, within: bool
) -> Iterator[Directive]:
    line: list[str] = []
    for word, quoted in words:
        if quoted or word not in (";", "{", "}"):
            line.append(word)
        elif word == ";" and line:
            if line[0] == "include" and len(line) == 2 and depth < DEPTH_MAX:
                for text in included(line[1]):
                    yield from _block(_words(text), included, depth + DEPTH_MAX // 2, within=False)
            yield Directive(tuple(line), None)
            line = []
        elif word == "{" and line and depth < DEPTH_MAX:
            yield Directive(tuple(line), tuple(_block(words, included, depth + 1, within=True)))
            line = []
        elif word == "}" and not line and within:
            return
        else:
            raise NoSettings(f"unexpected {word!r}")
    if line or within:
        raise NoSettings("unexpected end of file")


def answer(settings: Sequence[Directive], asked: Asked) -> Said | None:
    """Return what settings make of a request; None: that is not known."""
    servers = [one for one in settings if one.name == "server"]
    for http in settings:
        if http.name == "http":
            servers += [one for one in http.block or () if one.name == "server"]
    listening = [one for one in servers if asked.port in _ports(one)]
    if not listening:
        return SILENT
    named = [one for one in listening if asked.host in _arguments(one, "server_name")]
    usual = [one for one in listening if _is_default(one, asked.port)]
    return _of_server((named or usual or listening)[0], asked)


def _ports(server: Directive) -> Iterator[int]:
    found = [one for one in server.block or () if one.name == "listen" and len(one.words) > 1]
    if not found:
        yield 80
    for one in found:
        last = one.words[1].rpartition(":")[2]
        yield int(last) if last.isdecimal() else 80


def _is_default(server: Directive, port: int) -> bool:
    lines = [one for one in server.block or () if one.name == "listen" and len(one.words) > 1]
    return any("default_server" in one.words and one.words[1].rpartition(":")[2] == str(port) for one in lines)


def _arguments(block: Directive, name: str) -> tuple[str, ...]:
    return next((one.words[1:] for one in block.block or () if one.name == name), ())


def _of_server(server: Directive, asked: Asked) -> Said | None:
    block = server.block or ()
    told = next((one for one in block if one.name == "return"), None)
    if told is not None:
        return _returned(told, asked, _type((server,)))
    if any(one.name not in _IDLE and one.name not in ("location", "error_page") for one in block):
        return None
    places = [one for one in block if one.name == "location" and len(one.words) > 1]
    if any(one.words[1] in ("~", "~*") for one in places):
        return None
    exact = next((one for one in places if one.words[1:] == ("=", asked.path)), None)
    begins = [one for one in places if one.words[1] != "=" and asked.path.startswith(one.words[-1])]
    place = exact or max(begins, key=lambda one: len(one.words[-1]), default=None)
    if place is None:
        return _file((server,), asked.path)
    told = next((one for one in place.block or () if one.name == "return"), None)
    if told is not None:
        return _returned(told, asked, _type((place, server)))
    if any(one.name not in _IDLE and one.name not in ("alias", "try_files") for one in place.block or ()):
        return None
    if any(one.name == "try_files" and one.words[-1] != "=404" for one in place.block or ()):
        return None
    if alias := _arguments(place, "alias"):
        top = place.words[-1]
        return Said(0, alias[0] + asked.path[len(top) :], first=_index((place, server)))
    return _file((place, server), asked.path)


def _first(blocks: Sequence[Directive], name: str) -> tuple[str, ...]:
    return next((found for one in blocks if (found := _arguments(one, name))), ())


def _type(blocks: Sequence[Directive]) -> str:
    return next(iter(_first(blocks, "default_type")), "application/octet-stream")


def _index(blocks: Sequence[Directive]) -> str:
    return next(iter(_first(blocks, "index")), "index.html")


def _file(blocks: Sequence[Directive], path: str) -> Said:
    root = next(iter(_first(blocks, "root")), "/etc/nginx/html")
    return Said(0, root.rstrip("/") + path, first=_index(blocks))


def _returned(told: Directive, asked: Asked, kind: str) -> Said | None:
    code, text = told.words[1] if len(told.words) > 1 else "", " ".join(told.words[2:])
    if not code.isdecimal():
        return Said(302)
    if int(code) in _AWAY or not text:
        return Said(int(code))
    names = [one[0] or one[1] for one in _VARIABLE.findall(text)]
    if any(name not in asked.values for name in names):
        return None
    return Said(int(code), _VARIABLE.sub(lambda one: asked.values[one[1] or one[2]], text), type=kind)
