"""What a container sees of itself: its name, environment, files and programs, made from what the API holds.

Source: pkg/kubelet/kubelet_pods.go (makeEnvironmentVariables, managedHostsFileContent), pkg/kubelet/envvars,
pkg/kubelet/network/dns, v1.34.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Protocol

from controllers.kinds.core.service_addresses import DNS_ADDRESS
from controllers.kinds.core.service_names import DOMAIN
from controllers.kubelet.images import image_of
from controllers.kubelet.shell.cgroups import ROOT, groups_of_node, own_group, processes
from controllers.kubelet.shell.nodefiles import node_root
from controllers.kubelet.shell.shebang import asks_for_shell, interpreter_of
from controllers.kubelet.stages.answers import Answer, Answers
from controllers.kubelet.users import User, user_of
from controllers.log.stamps import unix_ms_of
from controllers.registry.gotext import quoted
from scheduler_core.api.containers import told_of
from scheduler_core.api.document import Document
from scheduler_core.api.quantity import QuantityError, amount

PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN: Final = "simulated"
"""What stands in place of the token of a pod's account: within the pod it is taken for it."""

PAUSE_USER: Final = 65_535
"""As whom the process runs that holds a pod's namespaces."""

_FOLDERS: Final = ("bin", "dev", "etc", "home", "proc", "root", "sys", "tmp", "usr", "var")


class Facts(Protocol):
    """What of the API a container's environment and files are made from."""

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return an object; None where there is none."""

    def list(self, resource: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a resource in a namespace."""

    def at(self, unix_ms: int) -> Facts:
        """Return the same as it was at the end of a second, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Inside:
    """One container from within."""

    facts: Facts
    answers: Answers
    namespace: str
    pod: str
    uid: str
    image: str
    hostname: str
    address: str
    environment: Mapping[str, str]
    words: tuple[str, ...]
    """What it was started with, empty where the pod does not say it: then the image does."""
    files: Mapping[str, str]
    folders: frozenset[str]
    user: User
    folder: str = "/"
    node: str = ""
    """The node on which it is."""
    fixed: tuple[str, ...] = ()
    """Folders in which nothing can be written."""
    root_fixed: bool = False
    writable: tuple[str, ...] = field(default=())
    """Folders in which volumes are mounted that can be written."""
    made: tuple[str, ...] = ()
    """Folders whose files the API makes, in which no other volume is mounted."""
    mounted: tuple[str, ...] = ()
    """All folders and files that are mounted."""
    hooked: bool = False
    """Whether something else is run in it when it starts."""
    volume_group: int | None = None
    """Whose those volumes are (`fsGroup`)."""
    processes: tuple[tuple[int, str], ...] = ()
    """(user, command) of each process that it sees, the first one first."""

    def answer(self, words: Sequence[str]) -> Answer | None:
        """Return what the stages say that a command prints; None where they say nothing."""
        return self.answers.of_command(self.image, " ".join(words))

    def has(self, program: str) -> bool:
        """Return whether the image has a program."""
        return self.answers.has(self.image, program)

    def is_script(self, words: Sequence[str]) -> bool:
        """Return whether a command names a script for a shell that the image has: a file of its own, or of a volume."""
        text = self.files.get(words[0], "") if words else ""
        return asks_for_shell(text) and self.has(interpreter_of(text))

    def is_read_only(self, path: str) -> bool:
        """Return whether a path cannot be written to."""
        if any(path == top or path.startswith(top + "/") for top in self.fixed):
            return True
        return self.root_fixed and not any(path == top or path.startswith(top + "/") for top in self.writable)

    def leaves_free(self, path: str, *, at_first: bool) -> bool:
        """Return whether it is known for sure that nothing was at a path when the container was started.

        `at_first`: whether it has only just been.
        """
        if self.hooked:
            return False
        if any(_is_at(path, top) for top in self.mounted):
            return at_first and any(_is_at(path, top) for top in self.made)
        return self.answers.leaves_free(image_of(self.image).full, path)

    def leaves_out(self, program: str) -> bool:
        """Return whether it is known for sure that there was no program of a name when the container was started."""
        if self.hooked or self.environment.get("PATH") != PATH:
            return False
        places = PATH.split(":")
        if any(_is_at(place, top) or _is_at(top, place) for place in places for top in self.mounted):
            return False
        return self.answers.leaves_out(image_of(self.image).full, program)

    def is_volume(self, path: str) -> bool:
        """Return whether a path lies in a volume, whose files are all known."""
        return any(path.startswith(top.rstrip("/") + "/") for top in (*self.fixed, *self.writable))

    def chance(self, turn: int) -> int:
        """Return a number that looks like any other."""
        return int.from_bytes(sha256(f"{self.uid}/{turn}".encode()).digest()[:4])


def _is_at(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


def look_inside(pod: Mapping[str, Any], container: Mapping[str, Any], facts: Facts, answers: Answers) -> Inside:
    """Return what a container of a pod sees."""
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    host_network = bool(spec.get("hostNetwork"))
    hostname = str(spec.get("nodeName") if host_network else spec.get("hostname") or metadata["name"])[:63]
    address = str(status.get("podIP") or "")
    began = _as_it_began(pod, container, facts)
    environment = _environment(pod, container, began, hostname)
    files: dict[str, str] = {
        "/etc/hostname": f"{hostname}\n",
        "/etc/hosts": _hosts(pod, hostname, address),
        "/etc/resolv.conf": _resolver(pod, facts),
        "/etc/os-release": 'NAME="Clustersim"\nPRETTY_NAME="Clustersim simulated container"\nID=clustersim\n',
        "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    }
    files |= own_group(pod, container) | processes(container)
    own = answers.files_of(str(container.get("image", "")))
    files |= own
    for one in (spec.get("securityContext") or {}).get("sysctls") or ():
        files["/proc/sys/" + str(one.get("name")).replace(".", "/")] = f"{one.get('value')}\n"
    # The folder that it works in is made where the image has none.
    folders = {f"/{name}" for name in _FOLDERS} | {"/" + str(container.get("workingDir") or "/").strip("/")}
    fixed: list[str] = []
    writable: list[str] = []
    made: list[str] = []
    mounted: list[str] = []
    for mount in container.get("volumeMounts") or ():
        path = "/" + str(mount.get("mountPath", "")).strip("/")
        volume: Mapping[str, Any] = next(
            (one for one in spec.get("volumes") or () if one.get("name") == mount.get("name")), {}
        )
        within = str(mount.get("subPath") or "")
        # A part that is mounted for itself does not follow what it was made from.
        held = _volume(pod, volume, began if within else facts)
        if (volume.get("hostPath") or {}).get("path") == ROOT:
            files |= groups_of_node(pod, path)
        if (volume.get("hostPath") or {}).get("path") == "/" and not within:
            name = str(spec.get("nodeName") or "")
            found, below = node_root(facts.get("nodes", "", name) or {}, name, path)
            files |= found
            folders |= below
        if within in held:
            files[path] = held[within]
        else:
            folders.add(path)
            for hidden in own:
                if hidden.startswith(f"{path}/"):
                    files.pop(hidden, None)
            files |= {f"{path}/{name}": text for name, text in held.items()}
        from_api = volume.keys() & {"configMap", "secret", "projected", "downwardAPI"}
        (fixed if from_api or mount.get("readOnly") else writable).append(path)
        mounted.append(path)
        if from_api and not within and path != ACCOUNT:
            made.append(path)
    security = {**(spec.get("securityContext") or {}), **(container.get("securityContext") or {})}
    given = [*(container.get("command") or ()), *(container.get("args") or ())]
    return Inside(
        facts=facts,
        answers=answers,
        namespace=str(metadata["namespace"]),
        pod=str(metadata["name"]),
        uid=str(metadata["uid"]),
        image=str(container.get("image", "")),
        hostname=hostname,
        address=address,
        environment=environment,
        words=tuple(expanded(str(word), environment) for word in given),
        files=files,
        folders=frozenset(folders),
        user=user_of(spec, container),
        folder=str(container.get("workingDir") or "/"),
        node=str(spec.get("nodeName") or ""),
        fixed=tuple(fixed),
        root_fixed=bool(security.get("readOnlyRootFilesystem")),
        writable=tuple(writable),
        made=tuple(one for one in made if not any(other != one and _is_at(other, one) for other in mounted)),
        mounted=tuple(mounted),
        hooked=bool((container.get("lifecycle") or {}).get("postStart")),
        volume_group=(spec.get("securityContext") or {}).get("fsGroup"),
        processes=tuple(_processes(spec, container, environment)),
    )


def _as_it_began(pod: Mapping[str, Any], container: Mapping[str, Any], facts: Facts) -> Facts:
    """Return the API as it was when a container was started: what it was given then stays."""
    told = told_of(pod, str(container.get("name")))
    for state in (told.get("state") or {}, told.get("lastState") or {}):
        since = next((one["startedAt"] for one in state.values() if one and one.get("startedAt")), None)
        if since is not None:
            return facts.at(unix_ms_of(since))
    return facts


def _processes(
    spec: Mapping[str, Any], container: Mapping[str, Any], environment: Mapping[str, str]
) -> Iterator[tuple[int, str]]:
    """Yield (user, command) of the processes that a container sees: its own, those of a container that it is to look
    into, or all of a pod whose containers share them.
    """
    beside = spec.get("ephemeralContainers") or ()
    if spec.get("shareProcessNamespace"):
        yield PAUSE_USER, "/pause"
        seen = [*(spec.get("containers") or ()), *beside]
    else:
        target = container.get("targetContainerName")
        seen = [one for one in spec.get("containers") or () if target and one.get("name") == target]
    for one in [*seen, *(() if container in seen else (container,))]:
        words = map(str, (*(one.get("command") or ()), *(one.get("args") or ())))
        # What the others' variables hold is not looked up for a name in a list.
        told = " ".join(expanded(word, environment) if one is container else word for word in words)
        yield user_of(spec, one).uid, told or f"({one.get('image', '')})"


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with `$(NAME)` replaced where the name is known; `$$` is one dollar.

    Source: third_party/forked/golang/expansion.
    """
    parts: list[str] = []
    at = 0
    while (mark := text.find("$", at)) >= 0 and mark + 1 < len(text):
        parts.append(text[at:mark])
        following = text[mark + 1]
        end = text.find(")", mark) if following == "(" else -1
        if following == "$":
            parts.append("$")
            at = mark + 2
        elif end >= 0:
            name = text[mark + 2 : end]
            parts.append(environment.get(name, text[mark : end + 1]))
            at = end + 1
        else:
            parts.append("$" + ("" if following == "(" else following))
            at = mark + 2 if following != "(" else mark + 1
    return "".join(parts) + text[at:]


# -- environment ----------------------------------------------------------------------------------------------------


def _environment(pod: Mapping[str, Any], container: Mapping[str, Any], facts: Facts, hostname: str) -> dict[str, str]:
    namespace = pod["metadata"]["namespace"]
    found: dict[str, str] = {"PATH": PATH, "HOSTNAME": hostname, "HOME": "/root"}
    found |= _of_services(pod, facts)
    for source in container.get("envFrom") or ():
        prefix = str(source.get("prefix") or "")
        for key, resource in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
            if source.get(key):
                held = held_by(facts.get(resource, namespace, str(source[key].get("name"))))
                found |= {prefix + name: text for name, text in held.items()}
    for entry in container.get("env") or ():
        name = str(entry.get("name"))
        if entry.get("valueFrom"):
            value = _from_source(pod, container, entry["valueFrom"], facts)
            if value is None:
                continue
        else:
            value = expanded(str(entry.get("value") or ""), found)
        found[name] = value
    return found


def _from_source(
    pod: Mapping[str, Any], container: Mapping[str, Any], source: Mapping[str, Any], facts: Facts
) -> str | None:
    for key, resource in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        if source.get(key):
            named = source[key]
            return held_by(facts.get(resource, pod["metadata"]["namespace"], str(named.get("name")))).get(
                str(named.get("key"))
            )
    if source.get("fieldRef"):
        return _field(pod, str(source["fieldRef"].get("fieldPath")))
    if source.get("resourceFieldRef"):
        return _resource(pod, container, source["resourceFieldRef"], facts)
    return None


def _field(pod: Mapping[str, Any], path: str) -> str:
    """Return a field of a pod, as the downward API gives it."""
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    head, bracket, key = path.partition("[")
    if head in ("metadata.labels", "metadata.annotations"):
        held: Mapping[str, str] = metadata.get(head.partition(".")[2]) or {}
        if bracket:
            return str(held.get(key.rstrip("]").strip("'\""), ""))
        return "\n".join(f"{name}={quoted(text)}" for name, text in sorted(held.items()))
    places: dict[str, Any] = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec.get("nodeName"),
        "spec.serviceAccountName": spec.get("serviceAccountName"),
        "status.hostIP": status.get("hostIP"),
        "status.hostIPs": status.get("hostIP"),
        "status.podIP": status.get("podIP"),
        "status.podIPs": status.get("podIP"),
    }
    return str(places.get(path) or "")


def _resource(pod: Mapping[str, Any], container: Mapping[str, Any], source: Mapping[str, Any], facts: Facts) -> str:
    """Return an amount in whole divisors, rounded up; what has no limit has that of its node."""
    named = source.get("containerName")
    for one in pod["spec"]["containers"]:
        if one.get("name") == named:
            container = one
    part, _, name = str(source.get("resource")).partition(".")
    text = ((container.get("resources") or {}).get(part) or {}).get(name)
    if text is None and part == "limits":
        node = facts.get("nodes", "", str(pod["spec"].get("nodeName"))) or {}
        text = ((node.get("status") or {}).get("allocatable") or {}).get(name)
    try:
        value = amount(name, text or "0")
        divisor = amount(name, str(source.get("divisor") or "") if source.get("divisor") not in (None, "0") else "1")
    except (QuantityError, TypeError):
        return "0"
    return str(-(-int(value) // max(1, int(divisor))))


def _of_services(pod: Mapping[str, Any], facts: Facts) -> dict[str, str]:
    namespace = str(pod["metadata"]["namespace"])
    kubernetes = facts.get("services", "default", "kubernetes")
    services = [] if kubernetes is None else [kubernetes]
    if pod["spec"].get("enableServiceLinks", True):
        services += [one for one in facts.list("services", namespace) if one["metadata"]["name"] != "kubernetes"]
    found: dict[str, str] = {}
    for service in services:
        spec = service.get("spec") or {}
        address, ports = spec.get("clusterIP"), spec.get("ports") or ()
        if not address or address == "None" or not ports:
            continue
        name = str(service["metadata"]["name"]).upper().replace("-", "_").replace(".", "_")
        found[f"{name}_SERVICE_HOST"] = address
        found[f"{name}_SERVICE_PORT"] = str(ports[0].get("port"))
        for index, port in enumerate(ports):
            number, protocol = port.get("port"), str(port.get("protocol") or "TCP")
            if port.get("name"):
                found[f"{name}_SERVICE_PORT_{port['name'].upper().replace('-', '_')}"] = str(number)
            url, prefix = f"{protocol.lower()}://{address}:{number}", f"{name}_PORT_{number}_{protocol.upper()}"
            if index == 0:
                found[f"{name}_PORT"] = url
            found[prefix] = url
            found |= {f"{prefix}_PROTO": protocol.lower(), f"{prefix}_PORT": str(number), f"{prefix}_ADDR": address}
    return found


# -- files ----------------------------------------------------------------------------------------------------------


def held_by(document: Mapping[str, Any] | None) -> dict[str, str]:
    """Return key → text of a ConfigMap or Secret; bytes that are no text are shown with marks in their place."""
    if document is None:
        return {}
    found = {key: str(text) for key, text in (document.get("stringData") or {}).items()}
    secret = document.get("kind") == "Secret"
    plain: Document = {} if secret else document.get("data") or {}
    coded: Document = (document.get("data") if secret else document.get("binaryData")) or {}
    for key, text in coded.items():
        try:
            found[key] = base64.b64decode(str(text)).decode(errors="replace")
        except (binascii.Error, ValueError):
            found[key] = ""
    return {**found, **{key: str(text) for key, text in plain.items()}}


def _volume(pod: Mapping[str, Any], volume: Mapping[str, Any], facts: Facts) -> dict[str, str]:
    """Return path → text of the files in a volume that is made from the API; others are empty."""
    found: dict[str, str] = {}
    sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
    for source in sources:
        found |= dict(_source(pod, source, facts))
    return found


def _source(pod: Mapping[str, Any], source: Mapping[str, Any], facts: Facts) -> Iterator[tuple[str, str]]:
    namespace = pod["metadata"]["namespace"]
    for key, resource in (("configMap", "configmaps"), ("secret", "secrets")):
        wanted = source.get(key)
        if not wanted:
            continue
        held = held_by(facts.get(resource, namespace, str(wanted.get("secretName") or wanted.get("name"))))
        items = wanted.get("items")
        if items:
            held = {str(one.get("path")): held[one["key"]] for one in items if one.get("key") in held}
        yield from held.items()
    for one in (source.get("downwardAPI") or {}).get("items") or ():
        if one.get("fieldRef"):
            yield str(one.get("path")), _field(pod, str(one["fieldRef"].get("fieldPath")))
        elif one.get("resourceFieldRef"):
            yield str(one.get("path")), _resource(pod, {}, one["resourceFieldRef"], facts)
    if source.get("serviceAccountToken"):
        yield str(source["serviceAccountToken"].get("path") or "token"), TOKEN


def _hosts(pod: Mapping[str, Any], hostname: str, address: str) -> str:
    spec = pod["spec"]
    lines = [
        "# Kubernetes-managed hosts file" + (" (host network)." if spec.get("hostNetwork") else "."),
        "127.0.0.1\tlocalhost",
        "::1\tlocalhost ip6-localhost ip6-loopback",
        "fe00::0\tip6-localnet",
        "fe00::0\tip6-mcastprefix",
        "fe00::1\tip6-allnodes",
        "fe00::2\tip6-allrouters",
    ]
    if address:
        whole = f"{hostname}.{spec.get('subdomain')}.{pod['metadata']['namespace']}.svc.{DOMAIN}"
        lines.append(f"{address}\t{whole}\t{hostname}" if spec.get("subdomain") else f"{address}\t{hostname}")
    aliases = spec.get("hostAliases") or ()
    if aliases:
        lines += ["", "# Entries added by HostAliases."]
        lines += ["\t".join([str(one.get("ip")), *(one.get("hostnames") or ())]) for one in aliases]
    return "\n".join(lines) + "\n"


def _resolver(pod: Mapping[str, Any], facts: Facts) -> str:
    dns = facts.get("services", "kube-system", "kube-dns")
    server = ((dns or {}).get("spec") or {}).get("clusterIP") or DNS_ADDRESS
    given = pod["spec"].get("dnsConfig") or {}
    policy = pod["spec"].get("dnsPolicy") or "ClusterFirst"
    own = policy != "None"
    namespace = pod["metadata"]["namespace"]
    search = [f"{namespace}.svc.{DOMAIN}", f"svc.{DOMAIN}", DOMAIN] if own and policy != "Default" else []
    options = ["ndots:5"] if search else []
    for one in given.get("options") or ():
        options.append(f"{one['name']}:{one['value']}" if one.get("value") else one["name"])
    search += given.get("searches") or ()
    lines = [f"search {' '.join(search)}"] if search else []
    lines += [f"nameserver {one}" for one in ([server] if own else []) + list(given.get("nameservers") or ())]
    lines += [f"options {' '.join(options)}"] if options else []
    return "\n".join(lines) + "\n"
