"""Settings of `mooncake_master`, the master process of a Mooncake store (mooncake-transfer-engine 0.3.13).

Its parser is gflags: names have underscores and a value follows `=`.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field

from graphs.settings.base import Settings, setting


class MooncakeSettings(Settings):
    """The flags of the master that a graph on one machine or a few needs."""

    separator: ClassVar[Literal[" ", "="]] = "="

    rpc_address: str = Field(default="127.0.0.1", description="Address on which workers reach the master.")
    rpc_port: int = Field(default=50051, ge=1, le=65535, description="Port on which workers reach the master.")
    enable_http_metadata_server: bool = Field(
        default=True, description="Whether it also keeps the workers' addresses, so that no etcd is needed."
    )
    http_metadata_server_host: str = Field(default="127.0.0.1", description="Address of the metadata server.")
    http_metadata_server_port: int = Field(default=8080, ge=1, le=65535, description="Port of the metadata server.")
    metrics_port: int | None = setting("Port of its Prometheus metrics.", ge=1, le=65535)
    eviction_high_watermark_ratio: float | None = setting("Fraction of memory in use above which it evicts.")
    default_kv_lease_ttl: int | None = setting("Milliseconds during which a key that was read is not evicted.")

    def _words(self, name: str, value: Any, form: object) -> Any:
        # gflags has no `--no-flag` with a dash; `--flag=false` is its own form.
        return super()._words(name, str(value).lower() if isinstance(value, bool) else value, form)
