"""The graph comes, serves and goes, and leaves nothing."""

import os
import signal
from collections.abc import Callable
from ipaddress import ip_address

import pytest
from openai import APIError

from tests.live.chat import Chat, join, user
from tests.live.serving import Graph, until

STARTS = int(os.environ.get("DYNAMO_LIVE_STARTS", "2"))
"""How often in a row the graph is started, served from and stopped."""

StartGraph = Callable[..., Graph]


@pytest.mark.parametrize("turn", range(STARTS))
def test_a_graph_that_served_and_was_stopped_leaves_nothing(start_graph: StartGraph, turn: int) -> None:
    graph = start_graph("--Decode.inter-token-latency-ms=1")
    with Chat.at(graph.url, graph.model) as chat:
        assert chat.whole(user("Hello")).finish_reason == "stop"
    addresses = graph.remote_addresses()
    assert addresses
    assert all(ip_address(address).is_loopback for address in addresses), addresses
    code = graph.stop((signal.SIGTERM, signal.SIGINT)[turn % 2])
    assert (code, graph.errors()) == (0, ""), graph.tail()
    graph.assert_nothing_left()


def test_answers_in_flight_are_finished_before_the_graph_stops(start_graph: StartGraph) -> None:
    graph = start_graph("--Decode.inter-token-latency-ms=5")
    with Chat.at(graph.url, graph.model) as chat:
        fields = {"max_tokens": 300, "extra_body": {"ignore_eos": True}, "stream_options": {"include_usage": True}}
        chunks = chat.chunks(user("Hello"), **fields)
        first = next(chunks)
        graph.note()
        graph.process.send_signal(signal.SIGTERM)
        graph.wait_for("draining")
        answer = join([first, *chunks])
    assert answer.finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 300
    assert graph.process.wait(60) == 0, graph.tail()
    graph.assert_nothing_left()


def test_kill_9_of_the_parent_leaves_nothing(start_graph: StartGraph) -> None:
    graph = start_graph()
    assert graph.stop(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: not graph.left(), "nothing is left")


def test_a_killed_process_is_started_again_and_the_graph_serves_on(start_graph: StartGraph) -> None:
    graph = start_graph("--Decode.inter-token-latency-ms=1")
    with Chat.at(graph.url, graph.model) as chat:
        for service in ("Decode", "Prefill", "Frontend"):
            graph.processes(service)[0].kill()
            died = graph.wait_for("died", service)
            assert "SIGKILL" in died["message"]
            # Until discovery has seen it, requests may meet the process that is gone.
            until(lambda: serves(chat), f"answers after {service} was killed")
            assert chat.whole(user(f"Is {service} back?")).finish_reason == "stop"
    assert graph.stop(signal.SIGTERM) == 0, graph.tail()
    graph.assert_nothing_left()


def test_workers_that_discovery_forgot_are_started_anew(start_graph: StartGraph) -> None:
    graph = start_graph("--Decode.inter-token-latency-ms=1")
    # As others do on a machine that slept: they find the worker's file old, and remove it.
    for file in graph.folders[1].glob("dynamo-glm53-*/store/v1/instances/*generate*"):
        file.unlink()
    for service in ("Decode", "Prefill"):
        graph.wait_for("lost", service)
    with Chat.at(graph.url, graph.model) as chat:
        until(lambda: serves(chat), "answers after the workers were forgotten")
    assert graph.stop(signal.SIGTERM) == 0, graph.tail()
    graph.assert_nothing_left()


def serves(chat: Chat) -> bool:
    """Whether many requests in a row are answered."""
    try:
        return all(chat.whole(user(f"Request {number}"), max_tokens=2) for number in range(20))
    except APIError:
        return False
