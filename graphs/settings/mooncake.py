"""Settings of `mooncake_master`, the master process of a Mooncake store (mooncake-transfer-engine 0.3.13.post1).

Its parser is gflags: names have underscores and a value follows `=`. The last group is what the master's clients, the
vLLM workers, are told: keys of the JSON file that they read.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from graphs.settings.base import FOR_LAUNCHER, Settings, setting

_SIZE = r"^\d+(\.\d+)? ?([kKmMgG]?[bB])?$"


class MooncakeSettings(Settings):
    """The flags of the master that a graph on one machine or a few needs, and what its clients are told."""

    separator: ClassVar[Literal[" ", "="]] = "="

    rpc_address: str = Field(default="127.0.0.1", description="Address on which workers reach the master.")
    rpc_port: int = Field(default=50051, ge=1, le=65535, description="Port on which workers reach the master.")
    enable_http_metadata_server: bool = Field(
        default=True, description="Whether it also keeps the workers' addresses, so that no etcd is needed."
    )
    http_metadata_server_host: str = Field(
        default="127.0.0.1", description="Address of the metadata server; 0.3.13 listens on all of them nevertheless."
    )
    http_metadata_server_port: int = Field(default=8080, ge=1, le=65535, description="Port of the metadata server.")
    metrics_host: str = Field(default="127.0.0.1", description="Address of its Prometheus metrics and of /health.")
    metrics_port: int = Field(default=9003, ge=1, le=65535, description="Port of its Prometheus metrics.")
    eviction_high_watermark_ratio: float | None = setting("Fraction of memory in use above which it evicts.")
    default_kv_lease_ttl: int | None = setting("Milliseconds during which a key that was read is not evicted.")

    protocol: Annotated[Literal["tcp", "rdma"], FOR_LAUNCHER] = Field(
        default="tcp", description="How blocks travel between the workers."
    )
    device_name: Annotated[str, FOR_LAUNCHER] = Field(
        default="", description="RDMA devices with commas; those that Mooncake finds by default."
    )
    mode: Annotated[Literal["embedded", "standalone-store"], FOR_LAUNCHER] = Field(
        default="embedded",
        description="Whose memory holds the blocks: each rank's own, lost when it ends, or that of `mooncake_client`.",
    )
    global_segment_size: Annotated[str | None, FOR_LAUNCHER] = setting(
        "Memory that each rank gives to the store; 4gb by default, and none in standalone-store.", pattern=_SIZE
    )
    local_buffer_size: Annotated[str, FOR_LAUNCHER] = Field(
        default="1gb", description="Memory of each rank for blocks on their way.", pattern=_SIZE
    )

    @property
    def segment_size(self) -> str:
        """Memory that each rank gives to the store."""
        return self.global_segment_size or ("4gb" if self.mode == "embedded" else "0")

    @model_validator(mode="after")
    def _gives_what_its_mode_asks(self) -> "MooncakeSettings":
        gives = float(self.segment_size.rstrip("bBkKmMgG "))
        if self.mode == "standalone-store" and gives:
            raise ValueError("global-segment-size must be 0 in mode standalone-store, where ranks give no memory")
        if self.mode == "embedded" and not gives:
            raise ValueError("global-segment-size must be above 0 in mode embedded, where the ranks are the store")
        return self

    def _words(self, name: str, value: Any, form: object) -> Any:
        # gflags has no `--no-flag` with a dash; `--flag=false` is its own form.
        return super()._words(name, str(value).lower() if isinstance(value, bool) else value, form)
