"""What people ask for: documents whose details follow from chance."""

from __future__ import annotations

from random import Random
from typing import Any

from controllers.flags.table import NAME as FLAGS_NAME
from scheduler_core.api.document import Document

PREFIX = "clustersim.io"
IMAGES = ("nginx:1.27", "nginx:1.28", "redis:8", "web:does-not-exist", "app:crash")
"""One that runs, most of all; one that cannot be pulled; one whose containers end with 1."""
IMAGE_WEIGHTS = (10, 8, 6, 1, 1)
TEAMS = ("a", "b", "c")
"""The label by which Services and budgets choose pods, whoever made them."""


def image(random: Random) -> str:
    """Return an image."""
    (found,) = random.choices(IMAGES, IMAGE_WEIGHTS)
    return found


def template(random: Random, app: str, *, restart: str | None = None) -> Document:
    """Return a pod template."""
    container: Document = {
        "name": "main",
        "image": image(random),
        "ports": [{"name": "http", "containerPort": 80}],
        "resources": {"requests": {"cpu": random.choice(["50m", "100m", "400m"])}},
    }
    if random.random() < 0.3:
        container["readinessProbe"] = {"httpGet": {"port": 80}, "periodSeconds": random.choice([2, 10])}
    spec: Document = {
        "containers": [container],
        "terminationGracePeriodSeconds": random.choice([0, 5, 30]),
        **({"restartPolicy": restart} if restart else {}),
    }
    if random.random() < 0.1:
        spec["initContainers"] = [{"name": "before", "image": "busybox", "command": ["sleep", "2"]}]
    return {"metadata": {"labels": {"app": app, "team": random.choice(TEAMS)}}, "spec": spec}


def _whole(api_version: str, kind: str, namespace: str, name: str, spec: Any, **more: Any) -> Document:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    document: Document = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    return {**document, **more}


def workload(kind: str, random: Random, namespace: str, name: str) -> Document:
    """Return a Deployment, ReplicaSet, ReplicationController, StatefulSet or DaemonSet; pods carry app=<name>."""
    spec: Document = {"template": template(random, name)}
    if kind == "ReplicationController":
        return _whole("v1", kind, namespace, name, {**spec, "selector": {"app": name}, "replicas": random.randrange(5)})
    spec["selector"] = {"matchLabels": {"app": name}}
    if kind != "DaemonSet":
        spec["replicas"] = random.randrange(6)
    if kind == "Deployment":
        spec["progressDeadlineSeconds"] = random.choice([60, 600])
        spec["strategy"] = deployment_strategy(random)
    if kind == "StatefulSet":
        spec["serviceName"] = name
        spec["podManagementPolicy"] = random.choice(["OrderedReady", "Parallel"])
    if kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"):
        spec["minReadySeconds"] = random.choice([0, 0, 5])
    return _whole("apps/v1", kind, namespace, name, spec)


def deployment_strategy(random: Random) -> Document:
    """Return how a Deployment is rolled out."""
    if random.random() < 0.25:
        return {"type": "Recreate"}
    surge = random.choice([1, "25%", "50%"])
    return {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": surge, "maxUnavailable": random.choice([0, 1, "25%"])},
    }


def job_spec(random: Random, name: str) -> Document:
    """Return what a Job is asked for: pods that sleep and end, well or with a code."""
    pods = template(random, name, restart=random.choice(["Never", "OnFailure"]))
    container = pods["spec"]["containers"][0]
    container["image"] = "busybox"
    container.pop("readinessProbe", None)
    container["command"] = ["sh", "-c", f"sleep {random.choice([1, 5, 40])}; exit {random.choice([0, 0, 0, 1])}"]
    spec: Document = {"template": pods, "parallelism": random.randrange(1, 4), "backoffLimit": random.randrange(4)}
    spec["completions"] = random.randrange(1, 6)
    if random.random() < 0.4:
        spec["completionMode"] = "Indexed"
    if random.random() < 0.4:
        spec["ttlSecondsAfterFinished"] = random.choice([0, 20])
    if random.random() < 0.2:
        spec["activeDeadlineSeconds"] = 30
    return spec


def job(random: Random, namespace: str, name: str) -> Document:
    """Return a Job."""
    return _whole("batch/v1", "Job", namespace, name, job_spec(random, name))


def cronjob(random: Random, namespace: str, name: str) -> Document:
    """Return a CronJob of every minute."""
    spec = {
        "schedule": random.choice(["* * * * *", "*/2 * * * *"]),
        "concurrencyPolicy": random.choice(["Allow", "Forbid", "Replace"]),
        "successfulJobsHistoryLimit": 1,
        "jobTemplate": {"spec": job_spec(random, name)},
    }
    return _whole("batch/v1", "CronJob", namespace, name, spec)


def service(random: Random, namespace: str, name: str) -> Document:
    """Return a Service that chooses pods by workload or by team."""
    key, value = ("app", name) if random.random() < 0.6 else ("team", random.choice(TEAMS))
    port = {"port": 80, "targetPort": random.choice([80, "http"])}
    spec: Document = {"selector": {key: value}, "ports": [port]}
    if random.random() < 0.2:
        spec["clusterIP"] = "None"
    if random.random() < 0.2:
        spec["publishNotReadyAddresses"] = True
    return _whole("v1", "Service", namespace, name, spec)


def autoscaler(random: Random, namespace: str, name: str) -> Document:
    """Return an autoscaler of a Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
    }
    spec = {"scaleTargetRef": target, "minReplicas": random.randrange(1, 3), "maxReplicas": 5, "metrics": [metric]}
    return _whole("autoscaling/v2", "HorizontalPodAutoscaler", namespace, name, spec)


def budget(random: Random, namespace: str, name: str) -> Document:
    """Return a budget of disruptions."""
    key = random.choice(["minAvailable", "maxUnavailable"])
    spec = {key: random.choice([1, "50%"]), "selector": {"matchLabels": {"team": random.choice(TEAMS)}}}
    return _whole("policy/v1", "PodDisruptionBudget", namespace, name, spec)


def pod(random: Random, namespace: str, name: str) -> Document:
    """Return a pod that nobody looks after."""
    made = template(random, name)
    document = _whole("v1", "Pod", namespace, name, made["spec"])
    document["metadata"]["labels"] = made["metadata"]["labels"]
    return document


def quota(random: Random, namespace: str, name: str) -> Document:
    """Return a quota."""
    hard = {
        "pods": str(random.randrange(6, 25)),
        "requests.cpu": random.choice(["1", "3", "6"]),
        "count/deployments.apps": str(random.randrange(1, 6)),
        "count/pods": "40",
        "services": "3",
        "configmaps": "4",
    }
    chosen = random.sample(sorted(hard), random.randrange(1, 5))
    return _whole("v1", "ResourceQuota", namespace, name, {"hard": {key: hard[key] for key in sorted(chosen)}})


def limits(random: Random, namespace: str, name: str) -> Document:
    """Return a LimitRange."""
    limit = {"type": "Container", "defaultRequest": {"cpu": "60m"}, "default": {"cpu": "500m"}, "max": {"cpu": "2"}}
    return _whole("v1", "LimitRange", namespace, name, {"limits": [limit]})


def config(random: Random, namespace: str, name: str) -> Document:
    """Return a ConfigMap."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"n": str(random.randrange(9))}}


def node(name: str, zone: str) -> Document:
    """Return a Node, as its machine registers it."""
    labels = {"topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name}
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "60"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": capacity},
    }


def namespace(name: str) -> Document:
    """Return a Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def flags() -> Document:
    """Return the session's Flags: a node's pressure passes soon, and few pods that have ended are kept.

    While it lasts, a DaemonSet with maxSurge makes pods for the node as fast as its kubelet refuses them, as upstream's
    does (`podsShouldBeOnNode`); five minutes of that would be most of a run.
    """
    spec = {
        "kubelet": {"eviction-pressure-transition-period": "10s"},
        "kube-controller-manager": {"terminated-pod-gc-threshold": "50"},
    }
    return {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": FLAGS_NAME}, "spec": spec}
