"""The table of kinds: one line a kind. Everything that lists, routes, validates or discovers kinds reads it."""

from __future__ import annotations

from typing import Final

from controllers.admission.table import CHAIN
from controllers.custom.kinds import Definitions
from controllers.kinds.admissionregistration import (
    mutatingwebhookconfiguration,
    validatingadmissionpolicy,
    validatingadmissionpolicybinding,
    validatingwebhookconfiguration,
)
from controllers.kinds.apiextensions import customresourcedefinition
from controllers.kinds.apiregistration import apiservice
from controllers.kinds.apps import controllerrevision, daemonset, deployment, replicaset, statefulset
from controllers.kinds.autoscaling import horizontalpodautoscaler, horizontalpodautoscaler_v1
from controllers.kinds.batch import cronjob, job
from controllers.kinds.certificates import certificatesigningrequest
from controllers.kinds.clustersim import (
    bookmark,
    client,
    clock,
    flags,
    lesson,
    poll,
    queue,
    replay,
    replica,
    schedulerconfig,
)
from controllers.kinds.coordination import lease
from controllers.kinds.core import (
    componentstatus,
    configmap,
    endpoints,
    event,
    limitrange,
    namespace,
    node,
    persistentvolume,
    persistentvolumeclaim,
    podtemplate,
    replicationcontroller,
    resourcequota,
    secret,
    service,
    serviceaccount,
)
from controllers.kinds.core.pod import kind as pod
from controllers.kinds.discovery import endpointslice
from controllers.kinds.events import event as events_event
from controllers.kinds.flowcontrol import flowschema, prioritylevelconfiguration
from controllers.kinds.metrics import nodemetrics, podmetrics
from controllers.kinds.networking import ingress, ingressclass, ipaddress, networkpolicy, servicecidr
from controllers.kinds.node import runtimeclass
from controllers.kinds.policy import poddisruptionbudget
from controllers.kinds.rbac import clusterrole, clusterrolebinding, role, rolebinding
from controllers.kinds.resource import deviceclass, resourceclaim, resourceclaimtemplate, resourceslice
from controllers.kinds.scheduling import priorityclass
from controllers.kinds.storage import (
    csidriver,
    csinode,
    csistoragecapacity,
    storageclass,
    volumeattachment,
    volumeattributesclass,
)
from controllers.registry.kind import Mask
from controllers.registry.registry import Registry
from controllers.registry.table import Table

TABLE: Final = Table(
    (
        namespace.KIND,
        node.KIND,
        pod.KIND,
        service.KIND,
        serviceaccount.KIND,
        configmap.KIND,
        secret.KIND,
        endpoints.KIND,
        limitrange.KIND,
        resourcequota.KIND,
        persistentvolumeclaim.KIND,
        persistentvolume.KIND,
        replicationcontroller.KIND,
        podtemplate.KIND,
        event.KIND,
        replicaset.KIND,
        deployment.KIND,
        statefulset.KIND,
        daemonset.KIND,
        controllerrevision.KIND,
        job.KIND,
        cronjob.KIND,
        horizontalpodautoscaler.KIND,
        endpointslice.KIND,
        poddisruptionbudget.KIND,
        certificatesigningrequest.KIND,
        ingress.KIND,
        ingressclass.KIND,
        networkpolicy.KIND,
        ipaddress.KIND,
        servicecidr.KIND,
        role.KIND,
        rolebinding.KIND,
        clusterrole.KIND,
        clusterrolebinding.KIND,
        runtimeclass.KIND,
        resourceclaim.KIND,
        resourceclaimtemplate.KIND,
        resourceslice.KIND,
        deviceclass.KIND,
        flowschema.KIND,
        prioritylevelconfiguration.KIND,
        validatingadmissionpolicy.KIND,
        validatingadmissionpolicybinding.KIND,
        mutatingwebhookconfiguration.KIND,
        validatingwebhookconfiguration.KIND,
        storageclass.KIND,
        csinode.KIND,
        csidriver.KIND,
        csistoragecapacity.KIND,
        volumeattachment.KIND,
        volumeattributesclass.KIND,
        priorityclass.KIND,
        lease.KIND,
        apiservice.KIND,
        customresourcedefinition.KIND,
        clock.KIND,
        replica.KIND,
        queue.KIND,
        schedulerconfig.KIND,
        flags.KIND,
        replay.KIND,
        client.KIND,
        bookmark.KIND,
        poll.KIND,
        lesson.KIND,
    ),
    versions=(events_event.KIND, horizontalpodautoscaler_v1.KIND),
    computed=(componentstatus.KIND, nodemetrics.KIND, podmetrics.KIND),
    definer=Definitions(),
)

KINDS: Final = TABLE.kinds
SERVED: Final = TABLE.served
"""The kinds, and after them the further versions in which the same objects are served."""

COMPUTED: Final = TABLE.computed
"""Kinds of which nothing is stored: they are got and listed alone."""

REGISTRY: Final = Registry(TABLE, CHAIN)
"""What everybody writes through: it keeps nothing between two writes."""

kind_of = TABLE.kind_of
by_kind = TABLE.by_kind
find_resource = TABLE.find_resource
find_kind = TABLE.find_kind


def page_of(resource: str) -> Mask:
    """Return what the page gets of a resource's objects beside the metadata; nothing of what a session defines."""
    kind = find_resource(resource)
    return {} if kind is None else kind.page
