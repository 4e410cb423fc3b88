"""What upstream says of a body that it cannot read, to the letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controllers.log.stamps import wire_time
from controllers.registry import decoding
from controllers.registry.checking import check
from tests.registry.registry_tool import Cluster


def _spec(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "image": "x"}], **fields}}


def _container(**fields: Any) -> dict[str, Any]:
    return _spec(containers=[{"name": "c", **fields}])


_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


_LIMITS = "ResourceRequirements.spec.containers.resources.limits"
_PORT = "HTTPGetAction.spec.containers.livenessProbe.httpGet.port"
_GRACE = "PodSpec.spec.terminationGracePeriodSeconds"
_MODES = "PersistentVolumeClaimSpec.spec.accessModes"


@pytest.mark.parametrize(
    ("schema", "document", "given", "field", "of"),
    [
        ("Pod", {"spec": "x"}, "string", "Pod.spec", "v1.PodSpec"),
        ("Pod", _spec(containers={}), "object", "PodSpec.spec.containers", "[]v1.Container"),
        ("Pod", _spec(containers=["x"]), "string", "PodSpec.spec.containers", "v1.Container"),
        ("Pod", _container(image=1), "number", "Container.spec.containers.image", "string"),
        ("Pod", _spec(restartPolicy=1), "number", "PodSpec.spec.restartPolicy", "v1.RestartPolicy"),
        ("Pod", _spec(priority=2**31), "number 2147483648", "PodSpec.spec.priority", "int32"),
        ("Pod", _spec(priority=1.5), "number 1.5", "PodSpec.spec.priority", "int32"),
        ("Pod", _spec(terminationGracePeriodSeconds="x"), "string", _GRACE, "int64"),
        ("Pod", _container(resources={"limits": "x"}), "string", _LIMITS, "v1.ResourceList"),
        ("Pod", _container(livenessProbe={"httpGet": {"port": True}}), "bool", _PORT, "int32"),
        ("Pod", {"metadata": {"labels": {"a.b/c": 1}}}, "number", "ObjectMeta.metadata.labels", "string"),
        ("Pod", {"metadata": {"creationTimestamp": 5}}, "number", "ObjectMeta.metadata.creationTimestamp", "string"),
        ("Secret", {"data": {"k": 1}}, "number", "Secret.data", "[]uint8"),
        ("PersistentVolumeClaim", {"spec": {"accessModes": [1]}}, "number", _MODES, "v1.PersistentVolumeAccessMode"),
    ],
)
def test_a_wrong_type_is_told_as_go_tells_it(
    schema: str, document: dict[str, Any], given: str, field: str, of: str
) -> None:
    said = f"json: cannot unmarshal {given} into Go struct field {field} of type {of}"
    assert check(document, f"core_v1.{schema}").wrong[0].message == said


def test_every_struct_is_told_of_once() -> None:
    # Of two lines the later one would hide the other's fields.
    path = Path(decoding.__file__).with_name("go_types.txt")
    structs = [line.partition(": ")[0] for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert sorted(structs) == sorted(decoding.go_types())
    said = "json: cannot unmarshal number 2147483648 into Go struct field {} of type int32"
    spec = {"spec": {"groupPriorityMinimum": 2**31}}
    [wrong] = check(spec, "apiregistration_v1.APIService").wrong
    assert wrong.message == said.format("APIServiceSpec.spec.groupPriorityMinimum")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", _FORM),
        ("abc", _FORM),
        ("1 Gi", _FORM),
        ("1.5.2", _FORM),
        ("1e", "unable to parse quantity's suffix"),
        ("1KiB", _FORM),
        ("1kk", "unable to parse quantity's suffix"),
        ("m5", "unable to parse quantity's suffix"),
        ("--5", "unable to parse quantity's suffix"),
    ],
)
def test_quantities(text: str, said: str) -> None:
    assert [cause.message for cause in check(_spec(overhead={"cpu": text}), "core_v1.Pod").wrong] == [said]


@pytest.mark.parametrize(
    ("text", "micro", "said"),
    [
        ("2024-02-29T10:00:00Z", False, ""),
        ("2024-02-29T10:00:00.123456789+02:00", False, ""),
        ("2024-02-29T10:00:00.000000Z", True, ""),
        ("x", False, ' as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
        ("2024-1-01T00:00:00Z", False, ' as "2006-01-02T15:04:05Z07:00": cannot parse "1-01T00:00:00Z" as "01"'),
        ("2024-01-01", False, ' as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        ("2024-01-01T00:00:00", False, ' as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'),
        ("2024-13-01T00:00:00Z", False, ": month out of range"),
        ("2023-02-29T00:00:00Z", False, ": day out of range"),
        ("2024-01-01T24:00:00Z", False, ": hour out of range"),
        ("2024-01-01T00:00:00Zx", False, ': extra text: "x"'),
        ("2020-01-01T00:00:00Z", True, ' as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'),
    ],
)
def test_times(text: str, micro: bool, said: str) -> None:
    assert decoding.time_error(text, micro=micro) == (f'parsing time "{text}"{said}' if said else "")


@pytest.mark.parametrize(
    ("text", "place"),
    [("", None), ("YQ==", None), ("YWI=", None), ("YWJj", None), ("YW\nJj", None), ("YWJjZ", 4), ("YQ", 0), ("YQ=", 3),
     ("YQ=a", 2), ("Y===", 1), ("YQ==YQ==", 4), ("!!!", 0), ("YWJj*", 4)],
)  # fmt: skip
def test_bytes(text: str, place: int | None) -> None:
    assert decoding.base64_error(text) == ("" if place is None else f"illegal base64 data at input byte {place}")


def test_the_first_years_are_written_with_four_digits() -> None:
    stored = Cluster().create(
        "leases.coordination.k8s.io", "old", {"spec": {"renewTime": "0001-01-01T02:00:02.500000+02:00"}}
    )
    assert stored["spec"]["renewTime"] == "0001-01-01T00:00:02.500000Z"
    assert wire_time(-62_135_596_800_000) == "0001-01-01T00:00:00Z"
