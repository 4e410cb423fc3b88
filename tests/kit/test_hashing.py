"""Hashes that name what was made of a template: upstream's, letter by letter."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from controllers.kit.hashing import printed, revision_hash, template_hash

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "web:1",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 0,
        "dnsPolicy": "ClusterFirst",
        "automountServiceAccountToken": False,
        "securityContext": {},
        "schedulerName": "default-scheduler",
    },
}


def changed(**spec: Any) -> dict[str, Any]:
    template = copy.deepcopy(TEMPLATE)
    template["spec"].update(spec)
    return template


def test_a_template_has_the_hash_that_a_real_controller_gave_it() -> None:
    """Answers recorded from kube-controller-manager v1.34."""
    assert template_hash(TEMPLATE, None) == "57fd9b8449"
    other = copy.deepcopy(TEMPLATE)
    other["spec"]["containers"][0]["image"] = "web:2"
    assert template_hash(other, None) == "695cf697f6"
    assert template_hash(changed(nodeSelector={"nowhere": "true"}), None) == "6798bcf9cb"


def test_a_collision_changes_the_hash_and_an_empty_list_does_not() -> None:
    assert template_hash(TEMPLATE, 0) != template_hash(TEMPLATE, None)
    assert template_hash(TEMPLATE, 1) != template_hash(TEMPLATE, 0)
    assert template_hash(changed(volumes=[], nodeSelector={}), None) == template_hash(TEMPLATE, None)


DECIMAL = "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>}"


@pytest.mark.parametrize(
    ("text", "value", "scale", "kept", "form"),
    [
        ("100m", 100, -3, "100m", "DecimalSI"),
        ("0.5", 500, -3, "500m", "DecimalSI"),
        ("2", 2, 0, "2", "DecimalSI"),
        ("0", 0, 0, "0", "DecimalSI"),
        ("1Gi", 1 << 30, 0, "1Gi", "BinarySI"),
        ("128Mi", 128 << 20, 0, "", "BinarySI"),
        ("1e3", 1, 3, "1e3", "DecimalExponent"),
    ],
)
def test_a_quantity_is_printed_as_its_struct(text: str, value: int, scale: int, kept: str, form: str) -> None:
    exact = f"i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}}"
    wanted = f"(resource.Quantity){{{exact} {DECIMAL} s:(string){kept} Format:(resource.Format){form}}}"
    assert printed("resource.Quantity", text) == wanted


def test_a_large_quantity_is_printed_as_a_big_decimal() -> None:
    assert "abs:(big.nat)[109951162777600]} scale:(inf.Scale)0}" in printed("resource.Quantity", "100Ti")


def test_fields_stand_in_the_order_of_the_struct_under_their_types() -> None:
    text = printed("*v1.Probe", {"httpGet": {"port": "http"}, "periodSeconds": 10})
    assert text.startswith("(*v1.Probe){ProbeHandler:(v1.ProbeHandler){Exec:(*v1.ExecAction)<nil> ")
    named = "Port:(intstr.IntOrString){Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)http}"
    assert f"HTTPGet:(*v1.HTTPGetAction){{Path:(string) {named}" in text
    assert "PeriodSeconds:(int32)10 " in text
    assert text.endswith("TerminationGracePeriodSeconds:(*int64)<nil>}")


def test_pairs_are_sorted_by_their_keys() -> None:
    assert printed("map[string]string", {"b": "2", "a": "1"}) == "(map[string]string)map[a:1 b:2]"


def test_the_hash_of_a_revision_is_of_its_data() -> None:
    assert revision_hash(b"{}", None) != revision_hash(b"{}", 0)
    assert revision_hash(b"{}", None).isalnum()
