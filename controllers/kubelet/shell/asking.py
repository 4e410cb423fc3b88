"""Programs that send requests: `wget`, `curl` and `nc`, with the options that people give them.

What comes of a request is asked of whoever runs the shell (`Shell.send`): it goes by name, Service and NetworkPolicies
to a pod, as those of clients do. Source: busybox 1.36 (networking/wget.c, nc.c) and curl 8 for words and exit codes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from controllers.kinds.clustersim.target import BadTarget, Target, read_target
from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.programs import SIMULATED, options, wrong
from controllers.kubelet.shell.running import FOREVER_MS, PLAIN, Asked, Asks, Came, Happening, Running, Waits, Wrote

GIVES_UP_MS: Final = 131_000
"""How long a connection is tried that nobody answers (`net.ipv4.tcp_syn_retries` 6)."""

WGET_MS: Final = 900_000
"""How long `wget` waits for an answer where it is not told (`-T`)."""

UNTRUSTED: Final = "SSL certificate problem: unable to get local issuer certificate"
"""What `curl` says of each certificate in a cluster, where it is not told whom to trust (`--cacert`) or not to look."""

LONGEST_S: Final = 86_400

_REASONS: Final[Mapping[int, str]] = {one.value: one.phrase for one in HTTPStatus}

_WGET: Final = {
    "quiet": "q", "output-document": "O", "timeout": "T", "spider": "s", "server-response": "S", "header": "h",
    "post-data": "d", "user-agent": "U",
}  # fmt: skip
_CURL: Final = {
    "silent": "s", "show-error": "S", "fail": "f", "head": "I", "include": "i", "output": "o", "write-out": "w",
    "max-time": "m", "connect-timeout": "c", "verbose": "v", "location": "L", "insecure": "k", "request": "X",
    "header": "H", "data": "d", "data-raw": "d", "data-binary": "d", "data-ascii": "d", "user-agent": "A", "user": "u",
    "url": "@", "retry": "r", "fail-with-body": "f", "cacert": "E", "capath": "E", "cert": "E", "key": "E",
    "resolve": "r", "retry-delay": "r", "retry-max-time": "r",
}  # fmt: skip
_CURL_VALUED: Final = "owmcXHdAu@rTEe"


def _wget(call: Call) -> Running:
    given, names, every = _options(call, "OTUhd", _WGET)
    if call.shell.send is None:
        return (yield from wrong(call, SIMULATED))
    if not names:
        return (yield from wrong(call, "missing URL"))
    asked = Asked("POST" if "d" in given else "GET", _headers(every["h"]), given.get("d", ""))
    target, came = yield from _asked(call, names[0], asked)
    if target is None or came is None:
        return (yield from wrong(call, f"bad address '{names[0]}'"))
    quiet, seconds = "q" in given, _seconds(given.get("T"))
    if came.address and not quiet:
        yield Wrote(2, f"Connecting to {target.host}:{target.port} ({came.address}:{target.port})\n")
    match came.result:
        case "unresolved":
            return (yield from wrong(call, f"bad address '{target.host}'"))
        case "outside":
            return (yield from wrong(call, f"'{target.host}' lies outside of the cluster, which is not simulated"))
        case "refused":
            return (yield from wrong(call, f"can't connect to remote host ({came.address}): Connection refused"))
        case "timeout":
            return (yield from _late(call, came, seconds))
        case _ if came.code >= 400:
            text = f"server returned error: HTTP/1.1 {came.code} {_REASONS.get(came.code, '')}"
            return (yield from wrong(call, text))
        case _:
            return (yield from _fetched(call, given, target, came))


def _fetched(call: Call, given: Mapping[str, str], target: Target, came: Came) -> Running:
    quiet = "q" in given
    if "S" in given:
        yield Wrote(2, "".join(f"  {line}\n" for line in _head(came)) + "  \n")
    if "s" in given:
        if not quiet:
            yield Wrote(2, "remote file exists\n")
        return 0
    name = given.get("O") or target.path.split("?")[0].rpartition("/")[2] or "index.html"
    if name == "-":
        if not quiet:
            yield Wrote(2, "writing to stdout\n")
        yield Wrote(1, came.body)
        if not quiet:
            yield Wrote(2, "written to stdout\n")
        return 0
    return (yield from _saved(call, name, came.body, quiet=quiet))


def _saved(call: Call, name: str, text: str, *, quiet: bool) -> Running:
    if not quiet:
        yield Wrote(2, f"saving to '{name}'\n")
    problem = call.shell.write(name, text, more=False)
    if problem:
        return (yield from wrong(call, f"can't open '{name}': Read-only file system"))
    if not quiet:
        yield Wrote(2, f"'{name}' saved\n")
    return 0


def _late(call: Call, came: Came, seconds: float | None) -> Running:
    """Wait for what does not come."""
    connects = came.reason == "Hangs"
    own_ms = WGET_MS if connects else GIVES_UP_MS
    if seconds is not None and 1000 * seconds < own_ms:
        yield Waits(round(1000 * seconds))
        return (yield from wrong(call, "download timed out"))
    yield Waits(own_ms)
    if connects:
        return (yield from wrong(call, "download timed out"))
    return (yield from wrong(call, f"can't connect to remote host ({came.address}): Connection timed out"))


def _curl(call: Call) -> Running:
    given, names, every = _options(call, _CURL_VALUED, _CURL)
    if call.shell.send is None:
        return (yield from wrong(call, SIMULATED))
    url = given.get("@") or (names[0] if names else "")
    loud = "s" not in given or "S" in given
    if not url:
        yield Wrote(2, "curl: (2) no URL specified\n")
        return 2
    sent = [_text_of(call, one) for one in every["d"]]
    method = given.get("X") or ("HEAD" if "I" in given else "POST" if "d" in given else "GET")
    target, came = yield from _asked(call, url, Asked(method.upper(), _headers(every["H"]), "&".join(sent)))
    if target is None or came is None:
        return (yield from _failed(3, "URL rejected: Malformed input to a URL function", loud))
    if "v" in given and came.address:
        yield Wrote(2, f"*   Trying {came.address}:{target.port}...\n")
    where = f"{target.host} port {target.port}"
    match came.result:
        case "unresolved":
            code = yield from _failed(6, f"Could not resolve host: {target.host}", loud)
        case "outside":
            code = yield from _failed(7, f"{target.host} lies outside of the cluster, which is not simulated", loud)
        case "refused":
            code = yield from _failed(7, f"Failed to connect to {where} after 0 ms: Could not connect to server", loud)
        case "timeout":
            code = yield from _given_up(given, came, where, loud)
        case _ if url.startswith("https:") and not given.keys() & {"k", "E"}:
            code = yield from _failed(60, UNTRUSTED, loud)
        case _:
            code = yield from _shown(call, {**given, "X": method}, target, came, loud)
    if "w" in given:
        yield Wrote(1, _filled(given["w"], came, target))
    return code


def _given_up(given: Mapping[str, str], came: Came, where: str, loud: bool) -> Running:
    connects = came.reason == "Hangs"
    limits = [_seconds(given.get(letter)) for letter in ("m" if connects else "mc")]
    told = [1000 * one for one in limits if one is not None]
    own_ms = FOREVER_MS if connects else GIVES_UP_MS
    wait_ms = round(min([own_ms, *told]))
    yield Waits(wait_ms)
    if connects:
        text = f"Operation timed out after {wait_ms} milliseconds with 0 bytes received"
    elif told:
        text = f"Connection timed out after {wait_ms} milliseconds"
    else:
        text = f"Failed to connect to {where} after {wait_ms} ms: Could not connect to server"
    return (yield from _failed(28, text, loud))


def _shown(call: Call, given: Mapping[str, str], target: Target, came: Came, loud: bool) -> Running:
    if "v" in given:
        yield Wrote(2, f"* Connected to {target.host} ({came.address}) port {target.port}\n")
        yield Wrote(2, f"> {given['X']} {target.path} HTTP/1.1\n> Host: {target.host}\n> User-Agent: curl/8.10.1\n> \n")
        yield Wrote(2, "".join(f"< {line}\n" for line in _head(came)) + "< \n")
    if "f" in given and came.code >= 400:
        return (yield from _failed(22, f"The requested URL returned error: {came.code}", loud))
    head = "".join(f"{line}\n" for line in _head(came)) + "\n" if given.keys() & {"i", "I"} else ""
    text = head + ("" if "I" in given else came.body)
    name = given.get("o", "-")
    if name == "-":
        yield Wrote(1, text)
    elif call.shell.write(name, text, more=False):
        return (yield from _failed(23, "Failure writing output to destination", loud))
    return 0


def _failed(code: int, text: str, loud: bool) -> Running:
    if loud:
        yield Wrote(2, f"curl: ({code}) {text}\n")
    return code


def _nc(call: Call) -> Running:
    given, names = options(call, "wps")
    if call.shell.send is None or "l" in given or "u" in given:
        return (yield from wrong(call, SIMULATED))
    if len(names) < 2 or not names[1].isdecimal():
        return (yield from wrong(call, "usage: nc -z [-v] [-w SEC] HOST PORT"))
    target, came = yield from _asked(call, f"tcp://{names[0]}:{names[1]}")
    if target is None or came is None or came.result == "unresolved":
        return (yield from wrong(call, f"bad address '{names[0]}'"))
    where = f"{target.host} ({came.address}:{target.port})"
    if came.result == "timeout" and came.reason != "Hangs":
        yield Waits(min(GIVES_UP_MS, round(1000 * (_seconds(given.get("w")) or LONGEST_S))))
        return (yield from wrong(call, f"{where}: Connection timed out"))
    if came.result in ("refused", "outside"):
        return (yield from wrong(call, f"{where}: Connection refused"))
    if "v" in given:
        yield Wrote(2, f"{where} open\n")
    return 0


def _text_of(call: Call, told: str) -> str:
    """Return what `-d` sends: a text, or that of the file that it names."""
    return call.shell.read(told[1:]) or "" if told.startswith("@") else told


def _headers(told: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return what `-H` says."""
    pairs = (one.partition(":")[::2] for one in told)
    return tuple((name.strip().lower(), value.strip()) for name, value in pairs if name.strip())


def _getent(call: Call) -> Running:
    words = [word for word in call.arguments if not word.startswith("-")]
    if len(words) < 2 or words[0] not in ("hosts", "ahosts", "ahostsv4"):
        return (yield from wrong(call, SIMULATED))
    code = 0
    for name in words[1:]:
        found = _in_file(call, name)
        if found is None and call.shell.send is None:
            return (yield from wrong(call, SIMULATED))
        meant = None
        if found is None and call.shell.send is not None:
            yield Asks(name.lower(), call.shell)
            meant = call.shell.send.look_up(name.lower())
        if meant is not None:
            found = "".join(f"{address:<15} {meant.whole}\n" for address in meant.addresses)
        code = code if found else 2
        yield Wrote(1, found or "")
    return code


def _in_file(call: Call, name: str) -> str | None:
    """Return what the file of hosts says of a name or an address; None where it says nothing."""
    for line in (call.shell.read("/etc/hosts") or "").splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        if name == address or name in names:
            return f"{address:<15} {' '.join(names)}\n"
    return None


def _ping(call: Call) -> Running:
    """`ping -c N HOST`: whoever would refuse or take a connection answers; how long that takes is not simulated."""
    given, names = options(call, "cWwis")
    if call.shell.send is None or not names or not given.get("c", "").isdecimal() or len(given["c"]) > 4:
        return (yield from wrong(call, SIMULATED))
    host, count = names[0], int(given["c"])
    target, came = yield from _asked(call, f"tcp://{host}:7")
    if target is None or came is None or came.result in ("unresolved", "outside"):
        return (yield from wrong(call, f"bad address '{host}'"))
    yield Wrote(1, f"PING {host} ({came.address}): 56 data bytes\n")
    answers = came.result not in ("timeout",)
    for number in range(count):
        if answers:
            yield Wrote(1, f"64 bytes from {came.address}: seq={number}\n")
        yield from call.shell.waits(1000 if number + 1 < count or not answers else 0)
    lost = 0 if answers else 100
    yield Wrote(1, f"\n--- {host} ping statistics ---\n{count} packets transmitted, ")
    yield Wrote(1, f"{count if answers else 0} packets received, {lost}% packet loss\n")
    return 0 if answers else 1


def _asked(call: Call, url: str, asked: Asked = PLAIN) -> Generator[Happening, None, tuple[Target | None, Came | None]]:
    """Return (where to, what came of it); nothing where it cannot be read."""
    send = call.shell.send
    assert send is not None, "who has no network says so first"
    try:
        target = read_target(url)
    except BadTarget:
        return None, None
    yield Asks(target.host, call.shell)
    return target, send(target, asked)


def _head(came: Came) -> list[str]:
    return [
        f"HTTP/1.1 {came.code} {_REASONS.get(came.code, '')}".rstrip(),
        *(f"{name}: {value}" for name, value in came.headers),
    ]


def _filled(text: str, came: Came, target: Target) -> str:
    values = {
        "http_code": f"{came.code:03}", "response_code": f"{came.code:03}", "remote_ip": came.address,
        "remote_port": str(target.port if came.address else 0), "size_download": str(len(came.body.encode())),
    }  # fmt: skip
    for name, value in values.items():
        text = text.replace("%{" + name + "}", value)
    return text.replace("\\n", "\n").replace("\\t", "\t")


def _seconds(text: str | None) -> float | None:
    """Return a limit; None where none is set, or none that can be read."""
    try:
        return min(float(LONGEST_S), float(text)) if text and float(text) > 0 else None
    except ValueError:
        return None


def _options(
    call: Call, valued: str, long: Mapping[str, str]
) -> tuple[dict[str, str], list[str], defaultdict[str, list[str]]]:
    """Return options by their letter, also those that are written as words, the other arguments, and all values of a
    letter that came more than once.
    """
    words: list[str] = []
    for word in call.arguments:
        name, told, value = word[2:].partition("=")
        if word.startswith("--") and name in long:
            words += [f"-{long[name]}", *([value] if told else ())]
        else:
            words.append(word)
    every: defaultdict[str, list[str]] = defaultdict(list)
    found, rest = options(replace(call, words=[call.name, *words]), valued, every)
    return found, rest, every


ASKING: Final[dict[str, Program]] = {"wget": _wget, "curl": _curl, "nc": _nc, "getent": _getent, "ping": _ping}
