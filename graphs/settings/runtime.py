"""`Runtime`: how the processes of a graph find and reach each other.

Names and values are those of the Dynamo runtime 1.6.1, which reads them from the environment.
"""

from typing import Literal

from pydantic import Field, model_validator

from graphs.settings.base import Strict


class Runtime(Strict):
    """One machine needs none of this: the defaults use a private folder, TCP and ZMQ on loopback."""

    discovery_backend: Literal["file", "etcd", "kubernetes", "mem"] = Field(
        default="file", description="Where processes register."
    )
    request_plane: Literal["tcp", "nats"] = Field(default="tcp", description="How requests travel.")
    event_plane: Literal["zmq", "nats"] = Field(default="zmq", description="How KV events travel.")
    etcd_endpoints: str | None = Field(default=None, description="URLs of etcd with commas, for the etcd backend.")
    nats_server: str | None = Field(default=None, description="URL of NATS, for a plane that uses it.")
    store_path: str | None = Field(
        default=None, description="Folder that all machines share, for the file backend on several machines."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "Runtime":
        if self.discovery_backend == "mem":
            raise ValueError("discovery-backend 'mem' is for one process; a graph has several: use 'file'")
        if self.store_path and self.discovery_backend != "file":
            raise ValueError(f"store-path is for discovery-backend 'file', not {self.discovery_backend!r}")
        if self.etcd_endpoints and self.discovery_backend != "etcd":
            raise ValueError(f"etcd-endpoints is for discovery-backend 'etcd', not {self.discovery_backend!r}")
        if self.nats_server and not self.uses_nats:
            raise ValueError("nats-server is for request-plane or event-plane 'nats', and neither is")
        return self

    @property
    def uses_nats(self) -> bool:
        """Whether a plane goes through NATS."""
        return "nats" in {self.request_plane, self.event_plane}

    @property
    def spans_machines(self) -> bool:
        """Whether processes on other machines may belong to the graph."""
        return self.discovery_backend != "file" or self.store_path is not None
