"""What was measured on GPUs and published, which the plan's times are made of.

Prime Inference's write-up of GLM-5.3 on GB200: a prefill chunk of 678 ms, an ITL of 6.08 ms at 64 sessions, and two
transfers (`graphs/memory/transfer.py`). How many tokens the chunk had, at what context, and how many requests a decode
step had at 64 sessions we do not know; what is taken instead is marked as assumed.
"""

import math
from collections.abc import Mapping, Sequence

import msgspec

from graphs.errors import Refusal
from graphs.memory.transfer import PIECE_US, TRANSFER_GB_S
from graphs.nearest import did_you_mean


class Measured(msgspec.Struct, frozen=True):
    """The measurements in use; each can be given anew by its name.

    Attributes:
        chunk_ms: A prefill step of one rank and GPU, ms.
        chunk_tokens: New tokens in it. Assumed: vLLM's budget before the write-up lowered it to 4,096.
        chunk_context: Mean context of those, tokens. Assumed; the mean prompt of recorded agents is 122,000.
        step_ms: What of it does not grow with tokens, ms. Assumed, as the router's own price.
        itl_ms: Time between two tokens of an answer, ms.
        itl_requests: Requests in a decoder's step then. Assumed: one of four of 64 sessions on four decoders.
        acceptance: Chance that a draft is right if those before it are. Assumed: 2.69 tokens of three drafts, which
            Dynamo's recipe of GLM-5.3 on B200 simulates. It matters only where an engine drafts another number.
        piece_us: Each piece of a transfer.
        transfer_gb_s: Bytes of a transfer, to each decode rank, GB/s.
        fetch_gb_s: Host memory to a prefill rank, GB/s. Assumed, as the router's own price.
    """

    chunk_ms: float = 678.0
    chunk_tokens: float = 8_192
    chunk_context: float = 140_000
    step_ms: float = 12.0
    itl_ms: float = 6.08
    itl_requests: float = 4
    acceptance: float = 0.74
    piece_us: float = PIECE_US
    transfer_gb_s: float = TRANSFER_GB_S
    fetch_gb_s: float = 20.0


def measured(given: Sequence[str]) -> Measured:
    """Replace measurements by those that a person has, as `NAME=NUMBER`.

    Raises:
        Refusal: There is none of that name, or it is no number above 0.
    """
    found: dict[str, float] = {}
    names = [field.replace("_", "-") for field in Measured.__struct_fields__]
    for each in given:
        name, _, number = each.partition("=")
        if name not in names:
            raise Refusal(f"--measured {each}: {did_you_mean(name, names)}")
        found[name.replace("-", "_")] = _number(each, number)
    replaced = msgspec.structs.replace(Measured(), **found)
    if replaced.acceptance > 1:
        raise Refusal(f"--measured acceptance={replaced.acceptance:g}: a chance is 1 at most")
    if replaced.step_ms >= replaced.chunk_ms:
        raise Refusal(
            f"--measured step-ms={replaced.step_ms:g}: a chunk takes {replaced.chunk_ms:g} ms in all: say less"
        )
    return replaced


def as_given(found: Measured) -> Mapping[str, float]:
    """Return them by the names that they are given by."""
    return {name.replace("_", "-"): value for name, value in msgspec.structs.asdict(found).items()}


def _number(each: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise Refusal(f"--measured {each}: write NAME=NUMBER above 0, such as itl-ms=6.08")
    return value
