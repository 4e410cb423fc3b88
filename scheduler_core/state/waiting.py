"""Pods that Permit holds: one timer a plugin, allowed only when all allow, rejected as soon as one says no."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.snapshot.node_info import PodInfo


def go_duration(ms: int) -> str:
    """Return milliseconds as upstream's messages spell a duration: `1m0s`, `1.5s`, `250ms`."""
    if ms < 1_000:
        return f"{ms}ms" if ms else "0s"
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest / 1_000:.3f}".rstrip("0").rstrip(".") + "s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


@dataclass(slots=True)
class WaitingPod:
    """One assumed pod between Permit and PreBind."""

    info: PodInfo
    node_name: str
    since_ms: int
    until_ms: dict[str, int]
    """Plugin that has not allowed the pod yet → when its time is up."""
    rejected_by: str = ""
    reason: str = ""

    @property
    def is_decided(self) -> bool:
        """Return whether the wait is over, either way."""
        return bool(self.reason) or not self.until_ms

    @property
    def next_timeout_ms(self) -> int | None:
        """Return when the first plugin's time is up."""
        return min(self.until_ms.values(), default=None)


@dataclass(slots=True)
class WaitingPods:
    """All waiting pods by uid, in order of arrival."""

    _pods: dict[str, WaitingPod] = field(default_factory=dict)
    _held: tuple[WaitingPod, ...] = ()

    def __len__(self) -> int:
        return len(self._pods)

    def add(self, info: PodInfo, node_name: str, waits: Mapping[str, int], now_ms: int) -> WaitingPod:
        """Hold a pod. `waits` is plugin → milliseconds that it may hold the pod."""
        waiting = WaitingPod(info, node_name, now_ms, {plugin: now_ms + wait_ms for plugin, wait_ms in waits.items()})
        self._pods[info.uid] = waiting
        return waiting

    def get(self, uid: str) -> WaitingPod | None:
        """Return the waiting pod."""
        return self._pods.get(uid)

    def listed(self) -> list[WaitingPod]:
        """Return all waiting pods, the longest waiting first."""
        return list(self._pods.values())

    def held(self) -> Sequence[WaitingPod]:
        """Return the pods that were held when the attempt in hand began: what plugins see."""
        return self._held

    def note(self, uids: Iterable[str]) -> None:
        """Have plugins see these, as far as they are held."""
        self._held = tuple(self._pods[uid] for uid in uids if uid in self._pods)

    def allow(self, uid: str, plugin: str) -> bool:
        """Say yes in a plugin's name; return whether that decided the wait."""
        waiting = self._pods.get(uid)
        if waiting is None or waiting.is_decided:
            return False
        waiting.until_ms.pop(plugin, None)
        return waiting.is_decided

    def reject(self, uid: str, plugin: str, reason: str) -> bool:
        """Say no in a plugin's name; return whether that decided the wait."""
        waiting = self._pods.get(uid)
        if waiting is None or waiting.is_decided:
            return False
        waiting.rejected_by, waiting.reason = plugin, reason
        return True

    def expire(self, now_ms: int) -> list[str]:
        """Reject pods for which a plugin's time is up; return their uids."""
        over: list[str] = []
        for uid, waiting in self._pods.items():
            if waiting.is_decided:
                continue
            late = sorted((until, plugin) for plugin, until in waiting.until_ms.items() if until <= now_ms)
            if late:
                until, plugin = late[0]
                waited = go_duration(until - waiting.since_ms)
                waiting.rejected_by = plugin
                waiting.reason = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
                over.append(uid)
        return over

    def remove(self, uid: str) -> None:
        """Stop holding the pod, once its wait is decided."""
        self._pods.pop(uid, None)
