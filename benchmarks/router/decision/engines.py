"""The mock engines: four DP8 prefill engines and sixteen decoders, Dynamo's mockers in two processes."""

from typing import Final

from benchmarks.frontend.processes import Processes
from components.local.model import make_model

MODEL: Final = "mocked"
BLOCK: Final = 64
ENGINES: Final = 4
RANKS: Final = 8
DECODERS: Final = 16
RANK_BLOCKS: Final = 12_000
"""768K tokens of KV on a prefill rank."""

_DECODER_BLOCKS: Final = 32_768


def start_engines(group: Processes) -> None:
    """Start them; discovery shows them within some seconds."""
    folder = group.folder / "model"
    make_model(folder)
    mocker = ["-m", "dynamo.mocker", "--model-path", str(folder), "--model-name", MODEL, "--speedup-ratio", "1000"]
    mocker += ["--block-size", str(BLOCK), "--max-num-batched-tokens", "16384"]
    prefill = ["--disaggregation-mode", "prefill", "--num-workers", str(ENGINES), "--data-parallel-size", str(RANKS)]
    decode = ["--disaggregation-mode", "decode", "--num-workers", str(DECODERS)]
    group.start("prefill", [*mocker, *prefill, "--num-gpu-blocks-override", str(RANK_BLOCKS)])
    group.start("decode", [*mocker, *decode, "--num-gpu-blocks-override", str(_DECODER_BLOCKS)])
