"""URLs in expressions.

Source: k8s.io/apiserver/pkg/cel/library (urls.go), v1.34, and Go's net/url (ParseRequestURI), whose words these are.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from scheduler_core.expressions.declaring import Function, Own, Way, part

URL: Final = "kubernetes.URL"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_PORT: Final = re.compile(r"(:[0-9]*)?\Z", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")
_PATH_SAFE: Final = "/$&+,:;=@!'()*~[]"


def url_error(text: str) -> str:
    """Return why a text is no URL of a request, as Go says it; empty: it is one."""
    wrong = _wrong(text)
    return f'parse "{text}": {wrong}' if wrong else ""


def _wrong(text: str) -> str:
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    if text == "*":
        return ""
    scheme, rest = _parts(text)
    if scheme is None:
        return "missing protocol scheme"
    rest, _, _ = rest.partition("?")
    if not rest.startswith("/"):
        return "" if scheme else "invalid URI for request"
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        return _wrong_host(authority.rpartition("@")[2]) or _wrong_escape(slash + path)
    return _wrong_escape(rest)


def _parts(text: str) -> tuple[str | None, str]:
    """Return scheme and rest; None where a colon stands first."""
    for place, letter in enumerate(text):
        if letter == ":":
            return (None, "") if not place else (text[:place].lower(), text[place + 1 :])
        if not _SCHEME.match(text[: place + 1]):
            break
    return "", text


def _wrong_host(host: str) -> str:
    if host.startswith("["):
        inner, bracket, port = host.partition("]")
        if not bracket:
            return "missing ']' in host"
    else:
        inner, colon, port = host.rpartition(":")
        port = colon + port
        if not colon:
            inner, port = host, ""
        elif ":" in inner:
            return f'invalid port ":{host.partition(":")[2]}" after host'
    if not _PORT.match(port):
        return f'invalid port "{port}" after host'
    for letter in inner:
        if letter in ' "<>\\^`{|}':
            return f'invalid character "{letter}" in host name'
    return _wrong_escape(inner)


def _wrong_escape(text: str) -> str:
    found = _ESCAPE.search(text)
    return f'invalid URL escape "{found[0]}"' if found else ""


def _url(text: str) -> Own:
    wrong = url_error(text)
    if wrong:
        raise ValueError(f"URL parse error during conversion from string: {wrong}")
    parts = urlsplit(text.replace("#", "%23"))
    host = parts.netloc.rpartition("@")[2]
    name, port = _host(host)
    raw = parts.path.replace("%23", "#", text.count("#"))
    read = {
        "scheme": parts.scheme,
        "host": unquote(host),
        "hostname": unquote(name),
        "port": port,
        "path": raw if quote(unquote(raw), safe=_PATH_SAFE) == raw else quote(unquote(raw), safe=_PATH_SAFE),
        "query": parse_qs(parts.query.replace("%23", "#"), keep_blank_values=True),
    }
    return {URL: read}


def _host(host: str) -> tuple[str, str]:
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return name, port.removeprefix(":")
    name, colon, port = host.rpartition(":")
    return (name, port) if colon else (host, "")


def _is_url(text: str) -> bool:
    return not url_error(text)


def _part(name: str) -> Any:
    return lambda one: part(one, URL)[name]


FUNCTIONS: Final = (
    Function("url", Way(URL, ("string",), _url)),
    Function("isURL", Way("bool", ("string",), _is_url)),
    Function("getScheme", Way("string", (URL,), _part("scheme"), member=True)),
    Function("getHost", Way("string", (URL,), _part("host"), member=True)),
    Function("getHostname", Way("string", (URL,), _part("hostname"), member=True)),
    Function("getPort", Way("string", (URL,), _part("port"), member=True)),
    Function("getEscapedPath", Way("string", (URL,), _part("path"), member=True)),
    Function("getQuery", Way("map<string,list<string>>", (URL,), _part("query"), member=True)),
)
