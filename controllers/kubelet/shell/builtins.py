"""What a shell does itself: its variables, options and arguments, what it reads, and how it ends.

Source: POSIX.1-2024, Shell Command Language, 2.15, and Utilities (read, getopts); the Bash Reference Manual, 4.
"""

from __future__ import annotations

import re
from typing import Final

from controllers.kubelet.shell.arithmetic import value_of
from controllers.kubelet.shell.expanding import BLANKS, split
from controllers.kubelet.shell.interpreter import Call, Program
from controllers.kubelet.shell.parameters import shown
from controllers.kubelet.shell.programs import number_of, options, wrong
from controllers.kubelet.shell.running import MISSING, VALUE_LENGTH_MAX, Exit, Leave, Return, Running, Wrote
from controllers.kubelet.shell.testing import NoCondition, holds
from controllers.kubelet.shell.tree import Unplayable

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ELEMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\[(.*)\]", re.ASCII | re.DOTALL)
_OPTIONS: Final = {
    "errexit": "e", "nounset": "u", "xtrace": "x", "noglob": "f", "allexport": "a", "verbose": "v", "noexec": "n",
    "noclobber": "C", "monitor": "m", "errtrace": "E", "functrace": "T", "hashall": "h", "notify": "b",
}  # fmt: skip
_SIGNALS: Final = {"0": "EXIT", "1": "HUP", "2": "INT", "3": "QUIT", "9": "KILL", "15": "TERM"}
_ALIKE: Final = frozenset({"extglob", "globstar", "dotglob", "lastpipe", "failglob", "nocaseglob", "nocasematch"})
"""Options of bash with which it would do other than this shell does."""


def _code(call: Call, default: int) -> int:
    word = call.arguments[0] if call.arguments else ""
    if not word:
        return default & 255
    return int(word) & 255 if re.fullmatch(r"-?\d{1,9}", word, re.ASCII) else 2


def _exit(call: Call) -> Running:
    yield from ()
    raise Exit(_code(call, call.shell.code))


def _return(call: Call) -> Running:
    yield from ()
    raise Return(_code(call, call.shell.code))


def _leave(call: Call) -> Running:
    yield from ()
    raise Leave(call.name == "continue", max(1, number_of(call.arguments[0] if call.arguments else "", 1)))


def _exec(call: Call) -> Running:
    words = list(call.arguments)
    if words[:1] == ["-a"]:
        words = words[2:]
    if not words:
        return 0
    raise Exit((yield from call.shell.invoke(words, call.stdin)))


def _eval(call: Call) -> Running:
    return (yield from call.shell.evaluate(" ".join(call.arguments), call.stdin))


def _source(call: Call) -> Running:
    if not call.arguments:
        return (yield from wrong(call, "filename argument required", 2))
    shell, name = call.shell, call.arguments[0]
    text = shell.read(name)
    if text is None:
        if not shell.lacks(name):
            shell.unknown.add(name)
        code = yield from wrong(call, f"can't open '{name}': No such file or directory")
        if shell.lenient and not shell.bash:
            # What only a shell itself does may not fail in a script (POSIX.1-2024, Shell Command Language, 2.8.1).
            raise Exit(2)
        return code
    kept = shell.arguments
    if len(call.arguments) > 1:
        shell.arguments = (*(kept[:1] or ("sh",)), *call.arguments[1:])
    shell.levels += 1
    try:
        return (yield from shell.evaluate(text, call.stdin))
    except Return as end:
        return end.code
    finally:
        shell.levels -= 1
        shell.arguments = kept if len(call.arguments) > 1 else shell.arguments


def _shift(call: Call) -> Running:
    count = number_of(call.arguments[0] if call.arguments else "", 1)
    name, *rest = call.shell.arguments or ("sh",)
    yield from ()
    if not 0 <= count <= len(rest):
        return 1
    call.shell.arguments = (name, *rest[count:])
    return 0


def _set(call: Call) -> Running:
    shell, words = call.shell, list(call.arguments)
    if not words:
        for name, text in sorted(shell.variables.items()):
            yield Wrote(1, f"{name}={shown(text)}\n")
        return 0
    while words and len(words[0]) > 1 and words[0][0] in "-+" and words[0] != "--":
        flags, on = words[0][1:], words[0][0] == "-"
        words.pop(0)
        for letter in flags:
            name = letter
            if letter == "o" and words:
                long = words.pop(0)
                name = _OPTIONS.get(long, long)
            if on:
                shell.options.add(name)
            else:
                shell.options.discard(name)
        if not words:
            return 0
    if words[:1] == ["--"]:
        words.pop(0)
    elif words[:1] == ["-"]:
        words.pop(0)
        shell.options -= {"x", "v"}
    shell.arguments = (*(shell.arguments[:1] or ("sh",)), *words)
    return 0


def _shopt(call: Call) -> Running:
    given, names = options(call)
    yield from ()
    if "s" in given and _ALIKE.intersection(names):
        raise Unplayable(f"shopt -s {' '.join(names)[:80]} is nothing that this simulated shell knows")
    return 0


def _declare(call: Call) -> Running:
    """`declare`, `typeset`, `local`, `export`, `readonly`: what a variable is, and what it holds."""
    shell, given, names = call.shell, set[str](), list[str]()
    for word in call.arguments:
        if word[:1] in ("-", "+") and len(word) > 1:
            given |= set(word[1:]) if word[0] == "-" else {"+"}
        else:
            names.append(word)
    if call.name == "local" and not shell.calls:
        return (yield from wrong(call, "can only be used in a function"))
    if given & {"n", "l", "u", "f", "F"} and call.name != "export":
        raise Unplayable(f"{call.name} -{''.join(sorted(given))} is nothing that this simulated shell knows")
    if "p" in given or (not names and call.name in ("export", "readonly")):
        found = shell.exported if call.name == "export" else shell.readonly
        for name in names or sorted(found):
            if shell.variable(name) is not None:
                yield Wrote(1, f"{_declared(call, name)}={_in_marks(shell.variable(name) or '')}\n")
        return 0
    for word in names:
        name, equals, text = word.partition("=")
        more, name = name.endswith("+"), name.removesuffix("+")
        if _NAME.fullmatch(name) is None:
            return (yield from wrong(call, f"`{word[:80]}': not a valid identifier"))
        if shell.calls and call.name in ("local", "declare", "typeset") and "g" not in given:
            shell.make_own(name)
        shell.keyed |= {name} if "A" in given else set()
        shell.numeric |= {name} if "i" in given else set()
        if given & {"a", "A"} and name not in shell.arrays:
            shell.put_all(name, [], more=True)
        if equals:
            shell.put(name, text, more=more)
        if call.name == "export" or "x" in given:
            shell.exported = shell.exported - {name} if "n" in given else shell.exported | {name}
        if call.name == "readonly" or "r" in given:
            shell.readonly.add(name)
    return 0


def _declared(call: Call, name: str) -> str:
    if call.name in ("export", "readonly") and not call.shell.bash:
        return f"{call.name} {name}"
    flags = ("r" if name in call.shell.readonly else "") + ("x" if name in call.shell.exported else "")
    return f"declare -{flags or '-'} {name}"


def _in_marks(text: str) -> str:
    return '"' + re.sub(r'([$`"\\])', r"\\\1", text) + '"'


def _unset(call: Call) -> Running:
    yield from ()
    given, names = options(call)
    for name in names:
        found = _ELEMENT.fullmatch(name)
        if "f" in given or (name in call.shell.functions and call.shell.held(name) is None):
            call.shell.functions.pop(name, None)
        elif found is not None:
            call.shell.drop(found[1], found[2])
        else:
            call.shell.drop(name)
    return 0


def _read(call: Call) -> Running:
    given, names = options(call, "adnNptu")
    shell = call.shell
    source = shell.inputs.get(number_of(given["u"], 0), call.source) if "u" in given else call.source
    if given.get("p"):
        yield Wrote(2, given["p"])
    mark = given.get("d", "\n")[:1]
    most = number_of(given.get("n") or given.get("N"), VALUE_LENGTH_MAX)
    call.shell.rounds += 1
    line, ended = yield from source.upto(mark, most)
    while "r" not in given and line.endswith("\\") and ended and (len(line) - len(line.rstrip("\\"))) % 2:
        more, ended = yield from source.upto(mark, most)
        line = line[:-1] + more
    if "r" not in given:
        line = re.sub(r"\\(.)", r"\1", line, flags=re.DOTALL)
    separators = shell.held("IFS")
    separators = BLANKS if separators is None else separators
    if "a" in given:
        shell.put_all(given["a"], [(None, piece) for piece in split(line, separators)[0]])
    elif not names:
        shell.put("REPLY", line)
    else:
        for name, text in zip(names, _shared(line, separators, len(names)), strict=True):
            shell.put(name, text)
    return 0 if line or ended else 1


def _shared(line: str, separators: str, count: int) -> list[str]:
    """Return a line's fields for so many names: the last one gets all that is left, as it stands."""
    found: list[str] = []
    blanks = "".join(letter for letter in separators if letter in BLANKS)
    rest = line.strip(blanks) if blanks else line
    while len(found) < count - 1:
        end = next((at for at, letter in enumerate(rest) if letter in separators), len(rest))
        found.append(rest[:end])
        begun = rest[end:].lstrip(blanks) if blanks else rest[end:]
        begun = begun[1:] if begun[:1] and begun[0] in separators and begun[0] not in blanks else begun
        rest = begun.lstrip(blanks) if blanks else begun
    last = rest
    others = separators.strip(BLANKS)
    if last and last[-1] in others and not any(letter in separators for letter in last[:-1]):
        last = last[:-1]
    return [*found, last]


def _mapfile(call: Call) -> Running:
    given, names = options(call, "dnOsu")
    if given.keys() - {"t", "d", "n", "s", "u"}:
        raise Unplayable(f"{call.name} with such options is nothing that this simulated shell knows")
    source = call.shell.inputs.get(number_of(given["u"], 0), call.source) if "u" in given else call.source
    mark = given.get("d", "\n")[:1] or "\0"
    lines = (yield from source.taken()).split(mark)
    if lines[-1] == "":
        lines.pop()
    lines = lines[number_of(given.get("s"), 0) :]
    lines = lines[: number_of(given["n"], 0)] if "n" in given else lines
    end = "" if "t" in given else mark
    call.shell.spend(len(lines) >> 4)
    call.shell.put_all(names[0] if names else "MAPFILE", [(None, line + end) for line in lines])
    return 0


def _trap(call: Call) -> Running:
    words = [word for word in call.arguments if word not in ("--", "-p")]
    traps = call.shell.traps
    if not words:
        for name, text in traps.items():
            yield Wrote(1, f"trap -- {shown(text)} {name}\n")
        return 0
    action, names = (words[0], words[1:]) if len(words) > 1 else ("-", words)
    for name in names:
        signal = _SIGNALS.get(name, name.upper().removeprefix("SIG"))
        if action == "-":
            traps.pop(signal, None)
        elif signal in ("ERR", "DEBUG", "RETURN"):
            raise Unplayable(f"trap … {signal} is nothing that this simulated shell knows")
        else:
            traps[signal] = action
    return 0


def _let(call: Call) -> Running:
    yield from ()
    value = 0
    for word in call.arguments:
        value = value_of(word, call.shell)
    return 0 if value else 1


def _test(call: Call) -> Running:
    words = list(call.arguments)
    if call.name == "[":
        if not words or words[-1] != "]":
            return (yield from wrong(call, "missing ]", 2))
        words.pop()
    try:
        return 0 if holds(call.shell, words) else 1
    except NoCondition as problem:
        return (yield from wrong(call, str(problem), 2))


def _command(call: Call) -> Running:
    words = list(call.arguments)
    asks = ""
    while words and words[0] in ("-v", "-V", "-p", "--"):
        asks = words[0] if words[0] in ("-v", "-V") else asks
        words.pop(0)
    if not asks:
        return (yield from call.shell.invoke(words, call.stdin)) if words else 0
    code = 0
    for word in words:
        what, where = _what(call, word)
        if not what:
            code = MISSING if not call.shell.bash else 1
        else:
            yield Wrote(1, f"{where}\n" if asks == "-v" else f"{word} is {what or where}\n")
    return code


def _type(call: Call) -> Running:
    code = 0
    for word in call.arguments:
        if word.startswith("-"):
            continue
        what, _ = _what(call, word)
        if what:
            yield Wrote(1, f"{word} is {what}\n")
        else:
            yield Wrote(2, f"sh: type: {word}: not found\n")
            code = MISSING if not call.shell.bash else 1
    return code


def _what(call: Call, name: str) -> tuple[str, str]:
    """Return (what a name is as a command, what `command -v` says of it); nothing where it is none."""
    if name in call.shell.functions:
        return "a function", name
    base = name.rpartition("/")[2]
    if name in (*BUILTINS, "echo", "printf", "pwd") and call.shell.knows(name):
        return "a shell builtin", name
    if call.shell.knows(base) and name in (base, f"/bin/{base}", f"/usr/bin/{base}"):
        path = name if "/" in name else f"/bin/{name}"
        return path, path
    if call.shell.lenient and base and not call.shell.knows(base):
        # Whether the image has it is not known.
        call.shell.unknown.add(base)
    return "", ""


def _getopts(call: Call) -> Running:
    yield from ()
    if len(call.arguments) < 2:
        return 2
    shell, (wanted, name, *given) = call.shell, call.arguments
    words = given or list(shell.arguments[1:])
    at, within = number_of(shell.held("OPTIND"), 1), number_of(shell.held("_OPTAT"), 1)
    word = words[at - 1] if 0 < at <= len(words) else ""
    if len(word) < 2 or word[0] != "-" or word == "--":
        shell.put("OPTIND", str(at + (word == "--")))
        shell.put(name, "?")
        return 1
    letter, rest = word[within : within + 1], word[within + 1 :]
    place = wanted.find(letter) if letter != ":" else -1
    at, within = (at, within + 1) if rest else (at + 1, 1)
    shell.drop("OPTARG")
    if place >= 0 and wanted[place + 1 : place + 2] == ":":
        argument = rest if rest else (words[at - 1] if at <= len(words) else None)
        at, within = at + (0 if rest == "" and argument is None else 1), 1
        if argument is None:
            letter = ":" if wanted.startswith(":") else "?"
        else:
            shell.put("OPTARG", argument)
    elif place < 0:
        if wanted.startswith(":"):
            shell.put("OPTARG", letter)
        else:
            yield Wrote(2, f"sh: illegal option -{letter}\n")
        letter = "?"
    shell.put("OPTIND", str(at))
    shell.put("_OPTAT", str(within))
    shell.put(name, letter)
    return 0


def _cd(call: Call) -> Running:
    shell = call.shell
    words = [word for word in call.arguments if word not in ("--", "-P", "-L")]
    name = words[0] if words else shell.variables.get("HOME", "/")
    if name == "-":
        name = shell.variables.get("OLDPWD", shell.folder)
        yield Wrote(1, f"{name}\n")
    if not shell.is_folder(name):
        if not shell.lacks(name) and shell.lenient and not shell.inside.is_volume(shell.path(name) + "/"):
            # The image may well have it.
            shell.unknown.add(name)
            shell.folder = shell.path(name)
            return 0
        yield Wrote(2, f"sh: cd: can't cd to {name}: No such file or directory\n")
        return 1
    shell.put("OLDPWD", shell.folder)
    shell.folder = shell.path(name)
    return 0


def _builtin(call: Call) -> Running:
    return (yield from call.shell.invoke(call.arguments, call.stdin)) if call.arguments else 0


def _well(call: Call) -> Running:
    yield from ()
    return 0


def _of_bash(program: Program) -> Program:
    def run(call: Call) -> Running:
        if not call.shell.bash:
            yield Wrote(2, f"sh: {call.name}: not found\n")
            return MISSING
        return (yield from program(call))

    return run


def _fails(call: Call) -> Running:
    yield from ()
    return 1


BUILTINS: Final[dict[str, Program]] = {
    "exit": _exit, "return": _return, "break": _leave, "continue": _leave, "exec": _exec, "eval": _eval,
    ".": _source, "source": _source, "shift": _shift, "set": _set, "export": _declare, "local": _declare,
    "readonly": _declare, "unset": _unset, "read": _read, "trap": _trap, "let": _let, "test": _test, "[": _test,
    "command": _command, "type": _type, "getopts": _getopts, "cd": _cd, ":": _well, "true": _well, "false": _fails,
    "wait": _well, "umask": _well, "ulimit": _well, "hash": _well, "alias": _well, "jobs": _well,
    **{name: _of_bash(_declare) for name in ("declare", "typeset")},
    **{name: _of_bash(_mapfile) for name in ("mapfile", "readarray")},
    "shopt": _of_bash(_shopt), "builtin": _of_bash(_builtin),
}  # fmt: skip
