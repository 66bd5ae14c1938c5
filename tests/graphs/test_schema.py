from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from graphs.model import Graph
from graphs.schema import schema


@pytest.fixture
def validator(glm53: Graph) -> Any:
    described = schema(glm53)
    jsonschema.Draft202012Validator.check_schema(described)
    return jsonschema.Draft202012Validator(described)


def test_the_packaged_configurations_fit_the_schema(validator: Any, glm53: Graph) -> None:
    assert glm53.config is not None
    files = sorted(glm53.config.parent.glob("*.yaml"))
    assert Path("local.yaml") in {Path(file.name) for file in files}
    for file in files:
        validator.validate(yaml.safe_load(file.read_text()))


@pytest.mark.parametrize(
    "data",
    [
        {"Prefil": {}},
        {"Frontend": {"http-prt": 1}},
        {"Frontend": {"http-port": 70000}},
        {"Prefill": {"ServiceArgs": {"worker": "mock"}}},
        {"Prefill": {"ServiceArgs": {"resources": {"gpus": 1}}}},
        {"Runtime": {"discovery-backend": "consul"}},
        {"Decode": {"common-configs": "model-path"}},
    ],
)
def test_an_editor_marks_what_the_command_would_refuse(validator: Any, data: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(data)


def test_a_setting_of_any_of_the_workers_is_known(validator: Any, glm53: Graph) -> None:
    validator.validate({"Decode": {"seed": 1, "speedup-ratio": 2, "tensor-parallel-size": 4}})
    assert "Tokens of one KV block." in str(schema(glm53)["properties"]["Prefill"]["properties"]["block-size"])
