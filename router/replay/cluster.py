"""The graph that a replay models, and the load that is put on it."""

from typing import Literal

import msgspec


class Cluster(msgspec.Struct, frozen=True):
    """Prefill engines, decode engines, and what is behind them.

    Attributes:
        prefill_engines: How many.
        prefill_ranks: Data-parallel attention ranks of each.
        rank_gpus: GPUs of a rank.
        rank_kv_tokens: Tokens of KV that a rank's memory holds.
        decode_engines: How many.
        decode_gpus: GPUs of each.
        decode_kv_tokens: Tokens of KV that a decode engine's memory holds.
        decode_slots: Most requests in one decode step.
        host_tokens: Tokens of KV in the host tier behind all prefill ranks; 0 where there is none.
    """

    prefill_engines: int = 1
    prefill_ranks: int = 8
    rank_gpus: int = 1
    rank_kv_tokens: int = 786_432
    decode_engines: int = 4
    decode_gpus: int = 4
    decode_kv_tokens: int = 1_500_000
    decode_slots: int = 64
    host_tokens: int = 0

    @property
    def gpus(self) -> int:
        """All GPUs that serve."""
        return self.prefill_engines * self.prefill_ranks * self.rank_gpus + self.decode_engines * self.decode_gpus


class Outage(msgspec.Struct, frozen=True):
    """An engine that dies and comes back with empty memory.

    Attributes:
        side: Which engine.
        engine: Its index.
        at_s: When it dies, s.
        back_s: When it is back, s.
    """

    side: Literal["prefill", "decode"]
    engine: int
    at_s: float
    back_s: float


class Load(msgspec.Struct, frozen=True):
    """How sessions arrive. A session's next turn comes its think time after the answer: a closed loop.

    Attributes:
        arrivals: `spaced`: one session after another; `poisson`: at random; `recorded`: at the trace's own times;
            `held`: so many sessions at once, the next one where one ends.
        spacing_s: Time between two sessions; the mean of it for `poisson`; of `held`, between the first ones.
        think_cap_s: Longest think time; None keeps the recorded ones.
        sessions: Sessions at once where they are `held`, sub-agents not counted.
        stop_s: When to stop, whatever is under way; None replays all of the trace.
    """

    arrivals: Literal["spaced", "poisson", "recorded", "held"] = "spaced"
    spacing_s: float = 0.7
    think_cap_s: float | None = None
    sessions: int = 1
    stop_s: float | None = None
