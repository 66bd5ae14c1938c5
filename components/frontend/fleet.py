"""The workers of one model, as the router sees them."""

from itertools import chain

from components.frontend.discovery import Card, Workers
from components.frontend.health import Health
from router import Fleet, Worker

UNKNOWN_KV_TOKENS = 2**40
"""Memory of a worker that does not say how much it has: nothing is ever crowded out."""

_Seen = tuple[tuple[int, ...], tuple[int, ...], int]


class Roster:
    """The fleet of one model: who is in discovery, less who is out.

    Where engines compute prompts and generate as well, they are the fleet's prefill side, since what is cached there
    decides, and a placement names them as Dynamo's decode workers.

    Args:
        model: Only workers that serve this model count.
        prefill: Workers of the prefill endpoint.
        decode: Workers of the endpoint that answers chat requests, whether or not they leave prefill to others.
        health: Who is out.
    """

    def __init__(self, model: str, prefill: Workers, decode: Workers, health: Health) -> None:
        self.health = health
        self.aggregated = False
        self.block_size = 0
        self._model = model
        self._prefill = prefill
        self._decode = decode
        self._cards: dict[int, Card] = {}
        self._seen: _Seen | None = None
        self._fleet = Fleet()

    def fleet(self) -> Fleet:
        """Return the fleet; the same object as long as nothing has changed."""
        prefill, decode = self._prefill.ids(), self._decode.ids()
        if (prefill, decode, self.health.version) == self._seen:
            return self._fleet
        self.health.keep([*prefill, *decode])
        complete = self._read_cards([*prefill, *decode])
        fleet = self._fleet_of(prefill, decode)
        # Equal but for who was out and is back within one look: the same fleet.
        self._fleet = self._fleet if fleet == self._fleet else fleet
        # A worker appears a moment before its card: look again until it is there.
        self._seen = (prefill, decode, self.health.version) if complete else None
        return self._fleet

    @property
    def latest(self) -> Fleet:
        """The fleet as it was last returned, for other threads to read."""
        return self._fleet

    def addresses(self) -> dict[int, str]:
        """Return `host:port` of the workers that are reached by TCP."""
        return {**self._prefill.addresses(), **self._decode.addresses()}

    def _read_cards(self, ids: list[int]) -> bool:
        """Bring the cards up to date; tell whether every worker has one."""
        if any(id_ not in self._cards for id_ in ids):
            known = dict(chain(self._prefill.cards().items(), self._decode.cards().items()))
            self._cards = {id_: known[id_] for id_ in ids if id_ in known}
        return all(id_ in self._cards for id_ in ids)

    def _fleet_of(self, prefill: tuple[int, ...], decode: tuple[int, ...]) -> Fleet:
        whole = self._workers(decode, "aggregated")
        computing = whole or self._workers(prefill, "prefill")
        # Also when all of them are out, or a prompt would be placed as on another kind of graph.
        self.aggregated = any(self._is(id_, "aggregated") for id_ in decode)
        return Fleet(computing, () if self.aggregated else self._workers(decode, "decode"))

    def _workers(self, ids: tuple[int, ...], role: str) -> tuple[Worker, ...]:
        return tuple(self._worker(id_) for id_ in ids if self._is(id_, role) and id_ not in self.health.excluded)

    def _is(self, id_: int, role: str) -> bool:
        card = self._cards.get(id_)
        return card is not None and card.worker_type == role and card.display_name == self._model

    def _worker(self, id_: int) -> Worker:
        card = self._cards[id_]
        if card.worker_type != "decode":
            self.block_size = card.kv_cache_block_size or self.block_size
        sizes = card.runtime_config
        kv_tokens = (sizes.total_kv_blocks or 0) * card.kv_cache_block_size
        kv_tokens = kv_tokens or UNKNOWN_KV_TOKENS
        return Worker(id_, sizes.data_parallel_size, kv_tokens, sizes.data_parallel_start_rank)
