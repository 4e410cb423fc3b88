"""What an init container waits for: `until nslookup db; do sleep 2; done`, and whether that is there.

A script that can be played says so by itself (`turning`). This is for those that call programs of which the shell
knows nothing, such as `pg_isready`: of them as much is read as is needed, what they ask and of whom. Source of the
form: kubernetes.io/docs/concepts/workloads/pods/init-containers.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.kinds.clustersim.target import BadTarget, read_target
from controllers.kinds.core.commands import script_of
from controllers.kinds.core.service_names import service_of_name
from controllers.kubelet.shell.inside import Inside

SLICES: Final = "endpointslices.discovery.k8s.io"

SCRIPT_LENGTH_MAX: Final = 4096
"""Characters of a script that is read; a longer one is taken to wait for nothing."""

NAME_LENGTH_MAX: Final = 253
"""Characters of a variable in it that are read: of a name no more are needed."""

# Each part of it begins where the one before cannot go on: read in one go, whatever somebody writes.
_WAITS: Final = re.compile(r"\b(?:until|while !)\s([^;\n]+)[;\n]\s*do\b")
_NAMESPACE: Final = re.compile(
    r"(?:\$\(|`)\s*cat\s+/var/run/secrets/kubernetes\.io/serviceaccount/namespace\s*(?:\)|`)"
)
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_LOOKS_UP: Final = frozenset({"nslookup", "host", "dig"})
_FETCHES: Final = frozenset({"wget", "curl"})
_CONNECTS: Final = frozenset({"nc", "ncat", "telnet"})
_BY_OPTION: Final = frozenset({"pg_isready", "psql", "mysqladmin", "mysql", "redis-cli", "mongosh"})

Get = Callable[[str, str], Mapping[str, Any] | None]
"""(namespace, name) → the Service."""


class Need(NamedTuple):
    """A Service that has to be there; `answers`: one of its pods has to be ready as well."""

    namespace: str
    name: str
    answers: bool


def needs_of(inside: Inside) -> tuple[Need, ...]:
    """Return what the script of a container waits for, as far as that is a Service of the cluster."""
    script = script_of(inside.words)
    if len(script) > SCRIPT_LENGTH_MAX:
        return ()
    text = _NAMESPACE.sub(inside.namespace, script)
    text = _VARIABLE.sub(lambda found: inside.environment.get(found[1] or found[2], "")[:NAME_LENGTH_MAX], text)
    return tuple(need for found in _WAITS.finditer(text) for need in _of_command(found[1], inside.namespace))


def _of_command(text: str, namespace: str) -> Iterator[Need]:
    try:
        words = shlex.split(re.split(r"[|&<>;]|\d>", text)[0])
    except ValueError:
        return
    if not words:
        return
    name, rest = words[0].rpartition("/")[2], words[1:]
    named = [word for word in rest if not word.startswith("-")]
    host = ""
    if name in _LOOKS_UP and named:
        host = named[0]
    elif name in _CONNECTS and len(named) > 1:
        # Before the port; what options are given comes first.
        host = named[-2]
    elif name == "getent" and len(named) > 1:
        host = named[1]
    elif name in _FETCHES:
        host = next((found for word in named if (found := _host_of(word)) and ("://" in word or word == named[-1])), "")
    elif name in _BY_OPTION:
        host = _by_option(rest)
    place = service_of_name(host, namespace)
    if place is not None:
        yield Need(*place, answers=name not in _LOOKS_UP and name != "getent")


def _host_of(word: str) -> str:
    try:
        target = read_target(word)
    except BadTarget:
        return ""
    return "" if target.is_address else target.host


def _by_option(words: Sequence[str]) -> str:
    for index, word in enumerate(words):
        if word in ("-h", "--host") and index + 1 < len(words):
            return words[index + 1]
        if word.startswith("--host="):
            return word.partition("=")[2]
        if word.startswith("-h") and len(word) > 2:
            return word[2:]
    return ""


def is_there(need: Need, get: Get, slices: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a need is met; `slices` are those of its Service."""
    service = get(need.namespace, need.name)
    if service is None:
        return False
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        return True
    if not need.answers and spec.get("clusterIP") not in ("None", "", None):
        return True
    endpoints = (one for slice_ in slices for one in slice_.get("endpoints") or ())
    return any((one.get("conditions") or {}).get("ready") is not False for one in endpoints)
