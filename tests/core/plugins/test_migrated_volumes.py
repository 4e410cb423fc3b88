"""In-tree volumes as their drivers serve them: names, places, and what no driver can serve."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.api.meta import view
from scheduler_core.api.storage import MIGRATED_PLUGINS, CSINode, PersistentVolume
from scheduler_core.volumes.migration import TranslationError, handle_of, in_tree_of, translated_affinity

ZONE, BETA = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
EBS = "topology.ebs.csi.aws.com/zone"
EVERYWHERE = ",".join(
    f"kubernetes.io/{name}" for name in ("gce-pd", "aws-ebs", "azure-disk", "cinder", "vsphere-volume")
)


def volume(labels: dict[str, str] | None = None, wanted: list[Any] | None = None, **source: Any) -> PersistentVolume:
    spec: dict[str, Any] = dict(source)
    if wanted is not None:
        expressions = [dict(zip(("key", "operator", "values"), one, strict=False)) for one in wanted]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    return view({"metadata": {"name": "v", "labels": labels or {}}, "spec": spec}, PersistentVolume)


def name_of(one: PersistentVolume) -> str:
    plugin = in_tree_of(one.spec)
    assert plugin is not None
    return handle_of(plugin, one.spec, one.metadata.labels)


def expressions(one: PersistentVolume, plugins: str = EVERYWHERE) -> list[tuple[str, str, tuple[str, ...]]]:
    csi_node = view({"metadata": {"name": "n", "annotations": {MIGRATED_PLUGINS: plugins}}}, CSINode)
    selector = translated_affinity(one, csi_node)
    terms = () if selector is None else selector.node_selector_terms
    return [(wanted.key, wanted.operator, wanted.values) for term in terms for wanted in term.match_expressions]


DISK = {"awsElasticBlockStore": {"volumeID": "vol-1"}}


@pytest.mark.parametrize(
    ("labels", "wanted", "found"),
    [
        ({}, [(ZONE, "In", ["z1"])], [(EBS, "In", ("z1",))]),
        ({}, None, []),
        # Zones of the affinity count before those of the labels.
        ({ZONE: "z2"}, [(ZONE, "In", ["z1"])], [(EBS, "In", ("z1",))]),
        # An expression without values says nothing of a zone, so it stays as it is.
        ({}, [(ZONE, "Exists")], [(ZONE, "Exists", ())]),
        ({ZONE: "z2"}, [(ZONE, "Exists")], [(ZONE, "Exists", ()), (EBS, "In", ("z2",))]),
        # Labels: each zone once, in order, without blanks; a label that names none adds nothing.
        ({ZONE: "b__ a __b"}, None, [(EBS, "In", ("a", "b"))]),
        ({ZONE: "__"}, None, []),
        ({ZONE: ""}, [("disk", "In", ["ssd"])], [("disk", "In", ("ssd",))]),
        # The old labels, and the region that goes with them.
        ({BETA: "z1"}, None, [(EBS, "In", ("z1",))]),
        (
            {},
            [(BETA, "In", ["z1"]), (BETA_REGION, "In", ["r"])],
            [(EBS, "In", ("z1",)), ("topology.kubernetes.io/region", "In", ("r",))],
        ),
        (
            {BETA: "z1"},
            [(BETA_REGION, "In", ["r"])],
            [("topology.kubernetes.io/region", "In", ("r",)), (EBS, "In", ("z1",))],
        ),
        ({ZONE: "z1", BETA: "z2"}, [(BETA_REGION, "In", ["r"])], [(BETA_REGION, "In", ("r",)), (EBS, "In", ("z1",))]),
        # The affinity's old zone counts before a new label.
        ({ZONE: "z1"}, [(BETA, "In", ["z2"])], [(EBS, "In", ("z2",))]),
    ],
)
def test_a_zone_is_told_in_the_drivers_label(labels: dict[str, str], wanted: Any, found: Any) -> None:
    assert expressions(volume(labels, wanted, **DISK)) == found


@pytest.mark.parametrize(
    "source",
    [{"azureDisk": {"diskURI": "/s/d"}}, {"vsphereVolume": {"volumePath": "p"}}, {"nfs": {"server": "s"}}],
)
def test_other_volumes_keep_their_affinity(source: dict[str, Any]) -> None:
    assert expressions(volume({ZONE: "z2"}, [(ZONE, "In", ["z1"])], **source)) == [(ZONE, "In", ("z1",))]


def test_nothing_is_translated_where_the_node_announces_no_driver() -> None:
    wanted = [(ZONE, "In", ["z1"])]
    assert expressions(volume({}, wanted, **DISK), "kubernetes.io/gce-pd") == [(ZONE, "In", ("z1",))]
    unusable = volume({}, wanted, azureDisk={"diskURI": "d", "kind": "Shared"})
    assert expressions(unusable, "") == [(ZONE, "In", ("z1",))]


@pytest.mark.parametrize(
    ("labels", "source", "name"),
    [
        ({}, {"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}, "vol-1"),
        ({}, {"awsElasticBlockStore": {"volumeID": "aws:///vol-1"}}, "vol-1"),
        ({}, {"awsElasticBlockStore": {"volumeID": "anything"}}, "anything"),
        ({}, {"azureDisk": {"diskURI": "/s/d", "kind": "managed"}}, "/s/d"),
        ({}, {"gcePersistentDisk": {"pdName": "d"}}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({ZONE: "a-b-c"}, {"gcePersistentDisk": {"pdName": "d"}}, "projects/UNSPECIFIED/zones/a-b-c/disks/d"),
        # The old label counts before the new one.
        ({ZONE: "a-b-c", BETA: "x"}, {"gcePersistentDisk": {"pdName": "d"}}, "projects/UNSPECIFIED/zones/x/disks/d"),
        ({ZONE: "a-b-c__a-b-d"}, {"gcePersistentDisk": {"pdName": "d"}}, "projects/UNSPECIFIED/regions/a-b/disks/d"),
    ],
)
def test_a_driver_calls_a_volume_so(labels: dict[str, str], source: dict[str, Any], name: str) -> None:
    assert name_of(volume(labels, None, **source)) == name


@pytest.mark.parametrize(
    ("labels", "source", "text"),
    [
        (
            {ZONE: "z1__z2"},
            {"gcePersistentDisk": {"pdName": "d"}},
            "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: z1",
        ),
        (
            {ZONE: "a-b-c__x-y-z"},
            {"gcePersistentDisk": {"pdName": "d"}},
            "failed to get region from zones: multiple or no regions gotten from zones, got: map[a-b:{} x-y:{}]",
        ),
        (
            {},
            {"awsElasticBlockStore": {"volumeID": "aws://zone/disk"}},
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/disk)",
        ),
        ({}, {"azureDisk": {"diskURI": "d", "kind": "Shared"}}, "kind(Shared) is not supported in csi migration"),
    ],
)
def test_what_no_driver_can_serve_is_an_error(labels: dict[str, str], source: dict[str, Any], text: str) -> None:
    one = volume(labels, None, **source)
    with pytest.raises(TranslationError) as named:
        name_of(one)
    assert str(named.value) == text
    with pytest.raises(TranslationError) as placed:
        expressions(one)
    assert str(placed.value) == f"could not translate pv: {text}"
