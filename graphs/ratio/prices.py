"""The times of two planned engines: published measurements, scaled by what the model's shapes and flags come to."""

from typing import Final

from graphs.memory.assumptions import budget_tokens, step_requests
from graphs.memory.devices import DEVICES, Device
from graphs.memory.ladder import Engine, Ladder, ladder
from graphs.memory.shapes import KNOWN
from graphs.memory.transfer import cut
from graphs.ratio.measured import Measured
from graphs.ratio.work import accepted, context_operations, step_bytes, token_operations
from graphs.settings.vllm import VllmSettings
from router.costs import Costs

_GPU: Final = DEVICES["gb200"]
_MODEL: Final = KNOWN["GLM-5.3"]
_DECODER: Final = {
    "tensor-parallel-size": 4,
    "kv-cache-dtype": "nvfp4_ds_mla",
    "speculative-config": {"method": "mtp", "num_speculative_tokens": 3},
}
"""What the measured ITL is of: TP4 on GB200 in NVFP4, as configs/gb200-1p4d.yaml has it."""


def slots(decode: Engine, found: Ladder) -> int:
    """Return the most requests in one step of a decode engine, all of its ranks together."""
    return step_requests(decode.settings, found.device) * found.topology.data


def prices(
    prefill: tuple[Engine, Ladder],
    decode: tuple[Engine, Ladder],
    measured: Measured,
    context_tokens: float,
    *,
    host_tokens: int = 0,
    whole_blocks: bool = False,
) -> Costs:
    """Return what prefill, transfer and decode take.

    Prefill is the measured chunk, parted between a token and its context as their operations are, and shared by the
    GPUs of a rank. A decode step is as long as its bytes are many, by the one factor that gives the measured ITL. GPUs
    other than the measured ones are as fast as their data sheets compare: in FP8 for prefill, in memory for decode.

    Args:
        prefill: The prefill engine.
        decode: The decode engine.
        measured: The measurements.
        context_tokens: Mean prompt of the workload.
        host_tokens: What the host tier holds.
        whole_blocks: Whether a block moves as one piece; `NixlConnector` of vLLM 0.31 cuts it by layer.
    """
    token_us, context_ns = _prefill(*prefill, measured)
    steps = _steps_ms(*decode, measured, context_tokens)
    found = decode[1]
    blocks = cut(*decode, whole_rows=whole_blocks)
    pieces = max(1.0, blocks.pieces_per_block / found.topology.pipeline)
    moved_bytes = found.token_bytes // found.topology.decode_context
    return Costs(
        prefill_token_us=token_us,
        context_token_ns=context_ns,
        step_ms=measured.step_ms,
        budget_tokens=budget_tokens(prefill[0].settings, prefill[1].device),
        kv_token_bytes=moved_bytes,
        # What is fetched is a prefill rank's, whose rows may be others.
        fetch_gb_s=measured.fetch_gb_s * moved_bytes / prefill[1].token_bytes / prefill[1].topology.pipeline,
        transfer_gb_s=measured.transfer_gb_s,
        transfer_ms=0.0,
        piece_us=measured.piece_us * pieces,
        piece_tokens=blocks.block_tokens * found.topology.decode_context,
        decode_step_ms=steps[0],
        decode_request_us=(steps[-1] - steps[0]) / max(1, len(steps) - 1) * 1e3,
        decode_steps_ms=steps,
        host_tokens=host_tokens,
    )


def _prefill(engine: Engine, found: Ladder, measured: Measured) -> tuple[float, float]:
    """The time of a new token, in us, and of each token of its context, in ns."""
    token, context = token_operations(_MODEL), context_operations(_MODEL)
    done = measured.chunk_tokens * (token + measured.chunk_context * context)
    us_per_operation = (measured.chunk_ms - measured.step_ms) * 1e3 / done
    gpus = found.topology.gpus / found.topology.data * _faster(found.device.fp8_pflops, _GPU.fp8_pflops)
    own_token, own_context = token_operations(engine.shapes), context_operations(engine.shapes)
    return own_token * us_per_operation / gpus, own_context * us_per_operation * 1e3 / gpus


def _steps_ms(engine: Engine, found: Ladder, measured: Measured, context_tokens: float) -> tuple[float, ...]:
    """The time between two tokens of an answer, by the requests in the engine's step."""
    known = Engine("Decode", "decode", VllmSettings.model_validate(_DECODER), _MODEL, "nvfp4", _GPU)
    read = step_bytes(known, ladder(known), measured.itl_requests, measured.chunk_context)
    ms_per_byte = measured.itl_ms * accepted(known, measured.acceptance) / read
    tokens = accepted(engine, measured.acceptance) * _faster(found.device.memory_tb_s, _GPU.memory_tb_s)
    return tuple(
        step_bytes(engine, found, requests, context_tokens) * ms_per_byte / tokens
        for requests in range(1, slots(engine, found) + 1)
    )


def _faster(own: float, measured: float) -> float:
    # A GPU that is known by its memory only is taken to be like the measured one.
    return own / measured if own else 1.0


def measured_on(device: Device) -> bool:
    """Tell whether a GPU is the one that the measurements are of."""
    return device.name == _GPU.name
