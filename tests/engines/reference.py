"""What one aggregated engine answers: vLLM alone, without Dynamo, NIXL or prefix caching.

Usage: `python -m tests.engines.reference ANSWERS MODEL < conversations.json`, with vLLM's flags after the model's
folder. The answers are written to a file, since vLLM has words for standard output; it renders and tokenizes by itself,
so that the frontend's own rendering is compared as well.
"""

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKENS = 16
"""Tokens of an answer; greedy, and end tokens do not end it."""

COMMON = ("--dtype", "float32", "--enforce-eager", "--block-size", "32", "--no-enable-prefix-caching")
ENV = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}


TIE = 1e-3
"""Lead of the best token, in nats, below which another order of summing may put the next one first.

Tensor parallelism adds up halves that one engine adds at once: in float32 that moves a logit by some 1e-5.
"""


@dataclass(frozen=True)
class Reference:
    """The answers.

    Attributes:
        token_ids: Of each answer.
        leads: How far each of its tokens was ahead of the next best one, in nats.
        first: What transformers, which shares no kernel with vLLM, takes for each answer's first token.
    """

    token_ids: list[list[int]]
    leads: list[list[float]]
    first: list[int]

    def assert_sound(self) -> None:
        """See that the engine computes its model, and that each conversation has an answer of its own."""
        assert [ids[0] for ids in self.token_ids] == self.first
        assert len({tuple(ids) for ids in self.token_ids}) == len(self.token_ids), "wrong KV would not be seen"

    def different(self, answers: Sequence[list[int]], *, tie: float = 0.0) -> list[int]:
        """Numbers of the answers that are not equal, token by token up to the first whose lead was below `tie`."""
        return [
            number
            for number, (wanted, leads, got) in enumerate(zip(self.token_ids, self.leads, answers, strict=True))
            if got[: (sure := _sure(leads, tie))] != wanted[:sure]
        ]


def _sure(leads: list[float], tie: float) -> int:
    return next((place for place, lead in enumerate(leads) if lead < tie), len(leads))


def reference(model: Path, conversations: Sequence[Any], env: dict[str, str], *flags: str) -> Reference:
    """Run the engine in a process of its own, which leaves the memory to the graph that follows."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.json"
        ended = subprocess.run(
            [sys.executable, "-m", "tests.engines.reference", file, model, *COMMON, *flags],
            input=json.dumps(conversations),
            capture_output=True,
            text=True,
            check=False,
            env={**env, **ENV},
        )
        assert ended.returncode == 0, ended.stderr[-3000:]
        return Reference(**json.loads(file.read_text()))


def main() -> None:
    """Answer the conversations on standard input."""
    from vllm import LLM, SamplingParams  # noqa: PLC0415 - heavy, and wanted in the process of its own alone
    from vllm.engine.arg_utils import EngineArgs  # noqa: PLC0415 - as above
    from vllm.utils.argparse_utils import FlexibleArgumentParser  # noqa: PLC0415 - as above

    flags = EngineArgs.add_cli_args(FlexibleArgumentParser()).parse_args(["--model", *sys.argv[2:]])
    engine = LLM.from_engine_args(EngineArgs.from_cli_args(flags))
    params = SamplingParams(max_tokens=TOKENS, temperature=0, ignore_eos=True, logprobs=2)
    answered = engine.chat(json.load(sys.stdin), params, use_tqdm=False)
    answers = [answer.outputs[0] for answer in answered]
    ids = [list(answer.token_ids) for answer in answers]
    leads = [[_lead(position) for position in answer.logprobs or ()] for answer in answers]
    first = [_first(sys.argv[2], answer.prompt_token_ids) for answer in answered]
    Path(sys.argv[1]).write_text(json.dumps({"token_ids": ids, "leads": leads, "first": first}))


@functools.cache
def _model(folder: str) -> Any:
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - as above

    return AutoModelForCausalLM.from_pretrained(folder).eval()


def _first(folder: str, prompt: list[int]) -> int:
    import torch  # noqa: PLC0415 - as above

    with torch.no_grad():
        return int(_model(folder)(torch.tensor([prompt])).logits[0, -1].argmax())


def _lead(position: Any) -> float:
    best, second, *_ = sorted((entry.logprob for entry in position.values()), reverse=True)
    return float(best - second)


if __name__ == "__main__":
    main()
