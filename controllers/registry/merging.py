"""How fields merge, and what maps hold: what the generated models leave out of upstream's schema.

Made from the OpenAPI of v1.34 (`pytest tests/registry/test_merging.py --update-golden`, then `make fmt`).
Structs are named as in the models: `core_v1.PodSpec`.
"""

from __future__ import annotations

from typing import Final, Literal

MERGE_KEYS: Final[dict[tuple[str, str], str]] = {
    ("admissionregistration_v1.MutatingWebhook", "matchConditions"): "name",
    ("admissionregistration_v1.MutatingWebhookConfiguration", "webhooks"): "name",
    ("admissionregistration_v1.ValidatingAdmissionPolicySpec", "matchConditions"): "name",
    ("admissionregistration_v1.ValidatingAdmissionPolicySpec", "variables"): "name",
    ("admissionregistration_v1.ValidatingWebhook", "matchConditions"): "name",
    ("admissionregistration_v1.ValidatingWebhookConfiguration", "webhooks"): "name",
    ("apiextensions_v1.JSONSchemaProps", "x-kubernetes-validations"): "rule",
    ("apiregistration_v1.APIServiceStatus", "conditions"): "type",
    ("apps_v1.DaemonSetStatus", "conditions"): "type",
    ("apps_v1.DeploymentStatus", "conditions"): "type",
    ("apps_v1.ReplicaSetStatus", "conditions"): "type",
    ("apps_v1.StatefulSetStatus", "conditions"): "type",
    ("autoscaling_v2.HorizontalPodAutoscalerStatus", "conditions"): "type",
    ("batch_v1.JobStatus", "conditions"): "type",
    ("core_v1.ComponentStatus", "conditions"): "type",
    ("core_v1.Container", "env"): "name",
    ("core_v1.Container", "ports"): "containerPort",
    ("core_v1.Container", "volumeDevices"): "devicePath",
    ("core_v1.Container", "volumeMounts"): "mountPath",
    ("core_v1.ContainerStatus", "allocatedResourcesStatus"): "name",
    ("core_v1.ContainerStatus", "volumeMounts"): "mountPath",
    ("core_v1.EphemeralContainer", "env"): "name",
    ("core_v1.EphemeralContainer", "ports"): "containerPort",
    ("core_v1.EphemeralContainer", "volumeDevices"): "devicePath",
    ("core_v1.EphemeralContainer", "volumeMounts"): "mountPath",
    ("core_v1.NamespaceStatus", "conditions"): "type",
    ("core_v1.NodeStatus", "addresses"): "type",
    ("core_v1.NodeStatus", "conditions"): "type",
    ("core_v1.PersistentVolumeClaimStatus", "conditions"): "type",
    ("core_v1.PodSpec", "containers"): "name",
    ("core_v1.PodSpec", "ephemeralContainers"): "name",
    ("core_v1.PodSpec", "hostAliases"): "ip",
    ("core_v1.PodSpec", "imagePullSecrets"): "name",
    ("core_v1.PodSpec", "initContainers"): "name",
    ("core_v1.PodSpec", "resourceClaims"): "name",
    ("core_v1.PodSpec", "schedulingGates"): "name",
    ("core_v1.PodSpec", "topologySpreadConstraints"): "topologyKey",
    ("core_v1.PodSpec", "volumes"): "name",
    ("core_v1.PodStatus", "conditions"): "type",
    ("core_v1.PodStatus", "hostIPs"): "ip",
    ("core_v1.PodStatus", "podIPs"): "ip",
    ("core_v1.PodStatus", "resourceClaimStatuses"): "name",
    ("core_v1.ReplicationControllerStatus", "conditions"): "type",
    ("core_v1.ServiceAccount", "secrets"): "name",
    ("core_v1.ServiceSpec", "ports"): "port",
    ("core_v1.ServiceStatus", "conditions"): "type",
    ("flowcontrol_v1.FlowSchemaStatus", "conditions"): "type",
    ("flowcontrol_v1.PriorityLevelConfigurationStatus", "conditions"): "type",
    ("meta_v1.ObjectMeta", "ownerReferences"): "uid",
    ("networking_v1.ServiceCIDRStatus", "conditions"): "type",
    ("policy_v1.PodDisruptionBudgetStatus", "conditions"): "type",
    ("resource_v1.ResourceClaimStatus", "reservedFor"): "uid",
    ("storage_v1.CSINodeSpec", "drivers"): "name",
}
"""(struct, list) → the field of its items by which they merge."""

SETS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("core_v1.NodeSpec", "podCIDRs"),
        ("meta_v1.ObjectMeta", "finalizers"),
    }
)
"""(struct, list of scalars) that merge as sets."""

REPLACED: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("policy_v1.PodDisruptionBudgetSpec", "selector"),
    }
)
"""(struct, field) that a strategic merge patch replaces whole."""

MAP_VALUES: Final[dict[tuple[str, str], Literal["bytes", "quantity", "any"]]] = {
    ("apiextensions_v1.JSONSchemaProps", "definitions"): "any",
    ("apiextensions_v1.JSONSchemaProps", "dependencies"): "any",
    ("apiextensions_v1.JSONSchemaProps", "patternProperties"): "any",
    ("apiextensions_v1.JSONSchemaProps", "properties"): "any",
    ("authentication_v1.UserInfo", "extra"): "any",
    ("authorization_v1.SubjectAccessReviewSpec", "extra"): "any",
    ("certificates_v1.CertificateSigningRequestSpec", "extra"): "any",
    ("core_v1.ConfigMap", "binaryData"): "bytes",
    ("core_v1.ContainerStatus", "allocatedResources"): "quantity",
    ("core_v1.LimitRangeItem", "default"): "quantity",
    ("core_v1.LimitRangeItem", "defaultRequest"): "quantity",
    ("core_v1.LimitRangeItem", "max"): "quantity",
    ("core_v1.LimitRangeItem", "maxLimitRequestRatio"): "quantity",
    ("core_v1.LimitRangeItem", "min"): "quantity",
    ("core_v1.NodeStatus", "allocatable"): "quantity",
    ("core_v1.NodeStatus", "capacity"): "quantity",
    ("core_v1.PersistentVolumeClaimStatus", "allocatedResources"): "quantity",
    ("core_v1.PersistentVolumeClaimStatus", "capacity"): "quantity",
    ("core_v1.PersistentVolumeSpec", "capacity"): "quantity",
    ("core_v1.PodSpec", "overhead"): "quantity",
    ("core_v1.ResourceQuotaSpec", "hard"): "quantity",
    ("core_v1.ResourceQuotaStatus", "hard"): "quantity",
    ("core_v1.ResourceQuotaStatus", "used"): "quantity",
    ("core_v1.ResourceRequirements", "limits"): "quantity",
    ("core_v1.ResourceRequirements", "requests"): "quantity",
    ("core_v1.Secret", "data"): "bytes",
    ("core_v1.VolumeResourceRequirements", "limits"): "quantity",
    ("core_v1.VolumeResourceRequirements", "requests"): "quantity",
    ("node_v1.Overhead", "podFixed"): "quantity",
    ("policy_v1.PodDisruptionBudgetStatus", "disruptedPods"): "any",
    ("resource_v1.CapacityRequirements", "requests"): "quantity",
    ("resource_v1.CounterSet", "counters"): "any",
    ("resource_v1.Device", "attributes"): "any",
    ("resource_v1.Device", "capacity"): "any",
    ("resource_v1.DeviceCounterConsumption", "counters"): "any",
    ("resource_v1.DeviceRequestAllocationResult", "consumedCapacity"): "quantity",
}
"""(struct, map) → what it holds where it is not text."""

LIST_KEYS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("admissionregistration_v1.MutatingWebhook", "matchConditions"): ("name",),
    ("admissionregistration_v1.MutatingWebhookConfiguration", "webhooks"): ("name",),
    ("admissionregistration_v1.ValidatingAdmissionPolicyBindingSpec", "validationActions"): (),
    ("admissionregistration_v1.ValidatingAdmissionPolicySpec", "matchConditions"): ("name",),
    ("admissionregistration_v1.ValidatingAdmissionPolicySpec", "variables"): ("name",),
    ("admissionregistration_v1.ValidatingAdmissionPolicyStatus", "conditions"): ("type",),
    ("admissionregistration_v1.ValidatingWebhook", "matchConditions"): ("name",),
    ("admissionregistration_v1.ValidatingWebhookConfiguration", "webhooks"): ("name",),
    ("apiextensions_v1.CustomResourceDefinitionStatus", "conditions"): ("type",),
    ("apiextensions_v1.JSONSchemaProps", "x-kubernetes-validations"): ("rule",),
    ("apiregistration_v1.APIServiceStatus", "conditions"): ("type",),
    ("apps_v1.DaemonSetStatus", "conditions"): ("type",),
    ("apps_v1.DeploymentStatus", "conditions"): ("type",),
    ("apps_v1.ReplicaSetStatus", "conditions"): ("type",),
    ("apps_v1.StatefulSetStatus", "conditions"): ("type",),
    ("autoscaling_v2.HorizontalPodAutoscalerStatus", "conditions"): ("type",),
    ("batch_v1.PodFailurePolicyOnExitCodesRequirement", "values"): (),
    ("batch_v1.UncountedTerminatedPods", "failed"): (),
    ("batch_v1.UncountedTerminatedPods", "succeeded"): (),
    ("certificates_v1.CertificateSigningRequestStatus", "conditions"): ("type",),
    ("core_v1.ComponentStatus", "conditions"): ("type",),
    ("core_v1.Container", "env"): ("name",),
    ("core_v1.Container", "ports"): ("containerPort", "protocol"),
    ("core_v1.Container", "volumeDevices"): ("devicePath",),
    ("core_v1.Container", "volumeMounts"): ("mountPath",),
    ("core_v1.ContainerRestartRuleOnExitCodes", "values"): (),
    ("core_v1.ContainerStatus", "allocatedResourcesStatus"): ("name",),
    ("core_v1.ContainerStatus", "volumeMounts"): ("mountPath",),
    ("core_v1.EphemeralContainer", "env"): ("name",),
    ("core_v1.EphemeralContainer", "ports"): ("containerPort", "protocol"),
    ("core_v1.EphemeralContainer", "volumeDevices"): ("devicePath",),
    ("core_v1.EphemeralContainer", "volumeMounts"): ("mountPath",),
    ("core_v1.NamespaceStatus", "conditions"): ("type",),
    ("core_v1.NodeSpec", "podCIDRs"): (),
    ("core_v1.NodeStatus", "addresses"): ("type",),
    ("core_v1.NodeStatus", "conditions"): ("type",),
    ("core_v1.PersistentVolumeClaimStatus", "conditions"): ("type",),
    ("core_v1.PodSpec", "containers"): ("name",),
    ("core_v1.PodSpec", "ephemeralContainers"): ("name",),
    ("core_v1.PodSpec", "hostAliases"): ("ip",),
    ("core_v1.PodSpec", "imagePullSecrets"): ("name",),
    ("core_v1.PodSpec", "initContainers"): ("name",),
    ("core_v1.PodSpec", "resourceClaims"): ("name",),
    ("core_v1.PodSpec", "schedulingGates"): ("name",),
    ("core_v1.PodSpec", "topologySpreadConstraints"): ("topologyKey", "whenUnsatisfiable"),
    ("core_v1.PodSpec", "volumes"): ("name",),
    ("core_v1.PodStatus", "conditions"): ("type",),
    ("core_v1.PodStatus", "podIPs"): ("ip",),
    ("core_v1.PodStatus", "resourceClaimStatuses"): ("name",),
    ("core_v1.ReplicationControllerStatus", "conditions"): ("type",),
    ("core_v1.ResourceRequirements", "claims"): ("name",),
    ("core_v1.ResourceStatus", "resources"): ("resourceID",),
    ("core_v1.ServiceAccount", "secrets"): ("name",),
    ("core_v1.ServiceSpec", "ports"): ("port", "protocol"),
    ("core_v1.ServiceStatus", "conditions"): ("type",),
    ("discovery_v1.Endpoint", "addresses"): (),
    ("flowcontrol_v1.FlowSchemaStatus", "conditions"): ("type",),
    ("flowcontrol_v1.NonResourcePolicyRule", "nonResourceURLs"): (),
    ("flowcontrol_v1.NonResourcePolicyRule", "verbs"): (),
    ("flowcontrol_v1.PriorityLevelConfigurationStatus", "conditions"): ("type",),
    ("flowcontrol_v1.ResourcePolicyRule", "apiGroups"): (),
    ("flowcontrol_v1.ResourcePolicyRule", "namespaces"): (),
    ("flowcontrol_v1.ResourcePolicyRule", "resources"): (),
    ("flowcontrol_v1.ResourcePolicyRule", "verbs"): (),
    ("meta_v1.ObjectMeta", "finalizers"): (),
    ("meta_v1.ObjectMeta", "ownerReferences"): ("uid",),
    ("networking_v1.ServiceCIDRStatus", "conditions"): ("type",),
    ("policy_v1.PodDisruptionBudgetStatus", "conditions"): ("type",),
    ("resource_v1.AllocatedDeviceStatus", "conditions"): ("type",),
    ("resource_v1.ResourceClaimStatus", "devices"): ("driver", "device", "pool", "shareID"),
    ("resource_v1.ResourceClaimStatus", "reservedFor"): ("uid",),
    ("storage_v1.CSIDriverSpec", "volumeLifecycleModes"): (),
    ("storage_v1.CSINodeSpec", "drivers"): ("name",),
}
"""(struct, list) → the fields that tell its items apart when fields have owners; none: the list is a set."""

ATOMIC_MAPS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("core_v1.PodSpec", "nodeSelector"),
        ("core_v1.ReplicationControllerSpec", "selector"),
        ("core_v1.ServiceSpec", "selector"),
        ("node_v1.Scheduling", "nodeSelector"),
    }
)
"""(struct, field) of maps and structs that have one owner as a whole."""

GRANULAR: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("core_v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses"),
        ("core_v1.PersistentVolumeSpec", "claimRef"),
    }
)
"""(struct, field) whose parts have owners, though the struct that they hold has one elsewhere."""

ATOMIC_STRUCTS: Final[frozenset[str]] = frozenset(
    {
        "admissionregistration_v1.MatchResources",
        "admissionregistration_v1.NamedRuleWithOperations",
        "admissionregistration_v1.ParamKind",
        "admissionregistration_v1.ParamRef",
        "admissionregistration_v1.Variable",
        "autoscaling_v1.CrossVersionObjectReference",
        "core_v1.ConfigMapKeySelector",
        "core_v1.EndpointAddress",
        "core_v1.EndpointPort",
        "core_v1.FileKeySelector",
        "core_v1.LocalObjectReference",
        "core_v1.NodeSelector",
        "core_v1.NodeSelectorTerm",
        "core_v1.ObjectFieldSelector",
        "core_v1.ObjectReference",
        "core_v1.ResourceFieldSelector",
        "core_v1.ScopeSelector",
        "core_v1.SecretKeySelector",
        "core_v1.SecretReference",
        "core_v1.TopologySelectorTerm",
        "core_v1.TypedLocalObjectReference",
        "discovery_v1.EndpointPort",
        "meta_v1.LabelSelector",
        "meta_v1.OwnerReference",
        "networking_v1.ServiceBackendPort",
        "rbac_v1.RoleRef",
        "rbac_v1.Subject",
    }
)
"""Structs that have one owner as a whole, wherever they stand."""
