"""How the miniatures are asked: greedily, every answer as long as the reference's, with the log probabilities."""

import asyncio
from collections.abc import Sequence

from openai import AsyncOpenAI

from tests.engines.miniature import Miniature
from tests.engines.reference import TOKENS
from tests.live.chat import Answer, Chat, Json, answer_of

AT_ONCE = 4


async def ask_all(graph: Miniature, conversations: Sequence[list[Json]]) -> list[Answer]:
    """The answers to all conversations, in their order; a few are asked at once."""
    slots = asyncio.Semaphore(AT_ONCE)
    async with AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0) as client:

        async def ask_one(messages: list[Json]) -> Answer:
            async with slots:
                completion = await client.chat.completions.create(
                    model=graph.model,
                    messages=messages,  # type: ignore[arg-type]
                    max_tokens=TOKENS,
                    temperature=0,
                    logprobs=True,
                    extra_body={"ignore_eos": True},
                )
                return answer_of(completion)

        return await asyncio.gather(*map(ask_one, conversations))


def ask(chat: Chat, messages: list[Json], **extra: object) -> Answer:
    """One answer of the reference's length."""
    return chat.whole(messages, max_tokens=TOKENS, temperature=0, extra_body={"ignore_eos": True, **extra})


def said(answer: Answer) -> Json:
    """The answer as the next turn tells it; the tokens of its random text may be cut otherwise then."""
    return {"role": "assistant", "content": answer.content, "reasoning_content": answer.reasoning}


def prompt_tokens(answer: Answer) -> int:
    """Tokens of the prompt."""
    assert answer.usage is not None
    return answer.usage.prompt_tokens


def cached_tokens(answer: Answer) -> int:
    """Tokens of the prompt that prefill found in its cache."""
    assert answer.usage is not None
    assert answer.usage.prompt_tokens_details is not None
    return answer.usage.prompt_tokens_details.cached_tokens or 0
