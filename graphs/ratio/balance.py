"""The ratio by arithmetic: what a session asks of each side in a second, and how many engines that takes."""

from typing import Final

import msgspec

from graphs.ratio.workload import Demand
from router.costs import Costs
from router.replay.cluster import Cluster

_MS: Final = 1e3


class Balance(msgspec.Struct, frozen=True):
    """What a session asks of a graph at a speed.

    Attributes:
        target_tokens_per_s: Tokens of an answer over the time from request to last token, for each user.
        prefill_ms: Time of a prefill rank for a turn.
        first_token_ms: From request to first token where nobody else waits.
        decode_requests: Requests in a decoder's step at this speed, at most; 0 where even one is too slow.
        decode_ms: Time between two tokens then.
        turn_s: From one turn of a session to the next.
        prefill_share: Of a prefill engine's time, what one session takes.
        decode_share: Of a decode engine's steps with so many requests, what one session takes.
    """

    target_tokens_per_s: float
    prefill_ms: float
    first_token_ms: float
    decode_requests: int
    decode_ms: float
    turn_s: float
    prefill_share: float
    decode_share: float

    @property
    def decode_engines(self) -> float:
        """Decode engines that one prefill engine feeds, each side as busy as the other."""
        return self.decode_share / self.prefill_share


def balance(demand: Demand, costs: Costs, cluster: Cluster, target_tokens_per_s: float) -> Balance:
    """Balance two sides for a workload.

    Prefill ranks are thought to be always at work and never to wait for each other, and everything cached to be found:
    a replay has both as they are.

    Args:
        demand: Means of the workload.
        costs: What things take.
        cluster: Engines and their memory; how many there are does not matter.
        target_tokens_per_s: What each user is to have.
    """
    token = demand.new_tokens * costs.prefill_token_us / _MS + demand.context_new_tokens * costs.context_token_ns / 1e6
    prefill_ms = token + demand.new_tokens / costs.budget_tokens * costs.step_ms
    # A step of its own at least, after half of another's.
    first_ms = token + 1.5 * costs.step_ms + token / 2 + costs.move_ms(round(demand.new_tokens))
    answer_s = demand.output_tokens / target_tokens_per_s
    allowed_ms = (answer_s * _MS - first_ms) / demand.output_tokens
    most = min(cluster.decode_slots, int(cluster.decode_kv_tokens // (demand.prompt_tokens + demand.output_tokens)))
    requests = max((count for count in range(1, most + 1) if costs.decode_ms(count) <= allowed_ms), default=0)
    decode_ms = costs.decode_ms(max(1, requests))
    turn_s = demand.think_s + (first_ms + demand.output_tokens * decode_ms) / _MS
    return Balance(
        target_tokens_per_s=target_tokens_per_s,
        prefill_ms=prefill_ms,
        first_token_ms=first_ms,
        decode_requests=requests,
        decode_ms=decode_ms,
        turn_s=turn_s,
        prefill_share=prefill_ms / _MS / turn_s / cluster.prefill_ranks,
        decode_share=demand.output_tokens * decode_ms / _MS / turn_s / max(1, requests),
    )
