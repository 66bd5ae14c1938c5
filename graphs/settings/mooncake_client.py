"""Settings of `mooncake_client`, a process that gives its memory to a Mooncake store and outlives the engines.

Its parser is gflags, as the master's. Where the master is it is told by the launcher, unless a person says so.
"""

from typing import ClassVar, Literal

from pydantic import Field

from graphs.settings.base import Settings, setting


class MooncakeClientSettings(Settings):
    """The flags that a store of host memory needs."""

    separator: ClassVar[Literal[" ", "="]] = "="

    host: str = Field(default="127.0.0.1", description="Address of this machine at which workers reach its memory.")
    port: int = Field(default=50052, ge=1, le=65535, description="Port of its own service.")
    protocol: Literal["tcp", "rdma"] | None = setting("How blocks travel; the master's own setting by default.")
    device_names: str | None = setting("RDMA devices with commas; those that Mooncake finds by default.")
    global_segment_size: str = Field(default="4GB", description="Memory that it gives to the store.")
    threads: int | None = setting("Threads of its service.", ge=1)
    master_server_address: str | None = setting("Where the master is; that of the graph by default.")
    metadata_server: str | None = setting("Where the metadata server is; that of the graph by default.")
