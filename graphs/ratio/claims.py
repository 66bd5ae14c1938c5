"""The published numbers about time, beside what operations, bytes and other published numbers come to.

They complete `graphs/memory/ledger.py`, which says whose they are and what the verdicts mean.
"""

from typing import Final

from components.kvcache.rows import INDEXER_VALUES, LATENT_VALUES, NVFP4_DS_MLA, ROPE_VALUES, token_bytes
from graphs.memory.devices import device
from graphs.memory.ladder import Engine, ladder
from graphs.memory.ledger import Claim, Verdict, explained
from graphs.memory.ledger import ledger as about_memory
from graphs.memory.shapes import KNOWN
from graphs.memory.transfer import PIECE_US, TRANSFER_GB_S
from graphs.ratio.work import SELECTED, context_operations, step_bytes, token_operations
from graphs.settings.vllm import VllmSettings

_MODEL: Final = KNOWN["GLM-5.3"]


def ledger() -> list[Claim]:
    """Return every claim, those about memory first."""
    return [*about_memory(), *_indexers(), *_speed(), *_measured()]


def _indexers() -> list[Claim]:
    """Where the indexer costs what sparse attention does: by operations, and by time where its own are in FP8."""
    attention = 2 * _MODEL.num_attention_heads * (2 * LATENT_VALUES + ROPE_VALUES) * SELECTED
    every = attention // (2 * _MODEL.index_n_heads * INDEXER_VALUES)
    shared = every * _MODEL.num_hidden_layers // len(_MODEL.kv.indexer_layers)
    return [
        explained(
            "vLLM",
            "context at which the indexer costs most",
            "32K, 256K",
            f"{every / 1024:.0f}K, {2 * shared / 1024:.0f}K",
            "what is compared is not said, and it may be this: an indexer in each layer has sparse attention's "
            f"operations at {every:,} tokens; in 21 of 78 layers and in FP8, twice as fast, it takes its time at "
            f"{2 * shared:,}. Theirs are the nearest powers of two",
        )
    ]


def _speed() -> list[Claim]:
    # The budget saved 440 ms of waiting, and that was 20 % of the time to first token.
    first_ms = (550 - 110) / 0.2 - (550 - 110)
    user = _user(_ANSWER, first_ms)
    needed_s = 66 * _ANSWER / (100 * 24) - _ANSWER / user
    return [
        explained(
            "PI",
            "E2E for each of 66 users at 1:4",
            "101 tok/s",
            f"{user:.0f} tok/s",
            f"an answer of {_ANSWER} tokens, as recorded agents have, at {_ITL_MS} ms, after {first_ms:,.0f} ms to the "
            f"first token: 550 to 110 ms of wait were 20 % of it. With the median answer of {_MEDIAN_ANSWER} tokens it "
            f"is {_user(_MEDIAN_ANSWER, first_ms):.0f}; replays are in docs/plan.md",
        ),
        Claim(
            "PI",
            "for each of 24 GPUs then",
            "100 tok/s",
            "",
            f"the time between turns is not said: a mean of {needed_s:.1f} s between an answer and the next turn would "
            "give it, where recorded agents have 47 s if the longest is 300 s; see docs/plan.md",
            Verdict.NOT_COMPUTABLE,
        ),
    ]


def _user(answer: int, first_ms: float) -> float:
    return answer * 1e3 / (first_ms + answer * _ITL_MS)


_ANSWER: Final = 432
_MEDIAN_ANSWER: Final = 216
"""Mean and median over the requests of the recorded coding agents that docs/replay.md names, as a replay reads them."""

_ITL_MS: Final = 6.08


def _measured() -> list[Claim]:
    def measurement(what: str, published: str, why: str) -> Claim:
        return Claim("PI", what, published, "", why, Verdict.NOT_COMPUTABLE)

    chunk = 8_192 * (token_operations(_MODEL) + 140_000 * context_operations(_MODEL))
    bound_ms = _decode_bytes(4) / (device("gb200").memory_tb_s * 1e12) * 1e3
    prefix_gb = 140_000 * token_bytes(_MODEL.kv, NVFP4_DS_MLA).all_bytes / 1e9
    return [
        measurement(
            "transfer, layer-major to block-major",
            "146 to 78 ms",
            f"the link was measured; both together are {PIECE_US:.1f} us a piece and {TRANSFER_GB_S:.0f} GB/s, if both "
            "moved 198,000 tokens. Here `benchmarks/nixl`",
        ),
        measurement(
            "prefill chunk",
            "408 of 678 ms",
            f"measured, and we do not know what the 408 are of. 8,192 tokens behind 140,000 are {chunk / 1e15:.1f} "
            f"PFLOP, so 678 ms would be {chunk / 0.678 / 1e15:.1f} PFLOP/s, "
            f"{chunk / 0.678 / 1e15 / device('gb200').fp8_pflops:.0%} of a GB200's FP8",
        ),
        measurement(
            "ITL at 64 sessions",
            "6.08 ms",
            f"measured, with a batch that is not said. With 4 requests a step reads {_decode_bytes(4) / 1e9:.0f} GB of "
            f"each GPU, {bound_ms:.1f} ms at 8 TB/s, for the 1 to 4 tokens that it brings",
        ),
        measurement(
            "queue wait",
            "550 to 110 ms",
            "measured, under a load that is not said; replayed in docs/plan.md, and in small in "
            "`benchmarks/prefill_budget`",
        ),
        measurement(
            "wait after a prefix was fetched",
            "1,347 ms after 127 ms",
            f"measured, of a prefix that is not said: 140,000 tokens, {prefix_gb:.1f} GB, would be "
            f"{prefix_gb / 0.127:.0f} GB/s; the timeline tells the two apart (docs/timeline.md)",
        ),
    ]


def _decode_bytes(requests: int) -> float:
    """What one GPU of TP4 reads in a decode step, with three drafts and 140,000 tokens of context."""
    settings = VllmSettings.model_validate(
        {
            "tensor-parallel-size": 4,
            "kv-cache-dtype": "nvfp4_ds_mla",
            "speculative-config": {"method": "mtp", "num_speculative_tokens": 3},
        }
    )
    engine = Engine("Decode", "decode", settings, _MODEL, "nvfp4", device("gb200"))
    return step_bytes(engine, ladder(engine), requests, 140_000)
