"""ValidatingAdmissionPolicies with their bindings: what they refuse, warn of and note, in upstream's words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controllers.admission.evaluating import REQUEST_COST_MAX
from controllers.log.operations import Create
from controllers.registry.marks import Marks
from tests.registry.registry_tool import CONTAINER, Cluster, refusal

POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
DEPLOYMENTS = "deployments.apps"
RULE: dict[str, Any] = {
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["deployments", "deployments/scale"],
}
FEW = {"expression": "object.spec.replicas <= 5"}


def policy(cluster: Cluster, *rules: dict[str, Any], name: str = "few", **spec: Any) -> None:
    whole = {"matchConstraints": {"resourceRules": [RULE]}, "validations": list(rules), **spec}
    cluster.create(POLICIES, name, {"spec": whole})


def bind(cluster: Cluster, *actions: str, name: str = "all", of: str = "few", **spec: Any) -> None:
    cluster.create(
        BINDINGS, name, {"spec": {"policyName": of, "validationActions": list(actions or ("Deny",)), **spec}}
    )


def deployment(replicas: int = 1, **metadata: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"metadata": metadata, "spec": spec}


def bound(*rules: dict[str, Any], **spec: Any) -> Cluster:
    cluster = Cluster()
    policy(cluster, *rules or (FEW,), **spec)
    bind(cluster)
    return cluster


def told(cluster: Cluster, replicas: int = 9, **metadata: Any) -> str:
    """Return why a deployment is refused, after what every such refusal says."""
    message = refusal(cluster.create, DEPLOYMENTS, "web", deployment(replicas, **metadata)).message
    head = "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'all' denied request: "
    assert message.startswith(head)
    return message.removeprefix(head)


def test_what_a_policy_forbids_is_refused_in_upstreams_words() -> None:
    cluster = bound()
    cluster.create(DEPLOYMENTS, "good", deployment(5))
    refused = refusal(cluster.create, DEPLOYMENTS, "web", deployment(6))
    policy = "ValidatingAdmissionPolicy 'few' with binding 'all'"
    why = f"{policy} denied request: failed expression: object.spec.replicas <= 5"
    assert refused.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'deployments.apps "web" is forbidden: {why}',
        "reason": "Invalid",
        "details": {"name": "web", "group": "apps", "kind": "deployments", "causes": [{"message": why}]},
        "code": 422,
    }
    assert cluster.get(DEPLOYMENTS, "web") is None
    assert refusal(cluster.patch, DEPLOYMENTS, "good", {"spec": {"replicas": 6}}).code == 422
    assert refusal(cluster.patch, DEPLOYMENTS, "good", {"spec": {"replicas": 6}}, subresource="scale").code == 422
    cluster.patch(DEPLOYMENTS, "good", {"spec": {"replicas": 4}}, subresource="scale")


def test_a_policy_without_a_binding_and_a_binding_without_a_policy_do_nothing() -> None:
    cluster = Cluster()
    policy(cluster, FEW)
    bind(cluster, of="nobody")
    cluster.create(DEPLOYMENTS, "web", deployment(9))


def test_a_plugin_that_is_off_asks_nobody() -> None:
    cluster = bound()
    cluster.create("flags.clustersim.io", "flags", {"spec": {}})
    off = {"spec": {"kube-apiserver": {"disable-admission-plugins": "ValidatingAdmissionPolicy"}}}
    cluster.patch("flags.clustersim.io", "flags", off)
    cluster.create(DEPLOYMENTS, "web", deployment(9))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"message": " too many "}, "too many"),
        ({"messageExpression": "'wanted ' + string(object.spec.replicas)", "message": "no"}, "wanted 9"),
        ({"messageExpression": "'wanted ' + object.spec.replicas", "message": "too many"}, "too many"),
        ({"messageExpression": "'a\\nb'"}, "failed expression: object.spec.replicas <= 5"),
        ({"messageExpression": "' '"}, "failed expression: object.spec.replicas <= 5"),
    ],
)
def test_the_message_is_the_expressions_then_the_rules_then_the_rule(rule: dict[str, Any], message: str) -> None:
    assert told(bound({**FEW, **rule})) == message


@pytest.mark.parametrize(("reason", "code"), [("Forbidden", 403), ("Invalid", 422), ("RequestEntityTooLarge", 413)])
def test_the_reason_decides_the_code(reason: str, code: int) -> None:
    refused = refusal(bound({**FEW, "reason": reason}).create, DEPLOYMENTS, "web", deployment(9))
    assert (refused.code, refused.reason) == (code, reason)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("object.spec.missing > 1", "no such key: missing"),
        ("object.spec.replicas > 'a'", "no such overload"),
        ("object.spec.template.spec.containers[3].name == ''", "index out of bounds: 3"),
    ],
)
def test_an_expression_without_a_value_refuses_unless_failures_are_ignored(source: str, error: str) -> None:
    assert told(bound({"expression": source})) == f"expression '{source}' resulted in error: {error}"
    bound({"expression": source}, failurePolicy="Ignore").create(DEPLOYMENTS, "web", deployment(9))


def test_the_variables_of_a_request() -> None:
    rules = [
        "oldObject == null && request.operation == 'CREATE' && request.name == 'web' && !request.dryRun",
        "request.kind.kind == 'Deployment' && request.resource.resource == 'deployments' && request.subResource == ''",
        "request.namespace == 'default' && namespaceObject.metadata.name == 'default'",
        "request.userInfo.username == 'test' && 'system:authenticated' in request.userInfo.groups",
        "object.kind == 'Deployment' && object.apiVersion == 'apps/v1'",
    ]
    bound(*({"expression": rule} for rule in rules)).create(DEPLOYMENTS, "web", deployment())
    cluster = Cluster()
    cluster.create(DEPLOYMENTS, "web", deployment(3))
    scaled = "oldObject.spec.replicas == 3 && object.kind == 'Scale' && request.subResource == 'scale'"
    policy(cluster, {"expression": f"{scaled} && request.kind.group == 'autoscaling'"})
    bind(cluster)
    cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 2}}, subresource="scale")


def test_deletes_and_bindings_are_asked_about_too() -> None:
    cluster = Cluster()
    cluster.create("serviceaccounts", "default")
    deleted = {"apiGroups": [""], "apiVersions": ["*"], "operations": ["DELETE"], "resources": ["*"]}
    policy(cluster, {"expression": "object != null || oldObject.metadata.name != 'kept'"},
           matchConstraints={"resourceRules": [deleted]})  # fmt: skip
    bind(cluster)
    cluster.create("configmaps", "kept")
    cluster.create("configmaps", "other")
    cluster.delete("configmaps", "other")
    assert refusal(cluster.delete, "configmaps", "kept").code == 422
    put = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    policy(cluster, {"expression": "object.target.name != 'full'"}, name="nodes",
           matchConstraints={"resourceRules": [put]})  # fmt: skip
    bind(cluster, name="nodes", of="nodes")
    cluster.create("nodes", "full")
    cluster.create("nodes", "free")
    cluster.pod("web")
    body = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "full"}}
    refused = refusal(cluster.apply, Create("pods", "default", body, "binding"))
    assert (refused.code, refused.message.partition(" denied")[0]) == (
        422,
        "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'nodes' with binding 'nodes'",
    )
    cluster.apply(Create("pods", "default", {**body, "target": {"kind": "Node", "name": "free"}}, "binding"))
    assert (cluster.get("pods", "web") or {})["spec"]["nodeName"] == "free"


def test_variables_are_worked_out_when_they_are_read() -> None:
    variables = [
        {"name": "replicas", "expression": "object.spec.replicas"},
        {"name": "odd", "expression": "variables.replicas % 2 == 1"},
        {"name": "broken", "expression": "object.spec.missing"},
    ]
    rules = [{"expression": "variables.replicas > 1"}, {"expression": "variables.odd || variables.broken"}]
    cluster = bound(*rules, variables=variables)
    cluster.create(DEPLOYMENTS, "good", deployment(3))
    assert told(cluster, 1) == "failed expression: variables.replicas > 1"
    assert told(cluster, 2) == (
        "expression 'variables.odd || variables.broken' resulted in error: composited variable \"broken\" fails to "
        "evaluate: no such key: missing"
    )


def test_conditions_decide_whether_a_policy_is_asked() -> None:
    one = {"name": "not-mine", "expression": "!has(object.metadata.labels) || !('mine' in object.metadata.labels)"}
    cluster = bound(matchConditions=[one])
    cluster.create(DEPLOYMENTS, "mine", deployment(9, labels={"mine": ""}))
    assert told(cluster, 9).startswith("failed expression")
    broken = {"name": "broken", "expression": "object.spec.missing"} | {"expression": "object.spec.missing == 1"}
    assert told(bound(matchConditions=[broken])) == (
        "expression 'object.spec.missing == 1' resulted in error: no such key: missing"
    )
    bound(matchConditions=[broken], failurePolicy="Ignore").create(DEPLOYMENTS, "web", deployment(9))
    false = {"name": "false", "expression": "false"}
    bound(matchConditions=[broken, false]).create(DEPLOYMENTS, "web", deployment(9))


@pytest.mark.parametrize(
    ("constraints", "asked"),
    [
        ({"resourceRules": [{**RULE, "operations": ["UPDATE"]}]}, False),
        ({"resourceRules": [{**RULE, "operations": ["*"]}]}, True),
        ({"resourceRules": [{**RULE, "apiGroups": ["*"], "resources": ["*"]}]}, True),
        ({"resourceRules": [{**RULE, "resources": ["*/*"]}]}, True),
        ({"resourceRules": [{**RULE, "resources": ["*/scale"]}]}, False),
        ({"resourceRules": [{**RULE, "resources": ["deployments/*"]}]}, True),
        ({"resourceRules": [{**RULE, "apiVersions": ["v1beta1"]}]}, False),
        ({"resourceRules": [{**RULE, "scope": "Namespaced"}]}, True),
        ({"resourceRules": [{**RULE, "scope": "Cluster"}]}, False),
        ({"resourceRules": [{**RULE, "resourceNames": ["web"]}]}, True),
        ({"resourceRules": [{**RULE, "resourceNames": ["other"]}]}, False),
        ({"resourceRules": [RULE], "excludeResourceRules": [RULE]}, False),
        ({"resourceRules": [RULE], "namespaceSelector": {"matchLabels": {"team": "a"}}}, True),
        ({"resourceRules": [RULE], "namespaceSelector": {"matchLabels": {"team": "b"}}}, False),
        ({"resourceRules": [RULE], "objectSelector": {"matchLabels": {"tier": "web"}}}, True),
        ({"resourceRules": [RULE], "objectSelector": {"matchLabels": {"tier": "db"}}}, False),
    ],
)  # fmt: skip
def test_which_writes_a_policy_and_a_binding_are_asked_about(constraints: dict[str, Any], asked: bool) -> None:
    for where in ({"matchConstraints": constraints}, {}):
        cluster = Cluster()
        cluster.patch("namespaces", "default", {"metadata": {"labels": {"team": "a"}}})
        policy(cluster, FEW, **where)
        bind(cluster, **({} if where else {"matchResources": constraints}))
        document = deployment(9, labels={"tier": "web"})
        if asked:
            assert refusal(cluster.create, DEPLOYMENTS, "web", document).code == 422
        else:
            cluster.create(DEPLOYMENTS, "web", document)


def test_another_version_of_the_kind_is_asked_about_where_that_is_equivalent() -> None:
    rule = {"apiGroups": ["autoscaling"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*"]}
    body = {
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 9}
    }
    seen = {"expression": "object.apiVersion != 'autoscaling/v1' || request.requestKind.version != 'v2'"}
    resource = "horizontalpodautoscalers.autoscaling"
    for how, refused in (("Equivalent", True), ("Exact", False)):
        cluster = Cluster()
        policy(cluster, seen, matchConstraints={"resourceRules": [rule], "matchPolicy": how})
        bind(cluster)
        if refused:
            assert refusal(cluster.create, resource, "web", body).code == 422
        else:
            cluster.create(resource, "web", body)


PARAMETER = {"apiVersion": "v1", "kind": "ConfigMap"}
LIMITED = {"expression": "object.spec.replicas <= int(params.data.most)"}


def test_a_parameter_is_named_or_selected() -> None:
    cluster = Cluster()
    policy(cluster, LIMITED, paramKind=PARAMETER)
    bind(cluster, paramRef={"name": "limits", "parameterNotFoundAction": "Deny"})
    assert told(cluster) == (
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    )
    cluster.create("configmaps", "limits", {"data": {"most": "3"}, "metadata": {"labels": {"limits": "yes"}}})
    assert told(cluster, 4) == "failed expression: object.spec.replicas <= int(params.data.most)"
    cluster.create(DEPLOYMENTS, "good", deployment(3))
    cluster.create("configmaps", "tighter", {"data": {"most": "2"}, "metadata": {"labels": {"limits": "yes"}}})
    chosen = {"selector": {"matchLabels": {"limits": "yes"}}, "parameterNotFoundAction": "Allow"}
    cluster.patch(BINDINGS, "all", {"spec": {"paramRef": {"name": None, **chosen}}})
    assert told(cluster, 3).startswith("failed expression")
    cluster.create(DEPLOYMENTS, "small", deployment(2))
    cluster.patch(BINDINGS, "all", {"spec": {"paramRef": {"selector": {"matchLabels": {"limits": "no"}}}}})
    cluster.create(DEPLOYMENTS, "large", deployment(9))


def test_parameters_that_cannot_be_had() -> None:
    cluster = Cluster()
    policy(cluster, LIMITED, paramKind={"apiVersion": "team.example/v1", "kind": "Limit"})
    bind(cluster, paramRef={"name": "a", "parameterNotFoundAction": "Deny"})
    refused = refusal(cluster.create, DEPLOYMENTS, "web", deployment())
    assert refused.message.endswith(
        "ValidatingAdmissionPolicy 'few' denied request: failed to configure policy: failed to find resource "
        "referenced by paramKind: 'team.example/v1, Kind=Limit'"
    )
    cluster = Cluster()
    rule = {**RULE, "apiGroups": [""], "resources": ["nodes"]}
    policy(cluster, LIMITED, paramKind=PARAMETER, matchConstraints={"resourceRules": [rule]})
    bind(cluster, paramRef={"name": "a", "parameterNotFoundAction": "Deny"})
    refused = refusal(cluster.create, "nodes", "n1")
    assert "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources" in refused.message


def test_warnings_and_notes_let_a_write_pass() -> None:
    cluster = Cluster()
    annotation = {"key": "wanted", "valueExpression": "'wanted ' + string(object.spec.replicas)"}
    policy(cluster, FEW, auditAnnotations=[annotation])
    bind(cluster, "Warn", "Audit")
    marks = Marks(lambda: 0)
    cluster.create(DEPLOYMENTS, "web", deployment(9), marks=marks)
    why = "failed expression: object.spec.replicas <= 5"
    assert cluster.warnings == [f"Validation failed for ValidatingAdmissionPolicy 'few' with binding 'all': {why}"]
    (mark,) = [one for one in marks.steps if one.plugin == "ValidatingAdmissionPolicy"]
    assert mark.result == "ok"
    failure, kept = mark.message.split("; ")
    assert kept == "few/wanted: wanted 9"
    assert json.loads(failure.removeprefix("validation.policy.admission.k8s.io/validation_failure: ")) == [
        {
            "message": why,
            "policy": "few",
            "binding": "all",
            "expressionIndex": 0,
            "validationActions": ["Warn", "Audit"],
        }
    ]


def test_an_annotation_without_a_value_refuses() -> None:
    annotation = {"key": "wanted", "valueExpression": "string(object.spec.missing)"}
    cluster = bound(FEW, auditAnnotations=[annotation])
    assert told(cluster, 1) == "expression 'string(object.spec.missing)' resulted in error: no such key: missing"


def test_policies_themselves_and_command_objects_are_never_asked_about() -> None:
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
    cluster = bound({"expression": "false"}, matchConstraints={"resourceRules": [everything]})
    assert refusal(cluster.create, "configmaps", "a").code == 422
    cluster.create("clocks.clustersim.io", "clock", {"spec": {"pace": 1}})
    cluster.patch(BINDINGS, "all", {"metadata": {"labels": {"a": "b"}}})
    cluster.delete(BINDINGS, "all")
    cluster.create("configmaps", "a")


def test_what_all_policies_cost_together_is_bounded() -> None:
    source = "object.data.exists(a, object.data.exists(b, object.data[a].contains(b + 'x')))"
    rule = {**RULE, "apiGroups": [""], "resources": ["configmaps"]}
    cluster = Cluster()
    cluster_rules = [{"expression": f"{source} || {index} >= 0"} for index in range(60)]
    policy(cluster, *cluster_rules, matchConstraints={"resourceRules": [rule]})
    bind(cluster)
    data = {f"k{index}": "v" * 1_000 for index in range(50)}
    refused = refusal(cluster.create, "configmaps", "a", {"data": data})
    assert refused.message.endswith(
        "denied request: validation failed due to running out of cost budget, no further validation rules will be run"
    )
    assert REQUEST_COST_MAX < 60 * 50 * 50 * 60
    cluster.create("configmaps", "a", {"data": {"k": "v"}})
