"""Probes: when the next one comes, what it finds, and what follows from how many found the same.

A probe is looked at only while its finding would change something, so that pods that are well cost nothing. What a
command finds follows from the container's files, of which it is known when they change; a stage may say what it is.
Source: pkg/kubelet/prober (worker.go, prober.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.kubelet import says
from controllers.kubelet.containers import Container
from controllers.kubelet.home import Act, Steps, Write
from controllers.kubelet.life import Life

Kill = Callable[[Life, Container, says.Say, str], Steps]


@dataclass(slots=True)
class Findings:
    """How often in a row a probe has found the same, and when it looks next."""

    next_ms: int
    good: int = 0
    bad: int = 0


Told = dict[tuple[str, str, str], Findings]
"""By container, kind of probe and start of the container."""

KINDS: Final = ("startup", "liveness", "readiness")


def acts(life: Life, one: Container, told: Told, kill: Kill) -> Iterator[Act]:
    """Yield what the probes of a container that runs do next."""
    if not one.started and "startupProbe" not in one.spec:
        yield Act(life.now_ms, lambda: _found(life, one, "startup", True))
        return
    for kind in KINDS:
        probe = one.spec.get(f"{kind}Probe")
        if (kind == "startup") == one.started:
            continue
        if probe is None:
            fails = _told_to_fail(life, one, kind)
            # Without a readiness probe who has started is ready.
            if kind == "readiness" and one.ready == fails:
                yield Act(life.now_ms, _setting(life, one, kind, not fails))
            continue
        place = (one.name, kind, one.started_at)
        if place not in told:
            fails = _finding(life, one, kind, probe, life.now_ms) is not None
            told[place] = _begun(life, one, kind, probe, fails=fails)
        known = told[place]
        due_ms = 0
        for due_ms in _looks(life, one, kind, probe, known):
            fails = _finding(life, one, kind, probe, due_ms) is not None
            if _matters(one, kind, probe, known, fails=fails):
                yield Act(due_ms, _look(life, one, kind, known, kill))
                break
        else:
            if due_ms > life.now_ms and life.home.scripts.rests(life.uid):
                # What files are like later is known then.
                yield Act(due_ms, _nothing)


def _looks(life: Life, one: Container, kind: str, probe: Mapping[str, Any], known: Findings) -> Iterator[int]:
    """Yield when a probe may look: next, and after each change of what it finds."""
    next_ms, period_ms = max(life.now_ms, known.next_ms), _period_ms(probe)
    yield next_ms
    for at_ms in _changes(life, one, kind, probe, next_ms):
        yield next_ms + -(-(at_ms - next_ms) // period_ms) * period_ms


def _changes(life: Life, one: Container, kind: str, probe: Mapping[str, Any], after_ms: int) -> Iterator[int]:
    """Yield when after a moment a stage says something else, or the files that a command may look at are others."""
    stages, epoch_ms = life.home.stages, life.home.tick.epoch_ms
    rule = stages.of_probe(one.spec, kind, probe)
    if rule is not None:
        begun_ms = life.started_ms(one)
        turns = sorted(begun_ms + 1000 * second for second in (rule.after, rule.until) if second is not None)
        yield from (ms for ms in turns if ms > after_ms)
    elif "exec" in probe:
        for unix_ms in life.home.scripts.moments(life.pod, one, stages.answers, epoch_ms + after_ms):
            yield unix_ms - epoch_ms


def _told_to_fail(life: Life, one: Container, kind: str) -> bool:
    return life.orders.fails(one.name, kind) or (kind == "readiness" and life.orders.run == "unready")


def _finding(life: Life, one: Container, kind: str, probe: Mapping[str, Any], at_ms: int) -> str | None:
    """Return what a probe says that fails at a moment; None where it succeeds."""
    if _told_to_fail(life, one, kind):
        return _why(probe, life)
    rule = life.home.stages.of_probe(one.spec, kind, probe)
    if rule is not None:
        return None if rule.succeeds((at_ms - life.started_ms(one)) / 1000) else _why(probe, life)
    if "exec" not in probe:
        return None
    unix_ms = life.home.tick.epoch_ms + at_ms
    probed = life.home.scripts.probed(life.pod, one, probe, life.home.stages.answers, unix_ms)
    return None if probed is None or probed.succeeds else probed.text


def _matters(one: Container, kind: str, probe: Mapping[str, Any], known: Findings, *, fails: bool) -> bool:
    if fails:
        # What goes on failing is not told for ever.
        return known.bad < _threshold(probe) or (kind == "readiness" and one.ready)
    # Who has failed and does so no more is counted from the beginning.
    return kind == "startup" or (kind == "readiness" and not one.ready) or known.bad > 0


def _look(life: Life, one: Container, kind: str, known: Findings, kill: Kill) -> Callable[[], Steps]:
    probe = one.spec[f"{kind}Probe"]

    def look() -> Steps:
        why = _finding(life, one, kind, probe, life.now_ms)
        known.next_ms = life.now_ms + _period_ms(probe)
        known.good, known.bad = (known.good + 1, 0) if why is None else (0, known.bad + 1)
        if why is not None:
            life.say(says.PROBE_FAILED, one, why=f"{kind.capitalize()} probe failed: {why}")
            if known.bad >= _threshold(probe):
                yield from (
                    _found(life, one, kind, False) if kind == "readiness" else kill(life, one, says.UNHEALTHY, kind)
                )
        elif known.good >= int(probe.get("successThreshold") or 1):
            yield from _found(life, one, kind, True)

    return look


def _setting(life: Life, one: Container, kind: str, good: bool) -> Callable[[], Steps]:
    return lambda: _found(life, one, kind, good)


def _found(life: Life, one: Container, kind: str, good: bool) -> Steps:
    """Take what a probe has found often enough."""
    if kind == "startup":
        one.started = good
        if one.spec.get("readinessProbe") is None:
            one.ready = life.orders.run != "unready"
        yield Write(life.status())
    elif one.ready != good:
        one.ready = good
        yield Write(life.status())


def _begun(life: Life, one: Container, kind: str, probe: Mapping[str, Any], *, fails: bool) -> Findings:
    """Return what is known of a probe when a life begins anew: it is due each period after the delay that follows the
    start.
    """
    started_ms = life.started_ms(one)
    first_ms, period_ms = started_ms + 1000 * int(probe.get("initialDelaySeconds") or 0), _period_ms(probe)
    # Until it takes connections nothing is found, but that it is to succeed is known.
    listens_ms = 0 if fails else started_ms + 1000 * life.orders.listen_after
    passed = max(0, -(-(max(life.now_ms, listens_ms) - first_ms) // period_ms))
    # Who is not ready for so long has been told why; the second of the start has only just begun.
    looked = -(-(life.now_ms - 1000 - first_ms) // period_ms)
    bad = max(0, looked) if fails and kind == "readiness" and not one.ready else 0
    return Findings(first_ms + passed * period_ms, bad=bad)


def _period_ms(probe: Mapping[str, Any]) -> int:
    return 1000 * int(probe.get("periodSeconds") or 10)


def _threshold(probe: Mapping[str, Any]) -> int:
    return int(probe.get("failureThreshold") or 3)


def _why(probe: Mapping[str, Any], life: Life) -> str:
    if "httpGet" in probe:
        return "HTTP probe failed with statuscode: 500"
    if "tcpSocket" in probe:
        place = (life.pod.get("status") or {}).get("podIP", "")
        return f"dial tcp {place}:{probe['tcpSocket'].get('port')}: connect: connection refused"
    if "grpc" in probe:
        return 'service unhealthy (responded with "NOT_SERVING")'
    return ""


def _nothing() -> Steps:
    yield from ()
