from components.local.args import parser
from graphs.settings.local import LocalSettings
from tests.graphs.settings import parsers

# `Runtime` decides these for all services.
PLANES = {"discovery-backend", "request-plane", "event-plane"}

VALUES = {"model-path": "m", "model-name": "n", "inter-token-latency-ms": 0.0, "seed": 3, "max-model-len": 100}


def test_the_settings_are_the_flags_of_the_worker() -> None:
    assert set(LocalSettings.names()) == set(parsers.of(parser())) - PLANES


def test_the_worker_parses_what_the_settings_say() -> None:
    settings = LocalSettings.model_validate(VALUES)
    parsed = vars(parser().parse_args([*settings.arguments()]))
    assert {name: str(parsed[name.replace("-", "_")]) for name in VALUES} == {
        name: str(value) for name, value in VALUES.items()
    }
