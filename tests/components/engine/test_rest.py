import sys

import pytest

from components.engine import rest


def test_nothing_is_touched_where_no_rest_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(rest.VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "nixl_cu12", None)
    monkeypatch.setitem(sys.modules, "vllm", None)
    rest.register()


@pytest.mark.parametrize("said", ["1ms", "-1", "0.5"])
def test_a_rest_that_is_no_number_of_microseconds_is_refused(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rest.VARIABLE, said)
    with pytest.raises(ValueError, match=f"DYNAMO_GLM_REST_US={said}: it is a number of microseconds"):
        rest.register()
