from collections.abc import Callable

from graphs.machine import Machine, free_ports
from graphs.preflight import preflight
from graphs.process import Plan
from tests.graphs.conftest import Resolve


def test_every_check_is_made_and_passes_for_the_packaged_graph(
    configure: Resolve, lay_out: Callable[..., Plan]
) -> None:
    config = configure(f"--Frontend.http-port={free_ports(1)[0]}")
    checks = list(preflight(config, lay_out(config), Machine()))
    assert [str(check) for check in checks if not check.ok] == []
    names = [check.name.partition(" port")[0] for check in checks]
    assert names == [
        "ai-dynamo",
        "ai-dynamo-runtime",
        "xgrammar",
        "dynamo namespace",
        "model",
        "KV block size",
        "model name",
        "Frontend",
    ]


def test_one_service_is_not_held_up_by_the_others(configure: Resolve, lay_out: Callable[..., Plan]) -> None:
    text = "Prefill: {model-path: /nowhere}\nDecode: {model-path: stand-in, model-name: x}\n"
    config = configure("--Runtime.store-path=/shared", text=text)
    checks = list(preflight(config, lay_out(config, only="Decode"), Machine(), only="Decode"))
    assert [check.found for check in checks if check.name == "model"] == ["stand-in, made at the start"]
    assert not any(check.name.startswith("Frontend") for check in checks)
