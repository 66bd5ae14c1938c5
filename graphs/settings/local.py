"""Settings of `python -m components.local`, by the names of its own parser."""

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from graphs.settings.base import Settings, setting


class LocalSettings(Settings):
    """The flags of the decoder that stands in for a model."""

    model_path: str | None = setting("Folder of the tokenizer and chat template; `stand-in` makes one at the start.")
    model_name: str | None = setting("The model's name in the API.")
    namespace: str | None = setting("Dynamo namespace in which it registers.")
    component: str | None = setting("Dynamo component as which it registers.")
    block_size: PositiveInt | None = setting("Tokens of one KV block.")
    inter_token_latency_ms: NonNegativeFloat | None = setting("Milliseconds between two tokens of one answer.")
    seed: NonNegativeInt | None = setting("Seed of a request that brings none.")
    max_num_seqs: PositiveInt | None = setting("Answers that one worker writes at once.")
    total_kv_blocks: PositiveInt | None = setting("KV blocks that it says it has.")
    max_model_len: PositiveInt | None = setting("Longest prompt and answer together, in tokens.")
