"""What upstream refuses in pods, to the letter: field and sentence of every cause, in order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import Cluster, refusal

C = "spec.containers[0]"
V = "spec.volumes[0]"


def spec(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "x:1"}], **fields}


def container(**fields: Any) -> dict[str, Any]:
    return spec(containers=[{"name": "c", "image": "x:1", **fields}])


def volume(**source: Any) -> dict[str, Any]:
    return spec(volumes=[{"name": "v", **source}])


def mount(**fields: Any) -> dict[str, Any]:
    mounts = [{"name": "v", "mountPath": "/a", **fields}]
    return {**volume(emptyDir={}), **container(volumeMounts=mounts), "volumes": [{"name": "v", "emptyDir": {}}]}


def variable(**source: Any) -> dict[str, Any]:
    return container(env=[{"name": "a", "valueFrom": source}])


MODE = "must be a number between 0 and 0777 (octal), both inclusive"
OPERATION = "may not be set for init containers without restartPolicy=Always"
KEYS = "must not be specified when labelSelector is not set"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

CASES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("restart policy", spec(restartPolicy="x"),
     [("spec.restartPolicy", 'Unsupported value: "x": supported values: "Always", "OnFailure", "Never"')]),
    ("dns policy", spec(dnsPolicy="None"),
     [("spec.dnsConfig", "Required value: must provide `dnsConfig` when `dnsPolicy` is None")]),
    ("dns server", spec(dnsConfig={"nameservers": ["x"]}),
     [("spec.dnsConfig.nameservers[0]",
       'Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]),
    ("port name", container(ports=[{"containerPort": 80, "name": "-A"}]),
     [(f"{C}.ports[0].name",
       'Invalid value: "-A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'),
      (f"{C}.ports[0].name", 'Invalid value: "-A": must contain at least one letter (a-z)'),
      (f"{C}.ports[0].name", 'Invalid value: "-A": must not begin or end with a hyphen')]),
    ("host port", spec(hostNetwork=True, containers=[
        {"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 81}]}]),
     [(f"{C}.ports[0].hostPort", "Invalid value: 81: must match `containerPort` when `hostNetwork` is true")]),
    ("probe without port", container(livenessProbe={"tcpSocket": {}}),
     [(f"{C}.livenessProbe.tcpSocket.port", "Invalid value: 0: must be between 1 and 65535, inclusive")]),
    ("probe's scheme", container(startupProbe={"httpGet": {"port": 1, "scheme": "FTP"}}),
     [(f"{C}.startupProbe.httpGet.scheme", 'Unsupported value: "FTP": supported values: "HTTP", "HTTPS"')]),
    ("readiness probe's grace", container(readinessProbe={
        "exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 0}),
     [(f"{C}.readinessProbe.terminationGracePeriodSeconds", "Invalid value: 0: must be greater than 0"),
      (f"{C}.readinessProbe.terminationGracePeriodSeconds", "Invalid value: 0: must not be set for readinessProbes")]),
    ("nothing at start", container(lifecycle={"postStart": {}}),
     [(f"{C}.lifecycle.postStart", "Required value: must specify a handler type")]),
    ("too long a sleep", container(lifecycle={"preStop": {"sleep": {"seconds": 50}}}),
     [(f"{C}.lifecycle.preStop.sleep",
       "Invalid value: 50: must be non-negative and less than terminationGracePeriodSeconds (30)")]),
    ("lifecycle of an init container", spec(initContainers=[
        {"name": "i", "image": "x", "lifecycle": {"preStop": {"exec": {"command": ["x"]}}}}]),
     [("spec.initContainers[0].lifecycle", f"Forbidden: {OPERATION}")]),
    ("unknown own field", variable(fieldRef={"fieldPath": "spec.containers"}),
     [(f"{C}.env[0].valueFrom.fieldRef.fieldPath",
       'Invalid value: "spec.containers": error converting fieldPath: field label not supported: spec.containers')]),
    ("own resource without a name", variable(resourceFieldRef={}),
     [(f"{C}.env[0].valueFrom.resourceFieldRef.resource", "Required value")]),
    ("divisor", variable(resourceFieldRef={"resource": "limits.cpu", "divisor": "2"}),
     [(f"{C}.env[0].valueFrom.resourceFieldRef.divisor",
       'Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource')]),
    ("key of a ConfigMap", variable(configMapKeyRef={"name": "x", "key": ".."}),
     [(f"{C}.env[0].valueFrom.configMapKeyRef.key", "Invalid value: \"..\": must not be '..'")]),
    ("all variables of nothing", container(envFrom=[{}]),
     [(f"{C}.envFrom", 'Invalid value: "": must specify one of: `configMapRef` or `secretRef`')]),
    ("path below", mount(subPath="../x"),
     [(f"{C}.volumeMounts.subPath", "Invalid value: \"../x\": must not contain '..'")]),
    ("mount propagation", mount(mountPropagation="Bidirectional"),
     [(f"{C}.volumeMounts.mountPropagation",
       "Forbidden: Bidirectional mount propagation is available only to privileged containers")]),
    ("path of the node", volume(hostPath={"path": "/a/../b", "type": "x"}),
     [(f"{V}.hostPath.path", "Invalid value: \"/a/../b\": must not contain '..'"),
      (f"{V}.hostPath.type", 'Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", '
       '"DirectoryOrCreate", "File", "FileOrCreate", "Socket"')]),
    ("mode of a key", volume(configMap={"name": "x", "defaultMode": -1, "items": [{"key": "k", "path": "..a"}]}),
     [(f"{V}.configMap.defaultMode", f"Invalid value: -1: {MODE}"),
      (f"{V}.configMap.items[0].path", "Invalid value: \"..a\": must not start with '..'")]),
    ("nfs", volume(nfs={}),
     [(f"{V}.nfs.server", "Required value"), (f"{V}.nfs.path", "Required value"),
      (f"{V}.nfs.path", 'Invalid value: "": must be an absolute path')]),
    ("two sources", volume(emptyDir={}, nfs={}),
     [(f"{V}.nfs", "Forbidden: may not specify more than 1 volume type")]),
    ("a disk of Google", volume(gcePersistentDisk={"partition": 300}),
     [(f"{V}.persistentDisk.pdName", "Required value"),
      (f"{V}.persistentDisk.partition", "Invalid value: 300: must be between 1 and 255, inclusive")]),
    ("short token", volume(projected={"sources": [{"serviceAccountToken": {"path": "a", "expirationSeconds": 5}}]}),
     [(f"{V}.projected.sources[0].serviceAccountToken.expirationSeconds",
       "Invalid value: 5: may not specify a duration less than 10 minutes")]),
    ("one path twice", volume(projected={"sources": [{"configMap": {"name": "m", "items": [
        {"key": "a", "path": "p"}, {"key": "b", "path": "p"}]}}]}),
     [(f"{V}.projected", 'Invalid value: "m": conflicting duplicate paths')]),
    ("unknown resource", container(resources={"limits": {"colour": "1"}}),
     [(f"{C}.resources.{key}[colour]", f'Invalid value: "colour": must be a standard resource {what}')
      for key in ("limits", "requests") for what in ("type or fully qualified", "for containers")]),
    ("huge pages alone", container(resources={"limits": {"hugepages-2Mi": "4Mi"}}),
     [(f"{C}.resources", "Forbidden: HugePages require cpu or memory")]),
    ("half a huge page", container(resources={"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}),
     [(f"{C}.resources.limits[hugepages-2Mi]",
       'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi'),
      (f"{C}.resources.requests[hugepages-2Mi]",
       'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi')]),
    ("unknown claim", container(resources={"claims": [{"name": "a"}]}),
     [(f"{C}.resources.claims[0]",
       'Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty')]),
    ("two claims in one", spec(resourceClaims=[
        {"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}]),
     [("spec.resourceClaims[0]",
       'Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of '
       "`resourceClaimName` or `resourceClaimTemplateName` may be specified")]),
    ("devices of a pod", spec(resources={"requests": {"a.b/c": "1"}, "limits": {"a.b/c": "1"}}),
     [(f"spec.resources.{key}[a.b/c]", 'Unsupported value: "a.b/c": supported values: "cpu", "hugepages-", "memory"')
      for key in ("limits", "requests")]),
    ("group below zero", spec(securityContext={"runAsGroup": -1}),
     [("spec.securityContext.runAsGroup", "Invalid value: -1: must be between 0 and 2147483647, inclusive")]),
    ("seccomp path", spec(securityContext={"seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "x"}}),
     [("spec.securityContext.seccompProfile.localhostProfile",
       'Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"x"}: can only be set when seccomp type is '
       "Localhost")]),
    ("unmasked", container(securityContext={"procMount": "Unmasked"}),
     [(f"{C}.securityContext.procMount", 'Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`')]),
    ("windows", spec(os={"name": "windows"}, securityContext={"runAsUser": 1}),
     [("spec.securityContext.runAsUser", "Forbidden: cannot be set for a windows pod")]),
    ("own users", spec(hostUsers=False, hostNetwork=True),
     [("spec.hostNetwork", "Forbidden: when `hostUsers` is false")]),
    ("resize policy", container(resizePolicy=[{"resourceName": "x", "restartPolicy": "y"}]),
     [(f"{C}.resizePolicy", 'Unsupported value: "x": supported values: "cpu", "memory"'),
      (f"{C}.resizePolicy", 'Unsupported value: "y": supported values: "NotRequired", "RestartContainer"')]),
    ("label keys without selector", spec(affinity={"podAffinity": {REQUIRED: [
        {"topologyKey": "z", "matchLabelKeys": ["a"]}]}}),
     [(f"spec.affinity.podAffinity.{REQUIRED}[0].matchLabelKeys", f"Forbidden: {KEYS}")]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "causes"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_pods_that_upstream_refuses(body: dict[str, Any], causes: list[tuple[str, str]]) -> None:
    refused = refusal(Cluster().create, "pods", "web", {"spec": {"automountServiceAccountToken": False, **body}})
    assert [(cause.field, cause.message) for cause in refused.causes] == causes


@pytest.mark.parametrize(
    "body",
    [
        spec(schedulerName="a_b"),
        spec(terminationGracePeriodSeconds=-1),
        container(ports=[{"containerPort": 80, "hostPort": 0, "protocol": ""}]),
        container(imagePullPolicy="", terminationMessagePolicy=""),
        spec(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "a b", "whenUnsatisfiable": "DoNotSchedule"}]),
    ],
)
def test_pods_that_upstream_takes(body: dict[str, Any]) -> None:
    assert Cluster().create("pods", "web", {"spec": body})["status"]["phase"] == "Pending"


def test_what_is_empty_is_left_out() -> None:
    body = spec(subdomain="", hostNetwork=False, imagePullSecrets=[{"name": ""}], priorityClassName="")
    made = Cluster().create("pods", "web", {"spec": body})["spec"]
    assert made["imagePullSecrets"] == [{}]
    assert not made.keys() & {"subdomain", "hostNetwork", "priorityClassName"}


def test_a_change_that_is_not_allowed_is_told_line_by_line() -> None:
    cluster = Cluster()
    cluster.create("pods", "web", {"spec": spec(automountServiceAccountToken=False)})
    refused = refusal(cluster.patch, "pods", "web", {"spec": {"hostname": "x"}})
    (cause,) = refused.causes
    assert cause.field == "spec"
    told = cause.message.partition("was previously negative)\n")[2]
    assert told.splitlines()[1:] == [
        '   "SELinuxChangePolicy": null',
        "  },",
        '  "ImagePullSecrets": null,',
        '- "Hostname": "",',
        '+ "Hostname": "x",',
        '  "Subdomain": "",',
        '  "SetHostnameAsFQDN": null,',
        '  "Affinity": null,',
    ]
