import json

import pytest

from graphs import cli


def test_the_schema_is_written_for_editors(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["config", "schema"]) == 0
    schema = json.loads(capfd.readouterr().out)
    assert schema["properties"]["Frontend"]["properties"]["http-port"]["maximum"] == 65535
