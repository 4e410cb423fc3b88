"""Claims and volumes in a running session: bound, made, waited for, raced for, reclaimed, kept while they are used."""

from __future__ import annotations

import pytest

from controllers.log.operations import Delete, Patch
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from tests.tools.lab import Document, Lab, node, pod
from tests.tools.storage import (
    HOST,
    ZONE,
    bound_to,
    claim,
    labelled,
    local_class,
    phase,
    place,
    storage_class,
    using,
    volume,
)


class TestImmediate:
    def test_a_claim_takes_the_smallest_volume_that_is_large_enough(self) -> None:
        volumes = [
            volume("tiny", "1Gi"),
            volume("large", "100Gi"),
            volume("right", "6Gi"),
            volume("fast", class_name="x"),
        ]
        lab = Lab([node("n1"), *volumes])
        lab.run(1)
        assert phase(lab, "right") == "Available"
        lab.create(claim("data", class_name=""), using("p", "data"))
        lab.run(10)
        assert bound_to(lab, "data") == ("Bound", "right")
        found = lab.get("persistentvolumeclaims", "data")
        assert found["status"]["capacity"] == {"storage": "6Gi"}
        assert phase(lab, "right") == "Bound"
        reference = lab.get("persistentvolumes", "right", "")["spec"]["claimRef"]
        assert (reference["name"], reference["uid"]) == ("data", found["metadata"]["uid"])
        assert lab.get("pods", "p")["status"]["phase"] == "Running"

    def test_a_pod_waits_for_its_claim_and_goes_on_once_it_is_bound(self) -> None:
        lab = Lab([node("n1"), claim("data", class_name=""), using("p", "data")])
        lab.run(5)
        condition = lab.get("pods", "p")["status"]["conditions"][0]
        assert condition["message"] == (
            "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
        )
        assert "FailedBinding" in lab.reasons("data")
        lab.create(volume("disk"))
        lab.run(20)
        assert bound_to(lab, "data") == ("Bound", "disk")
        assert lab.get("pods", "p")["status"]["phase"] == "Running"

    def test_a_missing_claim_is_named(self) -> None:
        lab = Lab([node("n1"), using("p", "data")])
        lab.run(2)
        condition = lab.get("pods", "p")["status"]["conditions"][0]
        assert condition["message"].startswith('0/1 nodes are available: persistentvolumeclaim "data" not found.')

    def test_a_claim_that_names_a_volume_gets_that_one_or_waits(self) -> None:
        lab = Lab([volume("small", "1Gi"), volume("named", "50Gi"), volume("other")])
        lab.create(claim("data", class_name="", volumeName="named"), claim("big", class_name="", volumeName="small"))
        lab.run(5)
        assert bound_to(lab, "data") == ("Bound", "named")
        assert bound_to(lab, "big") == ("Pending", "small")
        assert "VolumeMismatch" in lab.reasons("big")

    def test_a_volume_kept_for_a_claim_is_nobody_elses(self) -> None:
        kept = volume("kept", claimRef={"namespace": "default", "name": "mine"})
        lab = Lab([kept])
        lab.create(claim("other", class_name=""))
        lab.run(2)
        assert bound_to(lab, "other") == ("Pending", "")
        lab.create(claim("mine", class_name=""))
        lab.run(2)
        assert bound_to(lab, "mine") == ("Bound", "kept")

    def test_a_bound_pair_from_another_cluster_is_bound_here(self) -> None:
        one = claim("data", class_name="", volumeName="disk")
        one["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        lab = Lab([volume("disk", claimRef={"namespace": "default", "name": "data"}), one])
        lab.run(2)
        assert bound_to(lab, "data") == ("Bound", "disk")
        uid = lab.get("persistentvolumeclaims", "data")["metadata"]["uid"]
        assert lab.get("persistentvolumes", "disk", "")["spec"]["claimRef"]["uid"] == uid
        assert phase(lab, "disk") == "Bound"

    def test_a_volume_that_has_come_unbound_is_bound_to_its_claim_again(self) -> None:
        lab = Lab([volume("disk"), claim("data", class_name="")])
        lab.run(5)
        assert bound_to(lab, "data") == ("Bound", "disk")
        lab.do(Patch("persistentvolumes", "", "disk", {"spec": {"claimRef": None}}))
        lab.run(1)
        assert phase(lab, "disk") == "Available"
        lab.run(20)
        uid = lab.get("persistentvolumeclaims", "data")["metadata"]["uid"]
        assert lab.get("persistentvolumes", "disk", "")["spec"]["claimRef"]["uid"] == uid
        assert phase(lab, "disk") == "Bound"

    def test_a_class_makes_a_volume_after_a_while(self) -> None:
        lab = Lab([node("n1"), storage_class("fast", late=False), claim("data", class_name="fast"), using("p", "data")])
        lab.run(1)
        assert bound_to(lab, "data") == ("Pending", "")
        lab.run(10)
        name = f"pvc-{lab.get('persistentvolumeclaims', 'data')['metadata']['uid']}"
        assert bound_to(lab, "data") == ("Bound", name)
        made = lab.get("persistentvolumes", name, "")
        assert made["spec"]["csi"]["driver"] == "disk.example.dev"
        assert made["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
        assert lab.reasons("data") == ["ExternalProvisioning", "Provisioning", "ProvisioningSucceeded"]
        assert lab.get("pods", "p")["status"]["phase"] == "Running"

    def test_a_class_that_is_not_there_makes_none(self) -> None:
        lab = Lab([claim("data", class_name="ghost")])
        lab.run(2)
        assert lab.reasons("data") == ["ProvisioningFailed"]

    def test_claims_get_a_default_class_that_comes_later(self) -> None:
        lab = Lab([claim("data", class_name=None)])
        lab.run(1)
        default = storage_class("fast", late=False)
        default["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
        lab.create(default)
        lab.run(30)
        assert lab.get("persistentvolumeclaims", "data")["spec"]["storageClassName"] == "fast"
        assert bound_to(lab, "data")[0] == "Bound"


class TestFirstConsumer:
    def test_the_pod_goes_where_the_volume_is(self) -> None:
        lab = Lab([node("n1"), node("n2"), node("n3"), local_class(), claim("data", class_name="local"),
                   volume("disk", class_name="local", at=(HOST, "n2"))])  # fmt: skip
        lab.run(3)
        assert bound_to(lab, "data") == ("Pending", "")
        assert lab.reasons("data") == ["WaitForFirstConsumer"]
        lab.create(using("p", "data"))
        lab.run(6)
        assert place(lab, "p") == "n2"
        assert bound_to(lab, "data") == ("Bound", "disk")
        assert lab.get("pods", "p")["status"]["phase"] == "Running"

    def test_two_pods_in_flight_never_take_one_volume(self) -> None:
        lab = Lab([node("n1"), node("n2"), local_class(), volume("disk", class_name="local", at=(HOST, "n1"))])
        lab.run(2)
        lab.create(claim("a", class_name="local"), claim("b", class_name="local"), using("p", "a"), using("q", "b"))
        lab.run(10)
        assert sorted([bound_to(lab, "a"), bound_to(lab, "b")]) == [("Bound", "disk"), ("Pending", "")]
        late = "q" if place(lab, "p") else "p"
        assert place(lab, late) == ""
        message = lab.get("pods", late)["status"]["conditions"][0]["message"]
        assert message.startswith(
            "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind."
        )
        # Not a single write of the loser's: the first one's reservation was seen.
        writes = [row for row in lab.rows() if row.resource == "persistentvolumes" and row.actor == "kube-scheduler-0"]
        assert len(writes) == 1

    def test_what_a_pod_on_its_way_has_taken_is_in_the_next_ones_input_and_its_replay(self) -> None:
        lab = Lab([node("n1"), node("n2"), local_class(), volume("disk", class_name="local", at=(HOST, "n1"))])
        lab.run(2)
        lab.create(claim("a", class_name="local"), claim("b", class_name="local"), using("p", "a"), using("q", "b"))
        lab.run(0.5)
        traces = [list(lab.store.traces(lab.get("pods", name)["metadata"]["uid"])) for name in ("p", "q")]
        (_, _), (envelope, blob) = sorted((found[-1] for found in traces), key=lambda one: "volumes" in one[0]["input"])
        assert list(envelope["input"]["volumes"]) == ["disk"]
        kept, replayed = whole(Past(lab.store), envelope, blob), whole(Past(lab.store), envelope, b"")
        assert replayed["result"] == kept["result"]
        assert kept["result"]["result"] == "unschedulable"

    @pytest.mark.parametrize("bound_by", ["zone", "allowed"])
    def test_a_volume_is_made_in_the_zone_of_the_chosen_node(self, bound_by: str) -> None:
        more = (
            {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]}
            if bound_by == "allowed"
            else {}
        )
        lab = Lab([labelled("n1", zone="a"), labelled("n2", zone="b"), storage_class(**more), claim("data")])
        lab.create(using("p", "data", nodeSelector={ZONE: "b"} if bound_by == "zone" else {}))
        lab.run(10)
        assert place(lab, "p") == "n2"
        made = lab.get("persistentvolumes", bound_to(lab, "data")[1], "")
        (term,) = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        assert term["matchExpressions"] == [{"key": ZONE, "operator": "In", "values": ["b"]}]
        assert lab.get("pods", "p")["status"]["phase"] == "Running"
        # The next pod with this claim has only one place left to go.
        lab.do(Delete("pods", "default", "p", grace_period_seconds=0))
        lab.create(using("q", "data", nodeSelector={ZONE: "a"}))
        lab.run(5)
        message = lab.get("pods", "q")["status"]["conditions"][0]["message"]
        assert "1 node(s) didn't match Pod's node affinity/selector" in message
        assert "1 node(s) didn't match PersistentVolume's node affinity" in message

    def test_a_binding_that_takes_too_long_is_given_up_and_tried_again(self) -> None:
        lab = Lab([node("n1"), storage_class(provisioner="disk.example.dev"), claim("data")])
        profile = {"schedulerName": "default-scheduler",
                   "pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 1}}]}  # fmt: skip
        lab.do(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": {"era": "v1.34", "configuration": {
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile],
        }}}))  # fmt: skip
        lab.run(1)
        lab.create(using("p", "data"))
        lab.run(1.5)
        condition = lab.get("pods", "p")["status"]["conditions"][0]
        assert (condition["reason"], condition["message"]) == (
            "SchedulerError",
            'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
        )
        lab.run(20)
        assert lab.get("pods", "p")["status"]["phase"] == "Running"

    def test_a_node_that_goes_while_a_volume_is_made_sends_the_pod_elsewhere(self) -> None:
        lab = Lab(
            [labelled("n1", zone="a"), labelled("n2", zone="b"), storage_class(), claim("data"), using("p", "data")]
        )
        lab.run(1)
        first = lab.get("persistentvolumeclaims", "data")["metadata"]["annotations"][
            "volume.kubernetes.io/selected-node"
        ]
        lab.do(Delete("nodes", "", first))
        lab.run(40)
        assert place(lab, "p") == ({"n1", "n2"} - {first}).pop()
        assert bound_to(lab, "data")[0] == "Bound"

    @pytest.mark.parametrize("pace", [0, 200])
    def test_while_time_stands_another_pod_is_stepped_past_one_that_waits_for_its_volume(self, pace: int) -> None:
        lab = Lab([node("n1"), local_class(), claim("data", class_name="local"),
                   volume("disk", class_name="local", at=(HOST, "n1"))], pace=pace)  # fmt: skip
        lab.run(3)
        lab.ask("clocks.clustersim.io", "clock", {"paused": True})
        lab.create(using("p", "data"), pod("q"))
        lab.cluster.pull()
        lab.step("cycle", 2)
        for _ in range(20):
            lab.step("point")
        # The second has gone all its way; the first waits for the volume, and that takes time.
        assert (place(lab, "p"), place(lab, "q")) == ("", "n1")
        lab.step("seconds", 5)
        assert place(lab, "p") == "n1"
        assert bound_to(lab, "data") == ("Bound", "disk")

    def test_a_crash_in_the_middle_of_a_binding_is_made_good(self) -> None:
        lab = Lab([node("n1"), storage_class(), claim("data"), using("p", "data")], replicas=2)
        lab.run(1)
        assert (
            "volume.kubernetes.io/selected-node" in lab.get("persistentvolumeclaims", "data")["metadata"]["annotations"]
        )
        lab.do(Patch("replicas.clustersim.io", "", "kube-scheduler-0", {"spec": {"fault": {"id": 1, "kind": "crash"}}}))
        lab.do(Patch("replicas.clustersim.io", "", "kube-scheduler-1", {"spec": {"fault": {"id": 1, "kind": "crash"}}}))
        lab.obey()
        lab.run(10)
        assert place(lab, "p") == ""
        for name in ("kube-scheduler-0", "kube-scheduler-1"):
            lab.do(Patch("replicas.clustersim.io", "", name, {"spec": {"fault": {"id": 2, "kind": "recover"}}}))
        lab.obey()
        lab.run(40)
        assert place(lab, "p") == "n1"
        assert lab.get("pods", "p")["status"]["phase"] == "Running"

    def test_a_claim_of_one_pod_alone_is_refused_to_a_second(self) -> None:
        lab = Lab([node("n1"), volume("disk", accessModes=["ReadWriteOncePod"]),
                   claim("data", class_name="", accessModes=["ReadWriteOncePod"]), using("p", "data")])  # fmt: skip
        lab.run(20)
        assert place(lab, "p") == "n1"
        lab.create(using("q", "data"))
        lab.run(2)
        message = lab.get("pods", "q")["status"]["conditions"][0]["message"]
        assert "PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod" in message


class TestEnd:
    def test_a_claim_goes_after_its_pod_and_its_volume_after_it(self) -> None:
        lab = Lab([node("n1"), storage_class(), claim("data"), using("p", "data")])
        lab.run(10)
        name = bound_to(lab, "data")[1]
        lab.do(Delete("persistentvolumeclaims", "default", "data"))
        lab.do(Delete("persistentvolumes", "", name))
        lab.run(10)
        assert "deletionTimestamp" in lab.get("persistentvolumeclaims", "data")["metadata"]
        assert phase(lab, name) == "Bound"
        lab.do(Delete("pods", "default", "p"))
        lab.run(10)
        assert lab.list("persistentvolumeclaims") == lab.list("persistentvolumes") == []

    @pytest.mark.parametrize(
        ("policy", "source", "outcome"),
        [
            ("Retain", {}, "Released"),
            ("Delete", {"hostPath": {"path": "/tmp/disk"}}, ""),
            ("Delete", {"hostPath": {"path": "/tmp/"}}, "Failed"),
            ("Delete", {}, "Failed"),
            ("Recycle", {}, "Available"),
            ("Delete", {"csi": {"driver": "a", "volumeHandle": "b"}}, "Released"),
            ("Recycle", {"csi": {"driver": "a", "volumeHandle": "b"}}, "Failed"),
        ],
    )
    def test_what_becomes_of_a_volume_without_its_claim(self, policy: str, source: Document, outcome: str) -> None:
        lab = Lab([volume("disk", persistentVolumeReclaimPolicy=policy, **source), claim("data", class_name="")])
        lab.run(2)
        assert bound_to(lab, "data") == ("Bound", "disk")
        lab.do(Delete("persistentvolumeclaims", "default", "data"))
        lab.run(2)
        left = lab.list("persistentvolumes")
        assert [one["status"]["phase"] for one in left] == ([outcome] if outcome else [])
        if outcome == "Failed":
            assert lab.reasons("disk") == [f"VolumeFailed{policy}"]
        if outcome == "Released":
            lab.do(Patch("persistentvolumes", "", "disk", {"spec": {"claimRef": None}}))
            lab.run(1)
            assert phase(lab, "disk") == "Available"

    def test_a_volume_made_for_a_class_goes_with_its_claim(self) -> None:
        lab = Lab([storage_class("fast", late=False), claim("data", class_name="fast")])
        lab.run(10)
        assert len(lab.list("persistentvolumes")) == 1
        lab.do(Delete("persistentvolumeclaims", "default", "data"))
        lab.run(5)
        assert lab.list("persistentvolumes") == []

    def test_a_claim_whose_volume_is_gone_is_lost(self) -> None:
        lab = Lab([volume("disk"), claim("data", class_name="")])
        lab.run(2)
        lab.do(Delete("persistentvolumes", "", "disk"))
        lab.do(Patch("persistentvolumes", "", "disk", {"metadata": {"finalizers": None}}))
        lab.run(2)
        assert bound_to(lab, "data") == ("Lost", "disk")
        assert lab.get("persistentvolumeclaims", "data")["status"] == {"phase": "Lost"}
        assert lab.reasons("data")[-1] == "ClaimLost"

    def test_a_claim_that_asks_for_the_volume_of_another_says_so(self) -> None:
        asking = claim("late", class_name="")
        asking["spec"]["volumeName"] = "disk"
        lab = Lab([volume("disk"), claim("data", class_name="")])
        lab.run(2)
        lab.create(asking)
        lab.run(2)
        assert bound_to(lab, "late") == ("Pending", "disk")
        assert lab.reasons("late") == ["FailedBinding"]

    def test_a_namespace_takes_its_claims_along(self) -> None:
        lab = Lab([storage_class("fast", late=False)])
        home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        one = claim("data", class_name="fast")
        one["metadata"]["namespace"] = "team"
        lab.create(home, one)
        lab.run(10)
        lab.do(Delete("namespaces", "", "team"))
        lab.run(40)
        assert lab.list("persistentvolumeclaims") == lab.list("persistentvolumes") == []
        assert lab.store.get("namespaces", "", "team") is None


def test_a_claim_grows_where_its_class_lets_it() -> None:
    lab = Lab([storage_class("fast", late=False, allowVolumeExpansion=True), claim("data", class_name="fast")])
    lab.run(10)
    lab.do(
        Patch("persistentvolumeclaims", "default", "data", {"spec": {"resources": {"requests": {"storage": "9Gi"}}}})
    )
    lab.run(10)
    assert lab.get("persistentvolumeclaims", "data")["status"]["capacity"] == {"storage": "9Gi"}
    assert lab.reasons("data")[-2:] == ["Resizing", "VolumeResizeSuccessful"]


def test_a_class_of_an_in_tree_plugin_asks_the_driver_that_serves_it() -> None:
    lab = Lab([storage_class("old", "kubernetes.io/gce-pd", late=False), claim("data", class_name="old")])
    lab.run(10)
    asked = lab.get("persistentvolumeclaims", "data")["metadata"]["annotations"]
    assert asked["volume.kubernetes.io/storage-provisioner"] == "pd.csi.storage.gke.io"
    assert bound_to(lab, "data")[0] == "Bound"
    assert any("external provisioner 'pd.csi.storage.gke.io'" in one["message"] for one in lab.list("events"))


def test_a_volume_names_its_claim_in_the_version_that_was_bound() -> None:
    lab = Lab([node("n1"), local_class(), volume("disk", class_name="local"), claim("data", class_name="local")])
    lab.run(5)
    seen = lab.get("persistentvolumeclaims", "data")["metadata"]["resourceVersion"]
    lab.create(using("p", "data"))
    lab.run(10)
    assert lab.get("persistentvolumes", "disk", "")["spec"]["claimRef"]["resourceVersion"] == seen


class TestEphemeral:
    def scratch(self, name: str) -> Document:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": claim("x")["spec"]}
        return pod(name, volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}])

    def test_its_claim_comes_and_goes_with_the_pod(self) -> None:
        lab = Lab([node("n1"), storage_class(), self.scratch("p")])
        lab.run(10)
        made = lab.get("persistentvolumeclaims", "p-scratch")
        assert made["metadata"]["labels"] == {"a": "b"}
        assert made["metadata"]["ownerReferences"][0]["uid"] == lab.get("pods", "p")["metadata"]["uid"]
        assert lab.get("pods", "p")["status"]["phase"] == "Running"
        lab.do(Delete("pods", "default", "p"))
        lab.run(10)
        assert lab.list("persistentvolumeclaims") == lab.list("persistentvolumes") == []

    def test_anothers_claim_of_that_name_is_not_taken(self) -> None:
        lab = Lab([node("n1"), storage_class(), claim("p-scratch"), self.scratch("p")])
        lab.run(3)
        message = lab.get("pods", "p")["status"]["conditions"][0]["message"]
        why = "PVC default/p-scratch was not created for pod default/p (pod is not owner)"
        assert why in message
        told = {
            row.object["message"]: row.object["source"]["component"]
            for row in lab.rows()
            if row.resource == "events" and row.object["reason"] == "FailedBinding"
        }
        assert told == {f"ephemeral volume scratch: {why}": "ephemeral_volume"}
        lab.do(Delete("persistentvolumeclaims", "default", "p-scratch"))
        lab.run(60)
        assert lab.get("pods", "p")["status"]["phase"] == "Running"


class TestKubelet:
    def test_a_pod_that_skipped_the_scheduler_starts_when_its_claim_is_bound(self) -> None:
        lab = Lab([node("n1"), claim("data", class_name=""), using("p", "data", "gone", nodeName="n1")])
        lab.run(5)
        assert lab.get("pods", "p")["status"]["phase"] == "Pending"
        (event,) = [one for one in lab.list("events") if one["reason"] == "FailedMount"]
        assert event["message"] == (
            "Unable to attach or mount volumes: unmounted volumes=[data gone], unattached volumes=[], "
            "failed to process volumes=[data gone]: error processing PVC default/data: PVC is not bound, "
            "error processing PVC default/gone: failed to fetch PVC from API server: "
            'persistentvolumeclaims "gone" not found'
        )
        lab.create(volume("disk"), claim("gone", class_name=""), volume("other"))
        lab.run(5)
        assert lab.get("pods", "p")["status"]["phase"] == "Running"

    def test_a_node_says_which_drivers_it_runs(self) -> None:
        one = labelled("n1", zone="a")
        one["metadata"]["annotations"] = {"clustersim.io/csi-drivers": "disk.example.dev=1, net.example.dev"}
        lab = Lab([one, node("n2"), storage_class(), claim("a"), claim("b")])
        lab.create(using("p", "a", nodeSelector={ZONE: "a"}))
        lab.run(10)
        (found,) = lab.list("csinodes.storage.k8s.io")
        zone = {"topologyKeys": [ZONE], "nodeID": "n1"}
        assert found["spec"]["drivers"] == [
            {"name": "disk.example.dev", "allocatable": {"count": 1}, **zone}, {"name": "net.example.dev", **zone},
        ]  # fmt: skip
        lab.create(using("q", "b", nodeSelector={ZONE: "a"}))
        lab.run(2)
        assert "1 node(s) exceed max volume count" in lab.get("pods", "q")["status"]["conditions"][0]["message"]
        lab.do(Delete("nodes", "", "n1"))
        lab.run(2)
        assert lab.list("csinodes.storage.k8s.io") == []


def test_a_class_of_attributes_stays_while_a_claim_has_it() -> None:
    classes = "volumeattributesclasses.storage.k8s.io"
    fast = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttributesClass",
        "metadata": {"name": "fast"},
        "driverName": "a.example.dev",
        "parameters": {"iops": "3000"},
    }
    waiting = claim("data", class_name="none")
    waiting["spec"]["volumeAttributesClassName"] = "fast"
    lab = Lab([node("n1"), fast, waiting])
    lab.run(1)
    lab.do(Delete(classes, "", "fast"))
    lab.run(5)
    assert "deletionTimestamp" in lab.get(classes, "fast", "")["metadata"]
    lab.do(Delete("persistentvolumeclaims", "default", "data"))
    lab.run(5)
    assert lab.store.get(classes, "", "fast") is None
