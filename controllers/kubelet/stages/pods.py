"""The stages of pods as data: reading them, and those that come with the project (`pods.yaml` beside this file)."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any, Final, Literal

import msgspec
import yaml

from controllers.kubelet.stages.answers import Answers

STAGES_RESOURCE: Final = "configmaps"
STAGES_NAMESPACE: Final = "kube-system"
STAGES_NAME: Final = "kubelet-stages"
"""The ConfigMap with a session's own stages."""

STAGES_KEY: Final = "pods.yaml"


class Wait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Milliseconds: `base` plus a draw below `jitter`."""

    base: int
    jitter: int = 0


class Waits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long steps take."""

    admit: Wait
    create: Wait
    settle: Wait
    init: Wait
    end: Wait
    recover: Wait
    tell: Wait


class Backoff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Waits in milliseconds that double from `first` to `most`, anew after a run of `reset`."""

    first: int
    most: int
    reset: int = 0

    def ms(self, failures: int) -> int:
        """Return the wait after so many failures; none after none."""
        return 0 if failures <= 0 else min(self.most, self.first << min(failures - 1, 20))


class Seconds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long containers run of which no time is known."""

    told: int
    task: int


class Image(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of images whose names fit a shell pattern."""

    image: str
    pull: str = ""
    exit: int | None = None
    seconds: int = 0
    reason: str = ""


class Probe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What probes find of containers whose image and command fit shell patterns: they succeed from `after` to `until`.

    Both are seconds of running; `probe` is one kind alone, `path` that of a request.
    """

    image: str = "*"
    command: str = "*"
    probe: Literal["", "startup", "liveness", "readiness"] = ""
    path: str = ""
    after: int = 0
    until: int | None = None

    def fits(self, container: Mapping[str, Any], kind: str, path: str) -> bool:
        """Return whether it is about a container's probe; `path` is empty where that sends no request."""
        words = (*(container.get("command") or ()), *(container.get("args") or ()))
        return (
            self.probe in ("", kind)
            and self.path in ("", path)
            and fnmatchcase(str(container.get("image", "")), self.image)
            and fnmatchcase(" ".join(str(word) for word in words), self.command)
        )

    def succeeds(self, seconds: float) -> bool:
        """Return what is found after so many seconds of running."""
        return self.after <= seconds and (self.until is None or seconds < self.until)


class Listens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """On which port images listen whose full names fit a shell pattern, and how they end where another has it."""

    image: str
    port: int
    settings: str = ""
    """A folder: with a volume there it is not known on which port it listens."""
    exit: int = 1
    seconds: int = 0
    says: tuple[str, ...] = ()


class Stages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it."""

    waits: Waits
    restarts: Backoff
    pulls: Backoff
    seconds: Seconds
    images: tuple[Image, ...]
    probes: tuple[Probe, ...]
    shells: tuple[str, ...]
    """Images whose own command is a shell, which ends at once where nobody types."""
    sysctls: tuple[str, ...]
    listens: tuple[Listens, ...]
    answers: Answers

    def of_image(self, name: str) -> Image | None:
        """Return the first line that fits an image."""
        return next((one for one in self.images if fnmatchcase(name, one.image)), None)

    def of_probe(self, container: Mapping[str, Any], kind: str, probe: Mapping[str, Any]) -> Probe | None:
        """Return the first line that fits a probe of a container."""
        path = str((probe.get("httpGet") or {}).get("path") or "")
        return next((one for one in self.probes if one.fits(container, kind, path)), None)

    def is_shell(self, name: str) -> bool:
        """Return whether an image's own command is a shell."""
        return any(fnmatchcase(name, one) for one in self.shells)


def read(text: str) -> Stages:
    """Return stages: what a text says over those that come with the project.

    Raises:
        ValueError: the text says what cannot be; the message names the place.
    """
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {error}") from error
    if given is not None and not isinstance(given, dict):
        raise ValueError("a map of stages is expected")
    try:
        return msgspec.convert(_over(_GIVEN, given or {}), Stages)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def stages_in(found: Mapping[str, Any] | None) -> Stages:
    """Return the stages of a session that has this ConfigMap, or none: those of the project where it cannot be read."""
    try:
        return read(str(((found or {}).get("data") or {}).get(STAGES_KEY) or ""))
    except ValueError:
        return STAGES


def _over(base: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return maps merged; lists and values are replaced."""
    merged = dict(base)
    for key, value in given.items():
        known = merged.get(key)
        merged[key] = _over(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


_GIVEN: Final[dict[str, Any]] = yaml.safe_load(files(__package__).joinpath("pods.yaml").read_text())
STAGES: Final = read("")
"""Those that come with the project."""
