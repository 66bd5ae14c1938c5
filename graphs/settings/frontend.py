"""Settings of `python -m components.frontend`, by the names of its own parser."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from graphs.settings.base import Settings, setting

RouterMode = Literal["kv", "round-robin", "random", "least-loaded", "direct"]


class FrontendSettings(Settings):
    """The flags of our frontend."""

    http_host: str = Field(default="127.0.0.1", description="Address on which the OpenAI endpoint listens.")
    http_port: int = Field(default=8000, ge=1, le=65535, description="Port on which the OpenAI endpoint listens.")
    namespace: str | None = setting("Dynamo namespace whose workers it serves; all by default.")
    router_mode: RouterMode | None = setting("Dynamo's own choice for what the router leaves open.")
    router_policy: Literal["sticky", "plain"] | None = setting(
        "Whether sessions stay with the rank that has their prompt; `plain` leaves every choice to Dynamo."
    )
    router_host_tokens: PositiveInt | None = setting(
        "Tokens of KV in a store behind all prefill ranks that publishes no events, as Mooncake's behind vLLM."
    )
    prefill_component: str | None = setting("Dynamo component of the prefill workers.")
    kv_cache_block_size: PositiveInt | None = setting("Tokens of one KV block, as on the workers.")
    migration_limit: NonNegativeInt | None = setting("How often an answer may move to another decode worker.")
    context_length: NonNegativeInt | None = setting("Most tokens of prompt and answer; 0 is the model's own.")
    reasoning_gate: Literal["tag", "engine"] | None = setting("Who lets reasoning pass a constraint.")
    stream_interval_ms: NonNegativeFloat | None = setting("Least milliseconds between two chunks of one stream.")
    drain_timeout_s: NonNegativeFloat | None = setting("Seconds that SIGTERM waits for answers in flight.")
