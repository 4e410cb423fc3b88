"""The table of admission plugins, in the order in which upstream runs them (pkg/kubeapiserver/options/plugins.go)."""

from __future__ import annotations

from typing import Final

from controllers.admission import (
    always,
    certificates,
    defaultingressclass,
    defaulttolerationseconds,
    limitranger,
    namespacelifecycle,
    pods,
    podsecurity,
    priority,
    resourcequota,
    runtimeclass,
    serviceaccount,
    storage,
    taintnodesbycondition,
    validatingadmissionpolicy,
    webhooks,
)
from controllers.registry.admission import Chain

CHAIN: Final = Chain(
    (
        always.ADMIT,
        namespacelifecycle.PLUGIN,
        pods.LIMIT_HARD_ANTI_AFFINITY,
        limitranger.PLUGIN,
        serviceaccount.PLUGIN,
        taintnodesbycondition.PLUGIN,
        podsecurity.PLUGIN,
        pods.ALWAYS_PULL_IMAGES,
        priority.PLUGIN,
        defaulttolerationseconds.PLUGIN,
        pods.EXTENDED_RESOURCE_TOLERATION,
        storage.DEFAULT_STORAGE_CLASS,
        storage.IN_USE_PROTECTION,
        storage.CLAIM_RESIZE,
        runtimeclass.PLUGIN,
        certificates.SUBJECT_RESTRICTION,
        defaultingressclass.PLUGIN,
        webhooks.MUTATING,
        validatingadmissionpolicy.PLUGIN,
        webhooks.VALIDATING,
        resourcequota.PLUGIN,
        always.DENY,
    )
)
