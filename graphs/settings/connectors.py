"""`connectors`: what moves a KV cache in and out of an engine, each by a short name with its own options.

    connectors: [nixl, mooncake]
    connectors: [{hisparse: {host-pool-gib: 48}}, nixl, {offload: {gib: 16}}]

vLLM 0.31.0 loads from the first connector of the list that has the tokens, and saves to all of them.
"""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from graphs.settings.base import Strict, kebab, setting


class Options(Strict):
    """Options of one connector; a name that is not typed here is an extra key of vLLM's, passed on as it is."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=kebab, allow_inf_nan=False, coerce_numbers_to_str=True, extra="allow", frozen=True
    )


class Nixl(Options):
    """`NixlConnector`: decode reads KV blocks out of the prefill engine's memory."""

    kv_buffer_device: str | None = setting("Memory that is registered: cuda, or cpu for engines without a GPU.")


class Mooncake(Options):
    """`MooncakeStoreConnector`: KV blocks in a store that other engines, and this one later, read from."""

    load_async: bool | None = setting("Whether blocks are fetched while other requests compute; on by default.")
    lookup_async: bool | None = setting("Whether the store is asked while other requests are scheduled.")
    save_decode_cache: bool | None = setting("Whether blocks that decoding fills are stored too.")


class HiSparse(Options):
    """`HiSparseConnector`: pages that sparse attention seldom reads are spilled to pinned host memory."""

    host_pool_gib: float = Field(gt=0, description="GiB of pinned host memory for each data-parallel rank.")


class Offload(Options):
    """`OffloadingConnector`: evicted KV blocks go to host memory and come back from it."""

    gib: float = Field(gt=0, description="GiB of host memory for each data-parallel rank.")


def _or_a_bare_name(schema: dict[str, Any]) -> None:
    spelled_out = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"enum": ["nixl", "mooncake"]}, spelled_out]


class Connector(Strict):
    """One entry of the list: exactly one name."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=kebab,
        allow_inf_nan=False,
        extra="forbid",
        frozen=True,
        json_schema_extra=_or_a_bare_name,
    )

    nixl: Nixl | None = setting("From prefill to decode, over NIXL.")
    mooncake: Mooncake | None = setting("The Mooncake store of the graph's `Mooncake` service.")
    hisparse: HiSparse | None = setting("Host memory under a sparse-attention decoder.")
    offload: Offload | None = setting("Host memory as a second level under the GPU's cache.")

    @model_validator(mode="after")
    def _one_name(self) -> "Connector":
        if len(self.model_fields_set) != 1:
            raise ValueError(f"a connector is one of {', '.join(type(self).model_fields)}, each in an entry of its own")
        return self

    @property
    def name(self) -> str:
        """The short name."""
        return next(iter(self.model_fields_set))

    @property
    def options(self) -> Options:
        """Its options."""
        options: Options = getattr(self, self.name)
        return options


def _spelled_out(entry: Any) -> Any:
    """`nixl` and `nixl:` without options are `{nixl: {}}`."""
    if isinstance(entry, str):
        return {entry: {}}
    return {name: {} if value is None else value for name, value in entry.items()} if isinstance(entry, dict) else entry


Connectors = list[Annotated[Connector, BeforeValidator(_spelled_out)]]
