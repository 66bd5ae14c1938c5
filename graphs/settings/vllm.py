"""Settings of `python -m dynamo.vllm`: the ones that the launcher reads, and every other flag of vLLM as it is."""

from typing import ClassVar

from pydantic import ConfigDict, PositiveInt

from graphs.settings.base import Negatable, Settings, kebab, setting


class VllmSettings(Settings):
    """Any flag of vLLM 0.31.0 or of `dynamo.vllm` passes; these few are typed because the launcher needs them."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=kebab, coerce_numbers_to_str=True, extra="allow", frozen=True, protected_namespaces=()
    )

    model: str | None = setting("Folder of the model, or its id on the Hugging Face hub.")
    served_model_name: str | None = setting("The model's name in the API.")
    block_size: PositiveInt | None = setting("Tokens of one KV block.")
    max_model_len: PositiveInt | None = setting("Longest prompt and answer together, in tokens.")
    tensor_parallel_size: PositiveInt | None = setting("GPUs that share each layer's matrices.")
    data_parallel_size: PositiveInt | None = setting("Attention ranks, each with its own KV cache.")
    enable_expert_parallel: Negatable = setting("Whether the experts are sharded over all ranks.")
