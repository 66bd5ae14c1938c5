"""Settings of `python -m dynamo.vllm` 1.6.1 with vLLM 0.31.0.

Flags that decide how prefill and decode fit together are typed, by vLLM's own names; every other flag of vLLM or of
`dynamo.vllm` passes as it is. The last group are no flags: the launcher makes arguments, environment, ports and files
of them, since those differ from process to process.
"""

from ipaddress import ip_address
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, NonNegativeInt, PositiveInt

from graphs.settings.base import FOR_LAUNCHER, Negatable, Settings, kebab, setting
from graphs.settings.connectors import Connectors

CacheDtype = Literal[
    "auto",
    "float16",
    "bfloat16",
    "fp8",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_inc",
    "fp8_ds_mla",
    "nvfp4_ds_mla",
    "turboquant_k8v4",
    "turboquant_4bit_nc",
    "turboquant_k3v4_nc",
    "turboquant_3bit_nc",
    "int4_per_token_head",
    "int8_per_token_head",
    "fp8_per_token_head",
    "nvfp4",
    "nvfp4_4over6",
]
All2AllBackend = Literal[
    "allgather_reducescatter",
    "deepep_high_throughput",
    "deepep_low_latency",
    "deepep_v2",
    "flashinfer_all2allv",
    "flashinfer_nvlink_one_sided",
    "flashinfer_nvlink_two_sided",
    "moonep",
    "mori_high_throughput",
    "mori_low_latency",
    "nixl_ep",
]
Layout = Literal["LBNHC", "LBHNC", "LHBNC", "BLHNC", "BLNHC", "BHLNC"]
Json = dict[str, Any]
# ZeroMQ binds it, and binds no host names.
Address = Annotated[str, AfterValidator(lambda text: str(ip_address(text)))]


class VllmSettings(Settings):
    """A vLLM engine behind Dynamo."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=kebab, coerce_numbers_to_str=True, extra="allow", frozen=True, protected_namespaces=()
    )

    model: str | None = setting("Folder of the model, or its id on the Hugging Face hub; both stages spell it alike.")
    served_model_name: str | None = setting("The model's name in the API.")
    load_format: str | None = setting("How weights are read.")
    dtype: Literal["auto", "half", "float16", "bfloat16", "float", "float32"] | None = setting("Type of activations.")
    quantization: str | None = setting("How the weights are quantized, where the checkpoint does not say.")
    enforce_eager: Negatable = setting("Whether to run without CUDA graphs.")
    max_model_len: PositiveInt | None = setting("Longest prompt and answer together, in tokens.")

    tensor_parallel_size: PositiveInt | None = setting("GPUs that share each layer's matrices.")
    pipeline_parallel_size: PositiveInt | None = setting("Groups of layers, each on GPUs of its own.")
    data_parallel_size: PositiveInt | None = setting("Attention ranks on all machines, each with its own KV cache.")
    data_parallel_size_local: PositiveInt | None = setting("Attention ranks of this process; all of them by default.")
    data_parallel_start_rank: NonNegativeInt | None = setting("First attention rank of this process.")
    data_parallel_rank: NonNegativeInt | None = setting("The attention rank of this process, when it has one only.")
    data_parallel_hybrid_lb: Negatable = setting("Whether each machine's process takes requests for its own ranks.")
    data_parallel_external_lb: Negatable = setting("Whether each rank is a process that takes its own requests.")
    data_parallel_address: str | None = setting("Address of the machine that has rank 0.")
    data_parallel_rpc_port: int | None = setting("Port there on which the ranks meet.", ge=1, le=65535)
    data_parallel_backend: Literal["mp", "ray"] | None = setting("Who starts the ranks.")
    enable_expert_parallel: Negatable = setting("Whether the experts are sharded over all ranks.")
    all2all_backend: All2AllBackend | None = setting("How tokens travel to their experts and back.")
    prefill_context_parallel_size: PositiveInt | None = setting("Ranks that share the computing of one prompt (PCP).")
    decode_context_parallel_size: PositiveInt | None = setting("Ranks that share the KV cache of one session (DCP).")
    dcp_comm_backend: Literal["ag_rs", "a2a"] | None = setting("How DCP ranks exchange partial attention.")

    kv_cache_dtype: CacheDtype | None = setting("Format of a KV row.")
    block_size: PositiveInt | None = setting("Tokens of one KV block.")
    attention_backend: str | None = setting("Attention kernels.")
    attention_config: Json | None = setting("vLLM's AttentionConfig.")
    enable_prefix_caching: Negatable = setting("Whether a known prefix is not computed again; on by default.")
    gpu_memory_utilization: float | None = setting("Fraction of each GPU's memory that vLLM takes.", gt=0, le=1)
    num_gpu_blocks_override: PositiveInt | None = setting("KV blocks of each rank, instead of what memory allows.")

    max_num_batched_tokens: PositiveInt | None = setting("Tokens in one step of each rank: the prefill budget.")
    max_num_seqs: PositiveInt | None = setting("Requests in one step of each rank.")
    long_prefill_token_threshold: NonNegativeInt | None = setting(
        "Prompt tokens above which a prompt yields to others."
    )
    scheduler_reserve_full_isl: Negatable = setting("Whether a prompt is admitted only when all of it fits.")
    scheduler_cls: str | None = setting("Class of the scheduler; by default, with `forward-pass-metrics`, ours.")
    disable_hybrid_kv_cache_manager: Negatable = setting("Whether all layers share one kind of KV block.")
    compilation_config: Json | None = setting("vLLM's CompilationConfig; cudagraph_mode is in it.")
    speculative_config: Json | None = setting("vLLM's SpeculativeConfig: method, num_speculative_tokens, ….")

    kv_transfer_config: Json | None = setting("vLLM's KVTransferConfig, by hand; `connectors` writes it for you.")
    kv_events_config: Json | None = setting("vLLM's KVEventsConfig, by hand; `kv-events` writes it for you.")

    connectors: Annotated[Connectors | None, FOR_LAUNCHER] = setting(
        "What moves KV in and out, in the order in which it is looked up: nixl, mooncake, hisparse, offload."
    )
    kv_load_failure_policy: Annotated[Literal["fail", "recompute"] | None, FOR_LAUNCHER] = setting(
        "What `connectors` do with a request whose KV does not arrive; vLLM's default is to fail it."
    )
    kv_events: Annotated[bool | None, FOR_LAUNCHER] = setting(
        "Whether each rank tells the router which blocks it stores and evicts, on a port of its own."
    )
    forward_pass_metrics: Annotated[bool | None, FOR_LAUNCHER] = setting(
        "Whether each rank tells the router the load of every step, on a port of its own."
    )
    kv_cache_layout: Annotated[Layout | None, FOR_LAUNCHER] = setting(
        "Order of layer, block, head, token and content in memory: VLLM_KV_CACHE_LAYOUT."
    )
    model_runner_v2: Annotated[bool | None, FOR_LAUNCHER] = setting(
        "Whether vLLM's second model runner computes the steps: VLLM_USE_V2_MODEL_RUNNER."
    )
    side_channel_host: Annotated[Address | None, FOR_LAUNCHER] = setting(
        "Address at which the other stage asks for KV: VLLM_NIXL_SIDE_CHANNEL_HOST; loopback on one machine."
    )

    @property
    def ranks(self) -> int:
        """Attention ranks of the engine on all machines."""
        return self.data_parallel_size or 1

    @property
    def local_ranks(self) -> int:
        """Attention ranks of this process."""
        if self.data_parallel_external_lb or self.data_parallel_rank is not None:
            return 1
        return self.data_parallel_size_local or self.ranks

    @property
    def gpus(self) -> int:
        """GPUs of this process. Decode context parallelism takes no GPUs of its own."""
        sizes = (self.tensor_parallel_size, self.pipeline_parallel_size, self.prefill_context_parallel_size)
        width = self.local_ranks
        for size in sizes:
            width *= size or 1
        return width
