"""`GET /router/state`, over a real frontend and one worker that computes prompts and answers alike."""

import json

from .conftest import Endpoint

SECRET = "correct-horse-battery"  # noqa: S105 - a client's words, looked for


def test_it_shows_the_fleet_and_its_books(endpoint: Endpoint) -> None:
    endpoint.say("hello")

    state = endpoint.router_state()

    (worker,) = state["fleet"]["prefill"]
    assert (state["fleet"]["aggregated"], state["fleet"]["decode"], state["fleet"]["excluded"]) == (True, [], [])
    assert list(state["prefill"]) == [f"{worker['worker']}:0"]
    assert (state["in_flight"], state["prefill"][f"{worker['worker']}:0"]["requests"]) == (0, 0)
    assert state["finished"]["stop"] >= 1
    assert state["peers"] == {"frontends": 0, "in_flight": 0}
    others = state["prefill"][f"{worker['worker']}:0"]["others"]
    assert others == {"requests": 0, "waiting_prompt_tokens": 0, "work_ms": 0.0}


def test_it_shows_each_decision_and_its_terms(endpoint: Endpoint) -> None:
    # So long that computing it shows beside a step, whatever prices other tests have taught.
    prompt = "Read this before you answer. " * 400
    endpoint.say(prompt, prompt_cache_key="decisions")
    endpoint.say(prompt, prompt_cache_key="decisions")

    second, first = endpoint.router_state()["decisions"][:2]

    assert (first["prefill"]["reason"], second["prefill"]["reason"]) == ("new", "home")
    assert first["session"] == second["session"]
    (candidate,) = second["prefill"]["candidates"]
    assert candidate["place"] == second["prefill"]["chosen"]
    terms = ["compute", "move", "wait", "crowding", "balance"]
    assert abs(sum(candidate[term] for term in terms) - candidate["total"]) < 0.01
    assert second["first_token_ms"] > 0
    assert first["expected_first_token_ms"] > second["expected_first_token_ms"] > 0


def test_it_shows_the_prices_and_what_they_were_learnt_from(endpoint: Endpoint) -> None:
    before = endpoint.router_state()["prices"]
    endpoint.say("hello")
    after = endpoint.router_state()["prices"]

    assert after["learnt_from"]["prefill"] == before["learnt_from"]["prefill"] + 1
    assert set(after["in_force"]) >= {"step_ms", "prefill_token_us", "fetch_gb_s", "decode_step_ms", "host_tokens"}
    assert (after["in_force"]["prefill_token_us"] > 0, after["in_force"]["host_tokens"]) == (True, 0)


def test_it_shows_no_more_than_the_last_decisions_and_sessions(endpoint: Endpoint) -> None:
    for number in range(60):
        endpoint.say("hello", prompt_cache_key=f"bounded {number}")

    state = endpoint.router_state()

    assert (len(state["decisions"]), len(state["sessions"]["latest"])) == (50, 20)
    assert state["sessions"]["known"] >= 60
    assert state["sessions"]["latest"][0]["session"] == state["decisions"][0]["session"]


def test_it_repeats_nothing_that_a_client_says(endpoint: Endpoint) -> None:
    endpoint.say(SECRET, prompt_cache_key=SECRET, user=SECRET, metadata={"session_id": SECRET})

    assert SECRET not in json.dumps(endpoint.router_state())
    assert SECRET not in endpoint.metrics()
