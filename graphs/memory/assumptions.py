"""What of a GPU's memory cannot be computed from a configuration: each with its default, why, and where it is from."""

from typing import Final

import msgspec

from graphs.memory.devices import GIB
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


def assumptions(settings: VllmSettings, shapes: Shapes, topology: Topology) -> tuple[Assumption, ...]:
    """Return what is assumed of one GPU of an engine."""
    found = [
        Assumption("cuda-context", round(_CONTEXT_GIB * GIB), "the driver's context, a guess"),
        _activations(settings, shapes),
    ]
    if topology.gpus > 1:
        found.append(Assumption("collectives", round(_COLLECTIVES_GIB * GIB), "NCCL and custom all-reduce, a guess"))
    if topology.spread and topology.gpus > 1:
        found.append(Assumption("all-to-all", round(_ALL_TO_ALL_GIB * GIB), "the experts' exchange, a guess"))
    if not settings.enforce_eager:
        found.append(Assumption("cuda-graphs", round(_GRAPHS_GIB * GIB), "a guess; vLLM logs what they took"))
    return tuple(found)


def _activations(settings: VllmSettings, shapes: Shapes) -> Assumption:
    tokens = settings.max_num_batched_tokens or _DEFAULT_BUDGET
    seqs = settings.max_num_seqs or _DEFAULT_SEQS
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


_DEFAULT_BUDGET: Final = 8192
_DEFAULT_SEQS: Final = 256
"""vLLM 0.31's own for a server, where the configuration does not say; larger GPUs get larger ones."""
