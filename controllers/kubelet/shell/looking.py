"""Programs that look at the container: its files, names, time and neighbours. What would need a process says so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from controllers.kinds.core.service_addresses import DNS_ADDRESS
from controllers.kubelet.shell.archives import tar
from controllers.kubelet.shell.asking import ASKING
from controllers.kubelet.shell.awk import awk
from controllers.kubelet.shell.builtins import BUILTINS
from controllers.kubelet.shell.cgroups import PROCESSORS, ROOT
from controllers.kubelet.shell.changing import CHANGING
from controllers.kubelet.shell.columns import COLUMNS
from controllers.kubelet.shell.counting import COUNTING
from controllers.kubelet.shell.hosting import HOSTING
from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.paths import PATHS
from controllers.kubelet.shell.patterns import fits
from controllers.kubelet.shell.printing import PRINTING
from controllers.kubelet.shell.programs import SIMULATED, TEXT, options, wrong
from controllers.kubelet.shell.running import Asks, Running, Wrote
from controllers.kubelet.shell.searching import SEARCHING
from controllers.kubelet.shell.sed import sed
from controllers.kubelet.shell.texts import TEXTS

_MOUNTS: Final = (
    ("overlay", "/", "rw"),
    ("proc", "/proc", "rw,nosuid,nodev,noexec"),
    ("cgroup2", ROOT, "ro,nosuid,nodev,noexec"),
)
"""What kind of file system a container has where, and how."""

_STRFTIME: Final = frozenset("YmdHMSsjyaAbBeDFTRzZpIuUnt%N")


def _hostname(call: Call) -> Running:
    given, _ = options(call)
    inside = call.inside
    if given.keys() & {"i", "I"}:
        text = inside.address
    elif "f" in given or "d" in given:
        # The first name that the file of hosts has for the own address is the whole one.
        whole = next((line.split()[1] for line in _own_lines(call)), inside.hostname)
        text = whole if "f" in given else whole.partition(".")[2]
    else:
        text = inside.hostname.partition(".")[0] if "s" in given else inside.hostname
    yield Wrote(1, text + "\n")
    return 0


def _own_lines(call: Call) -> list[str]:
    lines = (call.shell.read("/etc/hosts") or "").splitlines()
    return [line for line in lines if line.split()[:1] == [call.inside.address] and len(line.split()) > 1]


def _ip(call: Call) -> Running:
    """`ip addr`: addresses alone; links and routes have no counterpart here."""
    words = [word for word in call.arguments if not word.startswith("-")]
    if not words or not any(one.startswith(words[0]) for one in ("address",)) or not call.inside.address:
        return (yield from wrong(call, SIMULATED))
    for number, (name, address, scope) in enumerate(_addresses(call), 1):
        if "lo" in words[1:] and name != "lo":
            continue
        if "eth0" in words[1:] and name != "eth0":
            continue
        family = "inet6" if ":" in address else "inet"
        flags = "LOOPBACK,UP,LOWER_UP" if name == "lo" else "BROADCAST,MULTICAST,UP,LOWER_UP"
        yield Wrote(1, f"{number}: {name}: <{flags}>\n    {family} {address} scope {scope} {name}\n")
    return 0


def _addresses(call: Call) -> tuple[tuple[str, str, str], ...]:
    inside = call.inside
    node = inside.facts.get("nodes", "", inside.node) or {}
    ranges = (node.get("spec") or {}).get("podCIDR") or ""
    length = ranges.partition("/")[2] or ("128" if ":" in inside.address else "32")
    return (("lo", "127.0.0.1/8", "host"), ("eth0", f"{inside.address}/{length}", "global"))


def _ifconfig(call: Call) -> Running:
    if not call.inside.address or ":" in call.inside.address:
        return (yield from wrong(call, SIMULATED))
    wanted = [word for word in call.arguments if not word.startswith("-")]
    for name, address, _ in reversed(_addresses(call)):
        if wanted and name not in wanted:
            continue
        own, _, length = address.partition("/")
        bits = (0xFFFFFFFF << (32 - int(length))) & 0xFFFFFFFF
        mask = ".".join(str(bits >> shift & 255) for shift in (24, 16, 8, 0))
        kind = "Local Loopback" if name == "lo" else "Ethernet"
        up = "UP LOOPBACK RUNNING" if name == "lo" else "UP BROADCAST RUNNING MULTICAST"
        yield Wrote(1, f"{name:<9} Link encap:{kind}\n          inet addr:{own}  Mask:{mask}\n          {up}\n\n")
    return 0


def _arch(call: Call) -> Running:
    yield Wrote(1, "x86_64\n")
    return 0


def _env(call: Call) -> Running:
    words = list(call.arguments)
    sets: dict[str, str] = {}
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        sets[name] = value
    if words:
        shell, kept = call.shell, dict(call.shell.variables)
        exported = set(shell.exported)
        shell.variables.update(sets)
        shell.exported |= sets.keys()
        try:
            return (yield from shell.invoke(words, call.stdin))
        finally:
            shell.variables, shell.exported = kept, exported
    for name, value in {**call.shell.environment(), **sets}.items():
        yield Wrote(1, f"{name}={value}\n")
    return 0


def _printenv(call: Call) -> Running:
    if not call.arguments:
        return (yield from _env(call))
    code = 0
    for name in call.arguments:
        if name in call.shell.exported and name in call.shell.variables:
            yield Wrote(1, call.shell.variables[name] + "\n")
        else:
            code = 1
    return code


def _date(call: Call) -> Running:
    now = datetime.fromtimestamp(call.shell.now_ms / 1000, UTC)
    pattern = next((word[1:] for word in call.arguments if word.startswith("+")), None)
    if pattern is None:
        iso = any(word.startswith(("-I", "--iso")) for word in call.arguments)
        plain = f"{now:%a %b} {now.day:2} {now:%H:%M:%S UTC %Y}\n"
        yield Wrote(1, f"{now:%Y-%m-%dT%H:%M:%S+00:00}\n" if iso else plain)
        return 0
    parts: list[str] = []
    letters = iter(pattern)
    for letter in letters:
        code = next(letters, "") if letter == "%" else ""
        if not code:
            parts.append(letter)
        elif code in "nt%":
            parts.append({"n": "\n", "t": "\t", "%": "%"}[code])
        elif code == "s":
            parts.append(str(call.shell.now_ms // 1000))
        elif code == "N":
            parts.append(f"{call.shell.now_ms % 1000:03}000000")
        elif code == "e":
            parts.append(f"{now.day:2}")
        else:
            parts.append(now.strftime(f"%{code}") if code in _STRFTIME else f"%{code}")
    yield Wrote(1, "".join(parts) + "\n")
    return 0


def _ls(call: Call) -> Running:
    given, names = options(call)
    code = 0
    for name in names or ["."]:
        path = call.shell.path(name)
        if call.shell.read(name) is not None:
            found = [name]
        elif call.shell.is_folder(name):
            found = _listed(call, path)
        else:
            call.shell.misses(name)
            code = yield from wrong(call, f"{name}: No such file or directory")
            continue
        if len(names) > 1 and found != [name]:
            yield Wrote(1, f"{name}:\n")
        for one in found:
            if one.startswith(".") and not given.keys() & {"a", "A"} and one != name:
                continue
            if "l" in given:
                stamp = datetime.fromtimestamp(call.shell.now_ms / 1000, UTC)
                when = f"{stamp:%b} {stamp.day:>2} {stamp:%H:%M}"
                place = path if one == name else f"{path.rstrip('/')}/{one}"
                yield Wrote(1, f"{_described(call, place)} {when} {one}\n")
            else:
                yield Wrote(1, one + "\n")
    return code


def _described(call: Call, path: str) -> str:
    """Return mode, links, owner, group and size of a path, as `ls -l` has them."""
    text, inside = call.shell.read(path), call.inside
    volume = next((one for one in inside.writable if path == one or path.startswith(one.rstrip("/") + "/")), None)
    group = inside.volume_group if volume is not None else None
    user = inside.user.uid if path in call.shell.written else 0
    if group is None:
        group = inside.user.gid if path in call.shell.written else 0
    if text is not None:
        mode = "-rw-r--r--"
    elif path == volume:
        mode = "drwxrwxrwx" if inside.volume_group is None else "drwxrwsrwx"
    else:
        mode = "drwxr-xr-x"
    size = 4096 if text is None else len(text.encode())
    return f"{mode}    1 {_owner(user):<8} {_owner(group):<8} {size:>9}"


def _owner(number: int) -> str:
    return str(number) if number else "root"


def _listed(call: Call, path: str) -> list[str]:
    top = path.rstrip("/") + "/"
    everything = (*call.shell.files(), *call.inside.folders)
    return sorted({one[len(top) :].partition("/")[0] for one in everything if one.startswith(top) and one != top})


def _find(call: Call) -> Running:
    """Say what lies below folders: by `-name` and `-type`, with `-o` between alternatives."""
    words = list(call.arguments)
    tops: list[str] = []
    while words and not words[0].startswith("-"):
        tops.append(words.pop(0))
    wanted: list[list[tuple[str, str]]] = [[]]
    while words:
        word = words.pop(0)
        if word in ("-o", "-or"):
            wanted.append([])
        elif word in ("-name", "-type") and words:
            wanted[-1].append((word, words.pop(0)))
        elif word not in ("-a", "-print"):
            return (yield from wrong(call, f"unrecognized: {word}"))
    code = 0
    for top in tops or ["."]:
        if call.shell.read(top) is None and not call.shell.is_folder(top):
            call.shell.misses(top)
            code = yield from wrong(call, f"{top}: No such file or directory")
            continue
        if call.shell.lenient and not call.inside.is_volume(call.shell.path(top) + "/"):
            # What else the image has there is not known.
            call.shell.unknown.add(call.name)
        for path in (top, *_below(call, top)):
            tests = {"-name": path.rstrip("/").rpartition("/")[2], "-type": "d" if call.shell.is_folder(path) else "f"}
            if any(all(fits(text, tests[how]) for how, text in every) for every in wanted):
                yield Wrote(1, path + "\n")
    return code


def _below(call: Call, top: str) -> Iterator[str]:
    for name in _listed(call, call.shell.path(top)) if call.shell.is_folder(top) else ():
        path = f"{top.rstrip('/')}/{name}"
        yield path
        yield from _below(call, path)


def _mount(call: Call) -> Running:
    given, names = options(call, "to")
    if names and call.shell.lenient:
        call.shell.unknown.add(call.name)
        return 0
    if names:
        return (yield from wrong(call, "permission denied (are you root?)"))
    for what, where, how in _MOUNTS:
        if given.get("t", what) == what:
            yield Wrote(1, f"{what.removesuffix('2')} on {where} type {what} ({how},relatime)\n")
    return 0


def _pwd(call: Call) -> Running:
    yield Wrote(1, call.shell.folder + "\n")
    return 0


def _whoami(call: Call) -> Running:
    uid = call.inside.user.uid
    if uid:
        return (yield from wrong(call, f"unknown uid {uid}"))
    yield Wrote(1, "root\n")
    return 0


def _id(call: Call) -> Running:
    user = call.inside.user
    given = options(call)[0]
    if given.keys() & {"u", "g"}:
        number = user.uid if "u" in given else user.gid
        yield Wrote(1, f"{('root' if number == 0 else number) if 'n' in given else number}\n")
    else:
        groups = ",".join(map(_named, (user.gid, *(one for one in user.groups if one != user.gid))))
        yield Wrote(1, f"uid={_named(user.uid)} gid={_named(user.gid)} groups={groups}\n")
    return 0


def _named(number: int) -> str:
    return str(number) if number else "0(root)"


def _uname(call: Call) -> Running:
    given, _ = options(call)
    values = {"s": "Linux", "n": call.inside.hostname, "r": "6.12.0-hollow", "v": "#1 SMP", "m": "x86_64"}
    wanted = "snrvm" if "a" in given else [letter for letter in "snrvm" if letter in given] or "s"
    yield Wrote(1, " ".join(values[letter] for letter in wanted) + "\n")
    return 0


def _ps(call: Call) -> Running:
    lines = [
        f"{pid:>5} {_owner(user):<8}  0:00 {words}\n" for pid, (user, words) in enumerate(call.inside.processes, 1)
    ]
    yield Wrote(1, "PID   USER     TIME  COMMAND\n" + "".join(lines))
    return 0


def _nproc(call: Call) -> Running:
    yield Wrote(1, f"{PROCESSORS}\n")
    return 0


def _nslookup(call: Call) -> Running:
    _, names = options(call)
    if not names:
        return (yield from wrong(call, "usage: nslookup HOST"))
    if call.shell.send is None:
        return (yield from wrong(call, SIMULATED))
    dns = ((call.inside.facts.get("services", "kube-system", "kube-dns") or {}).get("spec") or {}).get("clusterIP")
    server = dns or DNS_ADDRESS
    yield Wrote(1, f"Server:\t\t{server}\nAddress:\t{server}:53\n\n")
    host = names[0].lower()
    yield Asks(host, call.shell)
    meant = call.shell.send.look_up(host)
    if meant is None:
        yield Wrote(1, f"** server can't find {names[0]}: NXDOMAIN\n\n")
        return 1
    alias = f"{meant.whole}\tcanonical name = {meant.alias}\n" if meant.alias else ""
    found = "".join(f"Name:\t{meant.whole}\nAddress: {address}\n" for address in meant.addresses)
    yield Wrote(1, f"{alias}{found}\n")
    return 0


def _no_process(call: Call) -> Running:
    return (yield from wrong(call, SIMULATED))


def _help(call: Call) -> Running:
    known = " ".join(sorted(name for name in PROGRAMS if name.isalpha()))
    yield Wrote(1, f"clustersim: {SIMULATED}. What is known here:\n{known}\n")
    return 0


REFUSED: Final = ("apk", "apt", "apt-get", "df", "free", "kill", "pgrep", "pkill", "top", "uptime", "vi")
"""Programs that would need a process or the world outside, and say so."""

PROGRAMS: Final[dict[str, Program]] = {
    **TEXT,
    **BUILTINS,
    **PRINTING,
    **TEXTS,
    **COLUMNS,
    **SEARCHING,
    **PATHS,
    **COUNTING,
    **CHANGING,
    **ASKING,
    **HOSTING,
    "hostname": _hostname, "env": _env, "printenv": _printenv, "date": _date, "ls": _ls, "pwd": _pwd,
    "whoami": _whoami, "id": _id, "uname": _uname, "ps": _ps, "nproc": _nproc, "nslookup": _nslookup, "help": _help,
    "tar": tar, "find": _find, "mount": _mount, "sed": sed,
    "awk": awk, "gawk": awk, "mawk": awk, "ip": _ip, "ifconfig": _ifconfig, "arch": _arch,
    **dict.fromkeys(REFUSED, _no_process),
}  # fmt: skip
