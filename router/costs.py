"""What things cost, in milliseconds of somebody's time, and how the router weighs them.

The defaults describe GLM-5.3 on one DEP8 prefill engine and TP4 decode engines of GB200, KV rows of `fp8_ds_mla`. They
are starting values: `router/fit.py` corrects those that a deployment shows to be others.
"""

from typing import Protocol

import msgspec

KV_TOKEN_BYTES = 54_728
"""One token in all layers: 78 latent rows of 656 B, 21 indexer rows of 132 B, one MTP row of 788 B."""


class Costs(msgspec.Struct, frozen=True):
    """The prices.

    Attributes:
        prefill_token_us: Compute of one new prompt token on one rank, without attention to context.
        context_token_ns: What each token of context adds to a new token: the indexer reads all of it, attention only
            its 2,048 best.
        step_ms: A prefill step that computes next to nothing: launch, and the exchange between experts.
        budget_tokens: New tokens a rank computes in one step (`--max-num-batched-tokens`, which is per rank).
        kv_token_bytes: KV of one token, all layers.
        fetch_gb_s: Host memory to one prefill rank, GB/s.
        transfer_gb_s: Prefill rank to decode engine, GB/s.
        transfer_ms: A transfer that moves next to nothing: handshake, and a notice each way.
        piece_us: Each piece a transfer is cut into.
        piece_tokens: Tokens in a piece: one block, with a layout that keeps all layers of a block together.
        decode_step_ms: A decode step of one request.
        decode_request_us: What each further request adds to a decode step.
        decode_steps_ms: Decode steps of 1, 2, … requests where they are known one by one, instead of the line that the
            two prices before draw; it goes on from the last of them.
        answer_tokens: Length of an answer where nothing better is known, tokens.
        host_tokens: Tokens of KV that the host tier behind the prefill ranks holds; 0 where there is none.
    """

    prefill_token_us: float = 83.0
    context_token_ns: float = 0.23
    step_ms: float = 12.0
    budget_tokens: int = 8192
    kv_token_bytes: int = KV_TOKEN_BYTES
    fetch_gb_s: float = 20.0
    transfer_gb_s: float = 40.0
    transfer_ms: float = 5.0
    piece_us: float = 2.0
    piece_tokens: int = 64
    decode_step_ms: float = 14.0
    decode_request_us: float = 250.0
    decode_steps_ms: tuple[float, ...] = ()
    answer_tokens: int = 400
    host_tokens: int = 0

    @property
    def costs(self) -> "Costs":
        """These prices, in force for ever: where nothing corrects them."""
        return self

    def prefill_ms(self, new_tokens: int, prompt_tokens: int) -> float:
        """Compute of a prompt of which `new_tokens` are not cached, on one rank, without its steps' fixed part."""
        context = prompt_tokens - new_tokens / 2
        return new_tokens * (self.prefill_token_us + context * self.context_token_ns / 1e3) / 1e3

    def first_token_parts(
        self, prompt_tokens: int, new_tokens: int, host_tokens: int, moved_tokens: int
    ) -> tuple[float, float, float, float, float]:
        """Return what a request takes to its first token where nobody is before it, ms a part.

        The parts are what is fixed, of its steps and of a transfer; its new tokens; their context; the fetch of those
        in the host tier; and the move of those to a decode engine that it has not kept.
        """
        steps = max(1, -(-new_tokens // self.budget_tokens))
        tokens = new_tokens * self.prefill_token_us / 1e3
        transfer = self.transfer_ms if moved_tokens else 0.0
        return (
            steps * self.step_ms + transfer,
            tokens,
            self.prefill_ms(new_tokens, prompt_tokens) - tokens,
            self.fetch_ms(host_tokens),
            self.move_ms(moved_tokens) - transfer,
        )

    def share_ms(self, new_tokens: float) -> float:
        """Compute of new tokens by their number alone, as a step's budget counts them."""
        return new_tokens * self.prefill_token_us / 1e3

    def fetch_ms(self, tokens: int) -> float:
        """Time to bring cached tokens from host memory to a prefill rank."""
        return tokens * self.kv_token_bytes / self.fetch_gb_s / 1e6

    def move_ms(self, tokens: int) -> float:
        """Time to move the KV of tokens from a prefill rank to a decode engine."""
        if tokens <= 0:
            return 0.0
        pieces = -(-tokens // self.piece_tokens)
        return self.transfer_ms + tokens * self.kv_token_bytes / self.transfer_gb_s / 1e6 + pieces * self.piece_us / 1e3

    def decode_ms(self, requests: int) -> float:
        """One decode step of that many requests: what each of them waits for its next token."""
        if known := self.decode_steps_ms:
            last = min(max(requests, 1), len(known))
            return known[last - 1] + max(0, requests - last) * self.decode_request_us / 1e3
        return self.decode_step_ms + max(0, requests - 1) * self.decode_request_us / 1e3


class Prices(Protocol):
    """Whoever knows the prices in force: `Costs` itself, or a fit that corrects them."""

    @property
    def costs(self) -> Costs:
        """The prices in force."""
