import pytest
from pydantic import ValidationError

from graphs.settings.launch import ServiceArgs


def test_environment_values_may_be_written_as_numbers() -> None:
    assert ServiceArgs.model_validate({"envs": {"A": 1}}).envs == {"A": "1"}


@pytest.mark.parametrize(
    "data",
    [
        {"workers": -1},
        {"restart": "never"},
        {"resources": {"gpu": -1}},
        {"resources": {"gpus": 1}},
        {"drain-seconds": 0},
    ],
)
def test_what_makes_no_sense_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ServiceArgs.model_validate(data)
