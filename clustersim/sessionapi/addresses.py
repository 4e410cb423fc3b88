"""Addresses that answers carry: the page, the join link, the Kubernetes API; each as the caller reached this host."""

from __future__ import annotations

import ipaddress
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest

from clustersim.hosts import host_name
from clustersim.runtime.certificates import lan_address, local_addresses
from clustersim.store.sessions import SessionRow

BASIC_USER: Final = "clustersim"
"""The user name in Basic credentials; only the password counts."""


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def base(request: HttpRequest) -> str:
    """Return scheme and host as the caller reached them."""
    return f"{request.scheme}://{request.get_host()}"


def join_base(request: HttpRequest) -> str:
    """Return scheme and host for other people's devices: never this machine's loopback when the network reaches it.

    Phones do not know the own certificate authority, so a caller on the TLS port gets the plain one.
    """
    host = request.get_host()
    name, port = host_name(host), request.get_port()
    on_tls_port = bool(settings.TLS_PORT) and port == str(settings.TLS_PORT)
    outside = lan_address() if _is_loopback(name) and not _is_loopback(settings.HOST) else None
    if outside is None and not on_tls_port:
        return base(request)
    plain_port = str(settings.PORT) if on_tls_port else port
    return f"http://{_bracketed(outside or name)}:{plain_port}"


def network(request: HttpRequest, session: SessionRow) -> dict[str, Any]:
    """Return who can open the join address: `reachable` by other devices, and the `joinUrl` that they open.

    Where the server listens on this machine alone, that is the address once it is started with HOST=0.0.0.0, and None
    on a machine that no network reaches.
    """
    base_url = join_base(request)
    if not _is_loopback(host_name(base_url.partition("://")[2])):
        return {"reachable": True, "joinUrl": join_url(request, session)}
    outside = lan_address()
    path = f"/join/{session.display_code}"
    return {"reachable": False, "joinUrl": f"http://{outside}:{settings.PORT}{path}" if outside else None}


def check(request: HttpRequest, session: SessionRow) -> dict[str, Any]:
    """Return what a teacher looks at before the lesson: whether phones can get here, by which addresses, the short one.

    `addresses` are all that this machine has and listens to; which of them the room's network reaches a phone tells.
    """
    reached = network(request, session)
    path = f"/j/{session.code}"
    listens = [settings.HOST] if settings.HOST not in ("0.0.0.0", "::", "") else local_addresses()
    hosts = [address for address in listens if not _is_loopback(address)] if reached["reachable"] else []
    short = f"{join_base(request)}{path}"
    found = dict.fromkeys([short, *(f"http://{_bracketed(address)}:{settings.PORT}{path}" for address in hosts)])
    return {
        "reachable": reached["reachable"],
        "joinUrl": reached["joinUrl"],
        "shortUrl": short,
        "addresses": [{"url": url} for url in found],
    }


def page_url(request: HttpRequest, session: SessionRow, secret: str) -> str:
    """Return the link that signs its opener in; the secret stays in the browser's fragment."""
    return f"{base(request)}/s/{session.display_code}#{secret}"


def join_url(request: HttpRequest, session: SessionRow) -> str:
    """Return the link that asks for a name."""
    return f"{join_base(request)}/join/{session.display_code}"


def api_server(request: HttpRequest, session: SessionRow, *, credentials: str = "") -> str:
    """Return the address of the session's Kubernetes API; `credentials` only matter where there is no TLS."""
    path = f"/clusters/{session.display_code}"
    if settings.TLS_PORT:
        return f"https://{_bracketed(host_name(request.get_host()))}:{settings.TLS_PORT}{path}"
    user = f"{BASIC_USER}:{quote(credentials, safe='')}@" if credentials else ""
    return f"{request.scheme}://{user}{request.get_host()}{path}"
