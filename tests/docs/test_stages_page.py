"""docs/stages.md: its example can be read, and each key of the stages has its line."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import yaml

from controllers.kubelet.stages.answers import Answers, Printed
from controllers.kubelet.stages.pods import STAGES_KEY, STAGES_NAME, STAGES_NAMESPACE, Stages, stages_in

PAGE = (Path(__file__).parents[2] / "docs" / "stages.md").read_text()


def test_the_example_is_obeyed() -> None:
    found = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    document = yaml.safe_load(found[1])
    assert document["metadata"] == {"name": STAGES_NAME, "namespace": STAGES_NAMESPACE}
    assert list(document["data"]) == [STAGES_KEY]
    stages = stages_in(document)
    assert stages.restarts.first == 2000
    broken, shop = stages.of_image("broken:1"), stages.answers.of_logs("shop:2")
    assert broken is not None
    assert broken.exit == 42
    assert shop is not None
    assert shop.every is not None


def test_every_key_is_told() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert rows == [field.name for field in msgspec.structs.fields(Stages)]
    for field in (*msgspec.structs.fields(Answers), *msgspec.structs.fields(Printed)):
        assert f"`{field.name}`" in PAGE or f"`answers.{field.name}`" in PAGE or field.name == "image", field.name
