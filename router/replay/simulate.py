"""The replay: a discrete-event simulation of the graph, driven by the router that serves."""

import heapq
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from router.costs import Costs
from router.decision import Choice
from router.placement import Overlap, RouteRequest
from router.ranks import Rank
from router.replay import alive
from router.replay.cache import PrefixCache
from router.replay.cluster import Cluster, Load, Outage
from router.replay.decode import Answer, DecodeEngine
from router.replay.measures import Measures, Served, measure
from router.replay.prefill import PrefillEngine, Prompt
from router.replay.prefixes import Prefixes
from router.replay.trace import Trace
from router.router import Router


class Replay:
    """One run of a trace through a router and a model of the graph.

    Args:
        trace: The sessions.
        router: The router under test; a new one for each run.
        cluster: The graph.
        load: How sessions arrive.
        costs: What the modelled engines take; the router may believe in other prices.
        seed: Of what is random in the load.
        outages: Engines that die and come back. Of each side one must be alive at any time.
        progress: Called with the number of requests served so far.
    """

    def __init__(
        self,
        trace: Trace,
        router: Router,
        cluster: Cluster,
        load: Load,
        costs: Costs,
        *,
        seed: int = 0,
        outages: Sequence[Outage] = (),
        progress: Callable[[int], None] = lambda _served: None,
    ) -> None:
        self._trace = trace
        self._router = router
        self._cluster = cluster
        self._load = load
        self._costs = costs
        self._random = random.Random(seed)  # noqa: S311 - a load, not a secret.
        self._outages = outages
        self._progress = progress
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._sequence = 0
        self._now = 0.0
        self._keys = 0
        self._next_session = 0
        self.served: list[Served] = []
        self._open: dict[int, Served] = {}
        self._prefilling: set[int] = set()
        self._build()

    def _build(self) -> None:
        cluster, block = self._cluster, self._trace.block_size
        self._prefixes = Prefixes()
        sessions = self._trace.sessions
        self._ends = [[self._prefixes.insert(turn.blocks) for turn in session.turns] for session in sessions]
        self._prefixes.freeze()
        self._prefill = [
            PrefillEngine(self._prefixes, block, cluster.prefill_ranks, cluster.rank_kv_tokens, self._costs)
            for _ in range(cluster.prefill_engines)
        ]
        self._decode = [self._decode_engine() for _ in range(cluster.decode_engines)]
        self._host = self._cache(cluster.host_tokens) if cluster.host_tokens else None
        ranks = cluster.prefill_engines * cluster.prefill_ranks
        self._pooled = self._cache(ranks * cluster.rank_kv_tokens)
        self._ideal = self._cache(1 << 62)
        self._fleet = alive.whole(cluster)
        self._homes: dict[int, Rank] = {}
        self._decoders: dict[int, Rank] = {}
        self._finish_at: list[float | None] = [None] * len(self._decode)
        self._moves = self._decode_moves = 0

    def _decode_engine(self) -> DecodeEngine:
        cluster = self._cluster
        cache = self._cache(cluster.decode_kv_tokens)
        return DecodeEngine(cache, self._trace.block_size, cluster.decode_slots, self._costs)

    def _cache(self, tokens: int) -> PrefixCache:
        return PrefixCache(self._prefixes, tokens // self._trace.block_size)

    def run(self) -> Measures:
        """Run to the end and add it up.

        Raises:
            ValueError: If the policy leaves a place open, or the last engine of a side dies.
        """
        for outage in self._outages:
            self._at(outage.at_s * 1e3, self._die, outage)
            self._at(outage.back_s * 1e3, self._come_back, outage)
        if self._load.arrivals == "held":
            for number in range(self._load.sessions):
                self._at(number * self._load.spacing_s * 1e3, self._begin_next)
        else:
            for session, at_s in enumerate(self._arrivals()):
                self._at(at_s * 1e3, self._arrive, session, 0)
        stop_ms = math.inf if self._load.stop_s is None else self._load.stop_s * 1e3
        while self._events and self._events[0][0] <= stop_ms:
            self._now, _, what, arguments = heapq.heappop(self._events)
            what(*arguments)
        ranks = [rank for engine in self._prefill for rank in engine.ranks]
        return measure(
            self.served,
            [rank.computed_tokens for rank in ranks],
            [rank.requests for rank in ranks],
            busy_ms=sum(engine.busy_ms for engine in self._prefill),
            stepped_ms=sum(engine.stepped_ms for engine in self._prefill),
            gpus=self._cluster.gpus,
            moves=self._moves,
            decode_moves=self._decode_moves,
        )

    @property
    def now_ms(self) -> float:
        """How far it has come."""
        return self._now

    @property
    def unfinished(self) -> list[Served]:
        """Requests that are under way; their `finished_ms` is 0."""
        return list(self._open.values())

    def _at(self, when_ms: float, what: Callable[..., None], *arguments: Any) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (when_ms, self._sequence, what, arguments))

    def _arrivals(self) -> Iterator[float]:
        next_s, gap = 0.0, self._load.spacing_s
        begun: dict[str, float] = {}
        for session in self._trace.sessions:
            if session.parent is not None:
                at_s = begun[session.parent] + (session.arrival_s or 0.0)
            elif self._load.arrivals == "recorded" and session.arrival_s is not None:
                at_s = session.arrival_s
            else:
                at_s = next_s
                next_s += self._random.expovariate(1.0 / gap) if self._load.arrivals == "poisson" else gap
            begun[session.session_id] = at_s
            yield at_s

    def _begin_next(self) -> None:
        """Begin the next session of those that are held, and its sub-agents in their time."""
        sessions, number = self._trace.sessions, self._next_session
        if number == len(sessions):
            return
        self._arrive(number, 0)
        number += 1
        while number < len(sessions) and sessions[number].parent is not None:
            self._at(self._now + (sessions[number].arrival_s or 0.0) * 1e3, self._arrive, number, 0)
            number += 1
        self._next_session = number

    def _arrive(self, session: int, number: int) -> None:
        turn, path = self._trace.sessions[session].turns[number], self._prefixes.path(self._ends[session][number])
        served = Served(session, number, turn.input_tokens, max(1, turn.output_tokens), self._now)
        block = self._trace.block_size
        served.ideal_tokens = min(turn.input_tokens, self._ideal.match(path) * block)
        served.pooled_tokens = min(turn.input_tokens, self._pooled.match(path) * block)
        self._ideal.use(path, self._now)
        self._pooled.use(path, self._now)
        self._place(served, path)

    def _place(self, served: Served, path: list[int]) -> None:
        key, session, block = self._keys, served.session, self._trace.block_size
        self._keys += 1
        self._open[key] = served
        self._prefilling.add(key)
        host = self._host.match(path) if self._host is not None else 0
        request = RouteRequest(
            request_id=str(key),
            session=str(session),
            prompt_tokens=served.prompt_tokens,
            overlaps=self._overlaps(path, host),
            max_tokens=None,
        )
        decision = self._router.place(request, self._fleet, self._now)
        rank = _chosen(decision.prefill)
        served.rank = rank.worker_id * self._cluster.prefill_ranks + rank.dp_rank
        served.reason = decision.prefill.reason
        self._moves += self._homes.get(session, rank) != rank
        self._homes[session] = rank
        engine = self._prefill[rank.worker_id]
        device = engine.ranks[rank.dp_rank].cache.match(path)
        missing = max(0, host - device)
        prompt = Prompt(key, path, served.prompt_tokens, host if missing else 0)
        self._at(self._now + self._costs.fetch_ms(missing * block), self._enqueue, engine, rank.dp_rank, prompt)

    def _overlaps(self, path: list[int], host: int) -> dict[Rank, Overlap]:
        block = self._trace.block_size
        found = {}
        for worker, engine in enumerate(self._prefill):
            for number, rank in enumerate(engine.ranks):
                device = rank.cache.match(path)
                if device or host:
                    found[Rank(worker, number)] = Overlap(device * block, max(0, host - device) * block)
        return found

    def _enqueue(self, engine: PrefillEngine, rank: int, prompt: Prompt) -> None:
        if prompt.key not in self._open:
            return
        engine.enqueue(rank, prompt)
        if not engine.stepping:
            self._step(engine)

    def _step(self, engine: PrefillEngine) -> None:
        stepped = engine.step(self._now)
        engine.stepping = stepped is not None
        if stepped is not None:
            longest, done = stepped
            self._at(self._now + longest, self._stepped, engine, done)

    def _stepped(self, engine: PrefillEngine, done: list[Prompt]) -> None:
        for prompt in done:
            self._computed(prompt)
        self._step(engine)

    def _computed(self, prompt: Prompt) -> None:
        if (served := self._open.get(prompt.key)) is None:
            return
        served.device_tokens = prompt.device
        served.host_tokens = prompt.cached - prompt.device
        served.started_ms = prompt.started_ms
        if self._host is not None:
            self._host.use(prompt.path, self._now)
        rank = _chosen(self._router.ticket(str(prompt.key)).decision.decode)
        self._decode_moves += self._decoders.get(served.session, rank) != rank
        self._decoders[served.session] = rank
        number = rank.worker_id - alive.DECODE_ID
        missing = prompt.tokens - self._decode[number].held_tokens(prompt.path)
        self._at(self._now + self._costs.move_ms(missing), self._admit, number, prompt)

    def _admit(self, number: int, prompt: Prompt) -> None:
        if (served := self._open.get(prompt.key)) is None:
            return
        self._prefilling.discard(prompt.key)
        answer = Answer(prompt.key, prompt.tokens, served.answer_tokens)
        self._started(number, self._decode[number].admit(answer, prompt.path, self._now))
        self._schedule_finish(number)

    def _started(self, number: int, keys: list[int]) -> None:
        for key in keys:
            self._open[key].first_token_ms = self._now + self._costs.decode_ms(self._decode[number].running)
            self._router.first_token(str(key), self._now)

    def _schedule_finish(self, number: int) -> None:
        due = self._finish_at[number] = self._decode[number].next_finish_ms()
        if due is not None:
            self._at(due, self._finish, number, due)

    def _finish(self, number: int, due: float) -> None:
        # The batch changed since, and with it the time.
        if self._finish_at[number] != due:
            return
        done, started = self._decode[number].finish(self._now)
        for key in done:
            self._end(key)
        self._started(number, started)
        self._schedule_finish(number)

    def _end(self, key: int) -> None:
        served = self._open.pop(key)
        served.finished_ms = self._now
        self.served.append(served)
        self._progress(len(self.served))
        self._router.finish(
            str(key),
            "stop",
            self._now,
            answer_tokens=served.answer_tokens,
            cached_tokens=served.device_tokens + served.host_tokens,
        )
        turns = self._trace.sessions[served.session].turns
        if served.turn + 1 < len(turns):
            think_s = turns[served.turn + 1].think_s
            if self._load.think_cap_s is not None:
                think_s = min(think_s, self._load.think_cap_s)
            self._at(self._now + think_s * 1e3, self._arrive, served.session, served.turn + 1)
        elif self._load.arrivals == "held" and self._trace.sessions[served.session].parent is None:
            self._begin_next()

    def _die(self, outage: Outage) -> None:
        self._fleet = alive.without(self._fleet, outage)
        if outage.side == "prefill":
            self._prefill[outage.engine].lose_all()
        else:
            self._decode[outage.engine] = self._decode_engine()
            self._finish_at[outage.engine] = None
        gone = alive.worker_id(outage)
        self._place_again([key for key in self._open if self._was_at(key, gone)])

    def _come_back(self, outage: Outage) -> None:
        self._fleet = alive.again(self._fleet, outage, self._cluster)

    def _was_at(self, key: int, worker_id: int) -> bool:
        """Tell whether a request is lost with a worker: what a prefill engine has handed on is not."""
        decision = self._router.ticket(str(key)).decision
        ranks = [decision.decode.rank, decision.prefill.rank if key in self._prefilling else None]
        return any(rank is not None and rank.worker_id == worker_id for rank in ranks)

    def _place_again(self, keys: Sequence[int]) -> None:
        # An answer that breaks off is asked for again by its client, with the same prompt.
        lost = [self._open.pop(key) for key in keys]
        for key in keys:
            self._prefilling.discard(key)
            self._router.finish(str(key), "error", self._now)
        for engine in self._prefill:
            engine.drop(keys)
        for served in lost:
            self._place(served, self._prefixes.path(self._ends[served.session][served.turn]))


def _chosen(choice: Choice) -> Rank:
    if choice.rank is None:
        raise ValueError("the policy leaves a place open: a replay has no router of Dynamo's that would fill it")
    return choice.rank
