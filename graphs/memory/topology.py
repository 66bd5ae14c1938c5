"""How an engine's ranks share weights and KV, from its vLLM flags."""

import msgspec

from graphs.memory.shapes import Shapes
from graphs.memory.weights import Cut
from graphs.settings.vllm import VllmSettings


class Topology(msgspec.Struct, frozen=True):
    """The ranks of one engine on all machines.

    Attributes:
        tensor: Tensor-parallel ranks (TP).
        data: Data-parallel attention ranks (DP), each with its own requests.
        prefill_context: Ranks that share the computing of a prompt (PCP).
        decode_context: Ranks of a group that share one session's KV (DCP).
        pipeline: Groups of layers (PP).
        spread: Whether experts are spread over all ranks (EP).
    """

    tensor: int = 1
    data: int = 1
    prefill_context: int = 1
    decode_context: int = 1
    pipeline: int = 1
    spread: bool = False

    @property
    def gpus(self) -> int:
        """GPUs of the engine. DCP takes none of its own."""
        return self.tensor * self.data * self.prefill_context * self.pipeline

    @property
    def name(self) -> str:
        """As people say it: `TP4`, `DEP8`, `TEP8`, `PCP8xDCP8xEP8`, `TP4xPP2`."""
        stages = [f"PP{self.pipeline}"] if self.pipeline > 1 else []
        if self.prefill_context > 1 or self.decode_context > 1:
            sizes = {"TP": self.tensor, "DP": self.data, "PCP": self.prefill_context, "DCP": self.decode_context}
            ep = [f"EP{self.gpus // self.pipeline}"] if self.spread else []
            return "x".join([*(f"{name}{size}" for name, size in sizes.items() if size > 1), *ep, *stages])
        spread = "E" if self.spread else ""
        sides = [f"D{spread}P{self.data}"] if self.data > 1 else []
        sides += [f"T{'' if sides else spread}P{self.tensor}"] if self.tensor > 1 or not sides else []
        return "x".join([*sides, *stages])

    def shards(self, cut: Cut) -> int:
        """Return over how many ranks a part of the weights is cut."""
        match cut:
            case Cut.TENSOR:
                return self.tensor * self.pipeline
            case Cut.EXPERT:
                # Without EP too: vLLM 0.31 cuts them over TP x DP x PCP (`model_executor/layers/fused_moe/config.py`).
                return self.gpus
            case Cut.WHOLE:
                return self.pipeline

    @property
    def kv_copies(self) -> int:
        """How many ranks keep the same token's latent: all heads share it, so tensor ranks cannot cut it."""
        return self.tensor * self.prefill_context // self.decode_context

    @property
    def kv_groups(self) -> int:
        """How many GPUs' worth of different tokens the engine keeps."""
        return self.gpus // self.pipeline // self.kv_copies


def impossible(ranks: Topology, shapes: Shapes) -> str | None:
    """Say why no engine has such ranks, with the flag that it is about; None where one may.

    From vLLM 0.31 `config/parallel.py` and `config/model.py`; what else it wants of flags is `dynamo doctor`'s to say.
    """
    tensor, context, decode = ranks.tensor, ranks.prefill_context, ranks.decode_context
    if shapes.num_attention_heads % tensor:
        return f"tensor-parallel-size {tensor}: it has to divide the {shapes.num_attention_heads} attention heads"
    if context == 1 and tensor % decode:
        return f"decode-context-parallel-size {decode}: it has to divide the {tensor} ranks of tensor-parallel-size"
    if context > 1 and decode not in {1, context, tensor * context}:
        sizes = " or ".join(str(size) for size in sorted({1, context, tensor * context}))
        return f"decode-context-parallel-size {decode}: with prefill-context-parallel-size {context} it is {sizes}"
    if ranks.pipeline > shapes.num_hidden_layers:
        return f"pipeline-parallel-size {ranks.pipeline}: there are {shapes.num_hidden_layers} layers"
    if ranks.spread and (spread := ranks.gpus // ranks.pipeline) > shapes.n_routed_experts:
        return f"enable-expert-parallel: over {spread} ranks, and there are {shapes.n_routed_experts} experts"
    return None


def topology(settings: VllmSettings) -> Topology:
    """Read an engine's topology from its flags."""
    return Topology(
        tensor=settings.tensor_parallel_size or 1,
        data=settings.ranks,
        prefill_context=settings.prefill_context_parallel_size or 1,
        decode_context=settings.decode_context_parallel_size or 1,
        pipeline=settings.pipeline_parallel_size or 1,
        spread=bool(settings.enable_expert_parallel),
    )
