"""A Mooncake store behind a real prefill engine, and an engine that lets reasoning pass by itself: one small graph."""

import signal
from typing import Any

import pytest

from graphs.machine import free_ports
from tests.engines.asking import ask, cached_tokens, prompt_tokens
from tests.engines.conftest import Start
from tests.engines.libraries import needs_mooncake
from tests.engines.miniature import READY_LIMIT_S, Miniature
from tests.live.chat import NO_THINKING, Answer, Chat, user
from tests.live.serving import until
from tests.live.tools import TOOLS, assert_calls, named

GRAPH = "stored"
BLOCK = 32
STORED = "vllm:external_prefix_cache_hits_total"
LOCAL = "vllm:prefix_cache_hits_total"
pytestmark = [pytest.mark.timeout(900), needs_mooncake]


@pytest.fixture(scope="module")
def stored(serve: Start) -> Miniature:
    """One prefill engine with a store beneath it, whose memory is a process of its own, and one decoder."""
    rpc, metadata, metrics, client = free_ports(4)
    return serve(
        "cpu-dense",
        "--Prefill.ServiceArgs.workers=1",
        "--Prefill.connectors=[nixl, mooncake]",
        f"--Mooncake.rpc-port={rpc}",
        f"--Mooncake.http-metadata-server-port={metadata}",
        f"--Mooncake.metrics-port={metrics}",
        "--Mooncake.mode=standalone-store",
        "--Mooncake.local-buffer-size=64mb",
        f"--MooncakeClient.port={client}",
        "--MooncakeClient.global-segment-size=512MB",
        "--Decode.ServiceArgs.workers=1",
        "--Decode.reasoning-parser=glm45",
        "--Frontend.reasoning-gate=engine",
    )


def prefill(graph: Miniature) -> list[str]:
    """The prefill workers that the router may choose."""
    try:
        fleet = graph.state()["fleet"]
    except KeyError:
        # A model that nobody serves is not known.
        return []
    out = {each["worker"] for each in fleet["excluded"]}
    return [each["worker"] for each in fleet["prefill"] if each["worker"] not in out]


def test_a_restarted_prefill_engine_finds_a_known_prefix_in_the_store(stored: Miniature, chat: Chat) -> None:
    known = user(f"Remember this. {'Look at it again. ' * 150}")
    first = ask(chat, known)
    assert cached_tokens(first) == 0
    whole_blocks = (prompt_tokens(first) - 1) // BLOCK * BLOCK

    (engine,) = stored.engines("Prefill")
    known_to_router = prefill(stored)
    engine.process.send_signal(signal.SIGKILL)
    until(lambda: [new.process.pid for new in stored.engines("Prefill")] not in ([], [engine.process.pid]), "another")
    (engine,) = stored.engines("Prefill")
    until(lambda: engine.registered(stored), "the engine again", limit_s=READY_LIMIT_S)
    until(lambda: prefill(stored) not in ([], known_to_router), "the router's word of it")
    again = ask(chat, known, nvext={"extra_fields": ["timing"]})

    assert again.reasoning + again.content == first.reasoning + first.content
    assert cached_tokens(again) == whole_blocks
    assert (engine.counter(STORED), engine.counter(LOCAL)) == (whole_blocks, 0)
    assert again.timing["prefill"]["fetch_ms"] > 0


def _use(chat: Chat, name: str, **extra: object) -> Answer:
    fields: dict[str, Any] = {"max_tokens": 800, "temperature": 0, "frequency_penalty": 0.5, "extra_body": extra}
    return chat.whole(user(f"Use {name}"), tools=[TOOLS[name]], tool_choice=named(name), **fields)


@pytest.mark.parametrize("name", ["read_file", "get_weather", "set_flags", "resize_image", "current_time"])
def test_an_engine_that_lets_reasoning_pass_holds_the_tag_where_there_is_none(chat: Chat, name: str) -> None:
    answer = _use(chat, name, **NO_THINKING)
    assert not answer.reasoning
    assert_calls(answer, [TOOLS[name]])


def test_an_engine_that_lets_reasoning_pass_holds_the_tag_after_it(chat: Chat) -> None:
    answers = {name: _use(chat, name) for name in TOOLS}
    called = {name: answer for name, answer in answers.items() if answer.calls}
    assert any(answer.reasoning for answer in called.values())
    for name, answer in called.items():
        assert_calls(answer, [TOOLS[name]])
    # Free to stop within its reasoning, a random model often does; nothing else may be in the place of a call.
    assert {(answer.content, answer.finish_reason) for name, answer in answers.items() if name not in called} <= {
        ("", "stop")
    }
