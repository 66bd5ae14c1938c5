"""Settings of `python -m dynamo.mocker` 1.6.1: its engine flags, by its own names.

Left out, and held to by a test: flags that the graph or `Runtime` sets (`disaggregation-mode`, the planes), several
engines in one process (a replica is a process), deprecated flags, those of SGLang and TensorRT-LLM, and the routing
hints of a worker, since in these graphs the frontend routes.
"""

from typing import Any, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from graphs.settings.base import Negatable, Settings, Switch, setting

CacheDtype = Literal["auto", "bfloat16", "fp8", "fp8_ds_mla", "fp8_e4m3", "fp8_e5m2", "fp8_inc"]


class MockerSettings(Settings):
    """The flags of Dynamo's mock engine."""

    model_path: str | None = setting("Folder of the tokenizer and chat template; `stand-in` makes one at the start.")
    model_name: str | None = setting("The model's name in the API.")
    endpoint: str | None = setting("Dynamo endpoint as which it registers, as dyn://namespace.component.endpoint.")

    data_parallel_size: PositiveInt | None = setting("Data-parallel ranks, each with its own KV cache.")
    block_size: PositiveInt | None = setting("Tokens of one KV block.")
    num_gpu_blocks_override: PositiveInt | None = setting("KV blocks of each data-parallel rank.")
    max_model_len: PositiveInt | None = setting("Longest prompt and answer together, in tokens.")
    max_num_seqs: PositiveInt | None = setting("Requests in one step.")
    max_num_batched_tokens: PositiveInt | None = setting("Tokens in one step: the prefill budget.")
    enable_prefix_caching: Negatable = setting("Whether a known prefix is not computed again.")
    enable_chunked_prefill: Negatable = setting("Whether a prompt may be cut over several steps.")
    preemption_mode: Literal["lifo", "fifo"] | None = setting("Whether the newest or the oldest request yields memory.")

    speedup_ratio: NonNegativeFloat | None = setting("Simulated seconds in one second; 0 for no waiting at all.")
    decode_speedup_ratio: NonNegativeFloat | None = setting("A further factor for decode steps only.")
    startup_time: NonNegativeFloat | None = setting("Simulated seconds of loading.")
    planner_profile_data: str | None = setting("Profile of a real engine from which step times are taken.")
    engine_type: str | None = setting("Engine whose scheduler is imitated.")
    reasoning: dict[str, Any] | str | None = setting("How much of an answer is reasoning.")
    response_replay_trace_path: str | None = setting("Trace from which answers are replayed.")
    extra_engine_args: str | None = setting("JSON file with more engine settings.")

    kv_cache_dtype: CacheDtype | None = setting("Type of a KV row, for its size.")
    kv_bytes_per_token: PositiveInt | None = setting("Bytes of one token's KV, over all layers.")
    kv_transfer_bandwidth: NonNegativeFloat | None = setting("GB/s from prefill to decode.")
    kv_transfer_timing_mode: str | None = setting("Which tokens a transfer is charged for.")
    num_host_blocks: NonNegativeInt | None = setting("KV blocks of the host-memory tier.")
    host_offload_d2h_bandwidth_gbps: NonNegativeFloat | None = setting("GB/s from GPU to host.")
    host_offload_h2d_bandwidth_gbps: NonNegativeFloat | None = setting("GB/s from host to GPU.")
    zmq_kv_events_ports: str | None = setting("One port per engine for KV events over ZMQ, with commas.")
    zmq_replay_ports: str | None = setting("One port per engine for replay of KV events, with commas.")
    bootstrap_ports: str | None = setting("One port per engine where prefill and decode meet, with commas.")

    gpu_memory_utilization: float | None = setting("Fraction of GPU memory for KV, for AISimulate.", gt=0, le=1)
    ais_perf_model: Switch = setting("Whether step times come from AISimulate.")
    ais_perf_config: dict[str, Any] | str | None = setting("AISimulate's own settings.")
    ais_system: str | None = setting("AISimulate: the machine.")
    ais_backend: str | None = setting("AISimulate: the engine.")
    ais_backend_version: str | None = setting("AISimulate: the engine's version.")
    ais_tp_size: PositiveInt | None = setting("AISimulate: tensor-parallel size.")
    ais_moe_tp_size: PositiveInt | None = setting("AISimulate: tensor-parallel size of the experts.")
    ais_moe_ep_size: PositiveInt | None = setting("AISimulate: expert-parallel size.")
    ais_attention_dp_size: PositiveInt | None = setting("AISimulate: data-parallel size of attention.")
    ais_nextn: PositiveInt | None = setting("AISimulate: MTP draft tokens.")
    ais_nextn_accept_rates: str | None = setting("AISimulate: acceptance of each draft token, with commas.")
    ais_mtp_seed: NonNegativeInt | None = setting("AISimulate: seed of the acceptance draws.")
