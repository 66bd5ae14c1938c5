from components.frontend.args import parser
from graphs.settings.frontend import FrontendSettings
from tests.graphs.settings import parsers

# `Runtime` decides these for all services.
PLANES = {"discovery-backend", "request-plane", "event-plane"}

VALUES = {"http-host": "127.0.0.2", "http-port": 9000, "router-mode": "direct", "stream-interval-ms": 2.5}


def test_the_settings_are_the_flags_of_the_worker() -> None:
    assert set(FrontendSettings.names()) == set(parsers.of(parser())) - PLANES


def test_the_worker_parses_what_the_settings_say() -> None:
    settings = FrontendSettings.model_validate(VALUES)
    parsed = vars(parser().parse_args([*settings.arguments()]))
    assert {name: str(parsed[name.replace("-", "_")]) for name in VALUES} == {
        name: str(value) for name, value in VALUES.items()
    }
