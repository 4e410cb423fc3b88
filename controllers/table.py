"""The table of controllers: one line each, in every controller manager."""

from __future__ import annotations

from typing import Final

from controllers.cloudnode import CloudNodeController
from controllers.clusterrole import ClusterRoleAggregation
from controllers.cronjob import CronJobController
from controllers.csrsigning import CertificateSigning
from controllers.customresource import DefinitionController
from controllers.daemonset import DaemonSetController
from controllers.deployment import DeploymentController
from controllers.disruption import DisruptionController
from controllers.endpoint import EndpointController
from controllers.endpointslice import EndpointSliceController
from controllers.endpointslicemirroring import MirroringController
from controllers.flags import controllermanager as flags
from controllers.garbagecollector import GarbageCollector
from controllers.job import JobController
from controllers.kit.manager import ControllerEntry
from controllers.namespace import NamespaceController
from controllers.nodeera.controller import NodeController
from controllers.nodelifecycle import NodeLifecycleController
from controllers.persistentvolume.binder import PersistentVolumeController
from controllers.persistentvolume.ephemeral import EphemeralVolumes
from controllers.persistentvolume.protection import ClaimProtection, ClassProtection, VolumeProtection
from controllers.persistentvolume.provisioner import VolumeProvisioner
from controllers.podautoscaler import HorizontalController
from controllers.podgc import PodGCController
from controllers.policystatus import PolicyStatus
from controllers.replicaset import ReplicaSetController, ReplicationManager
from controllers.resourceclaim import ResourceClaims
from controllers.resourcequota import ResourceQuotaController
from controllers.serviceaccount import RootCertificates, ServiceAccounts
from controllers.serviceaccount.tokens import Tokens
from controllers.servicelb import ServiceController
from controllers.statefulset import StatefulSetController
from controllers.tainteviction import TaintEvictionController
from controllers.ttl import TTLController
from controllers.ttlafterfinished import TTLAfterFinishedController

CONTROLLERS: Final[tuple[ControllerEntry, ...]] = (
    ControllerEntry(
        DeploymentController, DeploymentController.NAME, DeploymentController.RESOURCES, workers=flags.DEPLOYMENT_SYNCS
    ),
    ControllerEntry(
        ReplicaSetController,
        ReplicaSetController.NAME,
        ReplicaSetController.RESOURCES,
        workers=flags.REPLICASET_SYNCS,
        flags=(flags.BURST_REPLICAS,),
    ),
    ControllerEntry(
        ReplicationManager,
        ReplicationManager.NAME,
        ReplicationManager.RESOURCES,
        workers=flags.RC_SYNCS,
        flags=(flags.BURST_REPLICAS,),
    ),
    ControllerEntry(
        CronJobController, CronJobController.NAME, CronJobController.RESOURCES, workers=flags.CRON_JOB_SYNCS
    ),
    ControllerEntry(
        HorizontalController,
        HorizontalController.NAME,
        HorizontalController.RESOURCES,
        workers=flags.HPA_SYNCS,
        source="horizontal-pod-autoscaler",
    ),
    ControllerEntry(JobController, JobController.NAME, JobController.RESOURCES, workers=flags.JOB_SYNCS),
    ControllerEntry(
        TTLAfterFinishedController,
        TTLAfterFinishedController.NAME,
        TTLAfterFinishedController.RESOURCES,
        workers=flags.TTL_AFTER_FINISHED_SYNCS,
    ),
    ControllerEntry(
        DaemonSetController, DaemonSetController.NAME, DaemonSetController.RESOURCES, workers=flags.DAEMONSET_SYNCS
    ),
    ControllerEntry(
        StatefulSetController,
        StatefulSetController.NAME,
        StatefulSetController.RESOURCES,
        workers=flags.STATEFULSET_SYNCS,
    ),
    ControllerEntry(
        NamespaceController,
        NamespaceController.NAME,
        NamespaceController.RESOURCES,
        flags.NAMESPACE_SYNC_PERIOD,
        workers=flags.NAMESPACE_SYNCS,
    ),
    ControllerEntry(DefinitionController, DefinitionController.NAME, DefinitionController.RESOURCES, workers=1),
    ControllerEntry(
        ResourceQuotaController,
        ResourceQuotaController.NAME,
        ResourceQuotaController.RESOURCES,
        flags.RESOURCE_QUOTA_SYNC_PERIOD,
        workers=flags.RESOURCE_QUOTA_SYNCS,
    ),
    ControllerEntry(ClusterRoleAggregation, ClusterRoleAggregation.NAME, ClusterRoleAggregation.RESOURCES),
    ControllerEntry(CertificateSigning, CertificateSigning.NAME, CertificateSigning.RESOURCES),
    ControllerEntry(PolicyStatus, PolicyStatus.NAME, PolicyStatus.RESOURCES),
    ControllerEntry(ServiceAccounts, ServiceAccounts.NAME, ServiceAccounts.RESOURCES, workers=1),
    ControllerEntry(Tokens, Tokens.NAME, Tokens.RESOURCES, workers=flags.SERVICEACCOUNT_TOKEN_SYNCS),
    ControllerEntry(RootCertificates, RootCertificates.NAME, RootCertificates.RESOURCES, workers=1),
    ControllerEntry(GarbageCollector, GarbageCollector.NAME, GarbageCollector.RESOURCES, workers=flags.GC_SYNCS),
    ControllerEntry(
        NodeLifecycleController,
        NodeLifecycleController.NAME,
        NodeLifecycleController.RESOURCES,
        source="node-controller",
        looks_on_flags=True,
        flags=(
            flags.NODE_MONITOR_PERIOD,
            flags.NODE_MONITOR_GRACE_PERIOD,
            flags.NODE_STARTUP_GRACE_PERIOD,
            flags.NODE_EVICTION_RATE,
            flags.SECONDARY_NODE_EVICTION_RATE,
            flags.UNHEALTHY_ZONE_THRESHOLD,
            flags.LARGE_CLUSTER_SIZE_THRESHOLD,
        ),
    ),
    ControllerEntry(
        NodeController,
        NodeController.NAME,
        NodeController.RESOURCES,
        source="controllermanager",
        looks_on_flags=True,
        flags=(flags.ERA, flags.POD_EVICTION_TIMEOUT),
    ),
    ControllerEntry(TTLController, TTLController.NAME, TTLController.RESOURCES, workers=5),
    ControllerEntry(CloudNodeController, CloudNodeController.NAME, CloudNodeController.RESOURCES, looks_on_flags=True),
    ControllerEntry(
        ServiceController,
        ServiceController.NAME,
        ServiceController.RESOURCES,
        workers=flags.SERVICE_SYNCS,
        source="service-controller",
    ),
    ControllerEntry(TaintEvictionController, TaintEvictionController.NAME, TaintEvictionController.RESOURCES),
    ControllerEntry(
        PodGCController,
        PodGCController.NAME,
        PodGCController.RESOURCES,
        looks_on_flags=True,
        flags=(flags.TERMINATED_POD_GC_THRESHOLD,),
    ),
    ControllerEntry(
        EndpointController, EndpointController.NAME, EndpointController.RESOURCES, workers=flags.ENDPOINT_SYNCS
    ),
    ControllerEntry(
        EndpointSliceController,
        EndpointSliceController.NAME,
        EndpointSliceController.RESOURCES,
        workers=flags.SERVICE_ENDPOINT_SYNCS,
        source="endpoint-slice-controller",
    ),
    ControllerEntry(
        MirroringController,
        MirroringController.NAME,
        MirroringController.RESOURCES,
        workers=flags.MIRRORING_SYNCS,
        source="endpoint-slice-mirroring-controller",
    ),
    ControllerEntry(
        DisruptionController, DisruptionController.NAME, DisruptionController.RESOURCES, source="controllermanager"
    ),
    ControllerEntry(
        PersistentVolumeController,
        PersistentVolumeController.NAME,
        PersistentVolumeController.RESOURCES,
        flags.PVCLAIMBINDER_SYNC_PERIOD,
    ),
    ControllerEntry(VolumeProvisioner, VolumeProvisioner.NAME, VolumeProvisioner.RESOURCES),
    ControllerEntry(
        EphemeralVolumes,
        EphemeralVolumes.NAME,
        EphemeralVolumes.RESOURCES,
        workers=flags.EPHEMERAL_VOLUME_SYNCS,
        source="ephemeral_volume",
    ),
    ControllerEntry(ResourceClaims, ResourceClaims.NAME, ResourceClaims.RESOURCES, workers=50, source="resource_claim"),
    ControllerEntry(ClaimProtection, ClaimProtection.NAME, ClaimProtection.RESOURCES),
    ControllerEntry(VolumeProtection, VolumeProtection.NAME, VolumeProtection.RESOURCES),
    ControllerEntry(ClassProtection, ClassProtection.NAME, ClassProtection.RESOURCES),
)
