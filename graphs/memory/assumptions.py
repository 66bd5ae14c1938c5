"""What of a GPU's memory cannot be computed from a configuration: each with its default, why, and where it is from."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from graphs.memory.devices import GIB, Device
from graphs.memory.shapes import Shapes
from graphs.memory.topology import Topology
from graphs.settings.vllm import VllmSettings


class Assumption(msgspec.Struct, frozen=True):
    """One rung that is assumed.

    Attributes:
        name: As it is given by `--assume NAME=GIB`.
        size_bytes: On each GPU.
        why: Where the figure is from.
    """

    name: str
    size_bytes: int
    why: str


_CONTEXT_GIB: Final = 0.6
_COLLECTIVES_GIB: Final = 1.5
_ALL_TO_ALL_GIB: Final = 2.0
_GRAPHS_GIB: Final = 1.0


def assumptions(settings: VllmSettings, shapes: Shapes, topology: Topology, device: Device) -> tuple[Assumption, ...]:
    """Return what is assumed of one GPU of an engine."""
    found = [
        Assumption("cuda-context", round(_CONTEXT_GIB * GIB), "the driver's context, a guess"),
        _activations(settings, shapes, device),
    ]
    if topology.gpus > 1:
        found.append(Assumption("collectives", round(_COLLECTIVES_GIB * GIB), "NCCL and custom all-reduce, a guess"))
    if topology.spread and topology.gpus > 1:
        found.append(Assumption("all-to-all", round(_ALL_TO_ALL_GIB * GIB), "the experts' exchange, a guess"))
    if not settings.enforce_eager:
        found.append(Assumption("cuda-graphs", round(_GRAPHS_GIB * GIB), "a guess; vLLM logs what they took"))
    return tuple(found)


def budget_tokens(settings: VllmSettings, device: Device) -> int:
    """Return the most tokens of a rank's step: what the flags say, or vLLM 0.31's own for a server on such a GPU.

    From its `engine/arg_utils.py`.
    """
    return settings.max_num_batched_tokens or _of_memory(device, _DEFAULT_BUDGETS)


def step_requests(settings: VllmSettings, device: Device) -> int:
    """Return the most requests in a rank's step, from the same places."""
    return settings.max_num_seqs or min(budget_tokens(settings, device), _of_memory(device, _DEFAULT_SEQS))


def _of_memory(device: Device, sizes: Mapping[int, int]) -> int:
    return next(size for gib, size in sizes.items() if device.hbm_bytes >= gib * GIB)


def _activations(settings: VllmSettings, shapes: Shapes, device: Device) -> Assumption:
    tokens, seqs = budget_tokens(settings, device), step_requests(settings, device)
    # bf16: hidden states in and out of a layer and its residual, absorbed queries, what the experts read and write.
    absorbed = shapes.num_attention_heads * (shapes.kv_lora_rank + shapes.qk_rope_head_dim)
    moe = (shapes.num_experts_per_tok + shapes.n_shared_experts) * (
        shapes.hidden_size + 2 * shapes.moe_intermediate_size
    )
    step_bytes = tokens * 2 * (4 * shapes.hidden_size + 2 * absorbed + moe)
    logits_bytes = seqs * shapes.vocab_size * 4
    return Assumption(
        "activations",
        step_bytes + logits_bytes,
        f"a step of {tokens:,} tokens and {seqs:,} rows of logits; vLLM logs them",
    )


_DEFAULT_BUDGETS: Final = MappingProxyType({160: 16_384, 70: 8_192, 0: 2_048})
_DEFAULT_SEQS: Final = MappingProxyType({70: 1_024, 0: 256})
"""By the least GiB of a GPU, the largest first."""
