"""`GET /router/state`: what the router knows and what it decided, as JSON.

It says nothing a client said: sessions are digests, and requests have no names. Workers and ranks are strings,
`worker:rank`, since an instance id has 64 bits and JSON's readers keep 53.
"""

import time
from collections.abc import Iterable
from typing import Any

from dynamo.llm import FrontendRoute

from components.frontend.health import now_ms
from components.frontend.placed import Placed
from components.frontend.placing import Placing
from components.frontend.request import Json
from router import Candidate, Choice, Fit, Rank, Router
from router.fit import FITTED

PATH = "/router/state"
SESSIONS = 20
"""Sessions shown, those seen last."""


def state_route(placings: Iterable[Placing]) -> FrontendRoute:
    """Return the route for Dynamo's HTTP server; the handler runs on a thread of its own and copies before it reads."""

    def handler(_context: Any) -> Json:
        return {"models": {placing.model: state(placing) for placing in placings}}

    return FrontendRoute("GET", PATH, handler)


def state(placing: Placing) -> Json:
    """Return what is known of one model. Times are ms ago, but for `at`, which is seconds since the epoch."""
    router, now = placing.router, now_ms()
    return {
        "fleet": _fleet(placing, now),
        "in_flight": router.in_flight,
        "peers": {"frontends": len(placing.peers), "in_flight": placing.peers.in_flight},
        "finished": dict(router.finished),
        "prefill": {
            name(rank): {
                "requests": book.requests,
                "waiting_tokens": book.waiting_tokens,
                "waiting_ms": round(book.waiting_ms, 1),
                "work_ms": round(router.costs.share_ms(book.work.at(now)), 1),
                "resident_sessions": len(book.residents),
                "resident_tokens": book.residents.tokens,
                "kv_tokens": book.residents.capacity,
                "others": {
                    "requests": book.others.at(now).requests,
                    "waiting_prompt_tokens": book.others.at(now).prompt_tokens,
                    "work_ms": round(router.costs.share_ms(book.foreign_work.at(now)), 1),
                },
            }
            for rank, book in list(router.prefill.items())
        },
        "decode": {
            name(rank): {
                "requests": book.requests,
                "tokens": book.tokens,
                "resident_sessions": len(book.residents),
                "resident_tokens": book.residents.tokens,
                "kv_tokens": book.residents.capacity,
                "others": {"requests": book.others.at(now).answering},
            }
            for rank, book in list(router.decode.items())
        },
        "prices": _prices(placing.router),
        "sessions": {"known": len(router.sessions), "latest": _sessions(placing, now)},
        "decisions": [_placed(placed) for placed in reversed(list(placing.placed))],
    }


def name(rank: Rank | None) -> str | None:
    """Return a place's name, None where it was left to Dynamo."""
    return None if rank is None else f"{rank.worker_id}:{rank.dp_rank}"


def _fleet(placing: Placing, now: float) -> Json:
    if placing.roster is None:
        return {"policy": "plain"}
    fleet, health = placing.roster.latest, placing.roster.health
    return {
        "policy": "sticky",
        "aggregated": placing.roster.aggregated,
        "block_size": placing.roster.block_size,
        "prefill": [
            {"worker": str(each.worker_id), "ranks": each.dp_ranks, "kv_tokens": each.kv_tokens}
            for each in fleet.prefill
        ],
        "decode": [
            {"worker": str(each.worker_id), "ranks": each.dp_ranks, "kv_tokens": each.kv_tokens}
            for each in fleet.decode
        ],
        "excluded": [
            {
                "worker": str(worker_id),
                "why": out.why,
                "since_ms": round(now - out.since_ms),
                "next_try_in_ms": round(out.until_ms - now),
            }
            for worker_id, out in list(health.excluded.items())
        ],
    }


def _prices(router: Router) -> Json:
    """Return the prices in force, each in the unit that ends its name, and how many requests they were learnt from."""
    costs, fit = router.costs, router.prices
    if not isinstance(fit, Fit):
        return {}
    in_force = {price: round(getattr(costs, price), 4) for price in (*FITTED, "host_tokens")}
    return {"in_force": in_force, "learnt_from": dict(fit.learnt)}


def _sessions(placing: Placing, now: float) -> list[Json]:
    latest = list(placing.router.sessions.items())[-SESSIONS:]
    return [
        {
            "session": key,
            "prefill": name(session.prefill),
            "decode": name(session.decode),
            "tokens": session.tokens,
            "idle_ms": round(now - session.used_ms),
        }
        for key, session in reversed(latest)
    ]


def _placed(placed: Placed) -> Json:
    decision = placed.decision
    return {
        "at": round(placed.at, 3),
        "ago_ms": round((time.time() - placed.at) * 1e3),
        "session": placed.session,
        "prompt_tokens": placed.prompt_tokens,
        "cached_tokens": {"device": placed.overlap.device, "host": placed.overlap.host},
        "took_ms": round(placed.took_ms, 3),
        "expected_first_token_ms": round(placed.expected_ms, 1),
        "first_token_ms": None if placed.first_token_ms is None else round(placed.first_token_ms, 1),
        "prefill": _choice(decision.prefill),
        "decode": _choice(decision.decode),
    }


def _choice(choice: Choice) -> Json:
    return {
        "chosen": name(choice.rank),
        "reason": choice.reason,
        "margin_ms": round(choice.margin_ms, 3),
        "candidates": [_candidate(candidate) for candidate in choice.candidates],
    }


def _candidate(candidate: Candidate) -> Json:
    terms = candidate.terms
    costs = {term: round(getattr(terms, term), 3) for term in terms.__struct_fields__}
    return {"place": name(candidate.rank), "total": round(terms.total, 3), **costs}
