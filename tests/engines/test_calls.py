"""Tool calls of a real engine under our structural tags: vLLM's xgrammar takes the tags, and every call is valid."""

import asyncio
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.engines.miniature import Miniature
from tests.live.chat import NO_THINKING, Answer, Json, answer_of, join, user
from tests.live.tools import TOOLS, named, problems

CALLS = 200
AT_ONCE = 32
LIMIT = 800
"""Tokens of an answer, several times what random weights write."""

pytestmark = pytest.mark.timeout(900)


def tools_of(number: int) -> list[Json]:
    """The one to three tools of the request of this number; twenty requests have each tool once in the first place."""
    return [list(TOOLS.values())[(number + step) % len(TOOLS)] for step in range(1 + number % 3)]


def thinks(number: int) -> bool:
    """Half of the requests think first: the tag lets the reasoning pass, and holds from its end on."""
    return number % 4 < 2


async def ask(client: AsyncOpenAI, model: str, number: int) -> Answer:
    """Ask for a call, in one of the ways in which calls are asked for."""
    tools = tools_of(number)
    fields: dict[str, Any] = {
        "model": model,
        "messages": user(f"Request {number}"),
        "tools": tools,
        "tool_choice": "required" if number % 2 else named(tools[0]["function"]["name"]),
        "max_tokens": LIMIT,
        # The best token of all that fit, so that every run says the same, and none again and again.
        "temperature": 0,
        "frequency_penalty": 0.5,
        "extra_body": {} if thinks(number) else NO_THINKING,
    }
    if number % 8 < 4:
        return answer_of(await client.chat.completions.create(**fields))
    return join([chunk async for chunk in await client.chat.completions.create(stream=True, **fields)])


async def ask_for(graph: Miniature, count: int) -> dict[int, Answer]:
    """Ask until there are so many calls; the answers by the numbers of their requests."""
    numbers = iter(range(2 * count))
    answers: dict[int, Answer] = {}

    async def work(client: AsyncOpenAI) -> None:
        while sum(len(whole_calls(answer)) for answer in answers.values()) < count:
            number = next(numbers)
            answers[number] = await ask(client, graph.model, number)

    client = AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0)
    async with client, asyncio.TaskGroup() as workers:
        for _ in range(AT_ONCE):
            workers.create_task(work(client))
    return answers


def whole_calls(answer: Answer) -> list[tuple[str, str]]:
    """The calls of an answer, but for one that a stream had begun when the limit cut it."""
    return answer.calls if answer.finish_reason == "tool_calls" else []


def wrong(number: int, answer: Answer) -> list[str]:
    """What is wrong with an answer."""
    found = [problem for name, text in whole_calls(answer) for problem in problems(name, text, tools_of(number))]
    if answer.finish_reason not in {"tool_calls", "length"}:
        found.append(f"it ended with {answer.finish_reason}")
    if answer.finish_reason == "tool_calls" and not answer.calls:
        found.append("it calls nothing")
    if not number % 2 and len(answer.calls) > 1:
        found.append("the named tool is called more than once")
    if answer.reasoning and not thinks(number):
        found.append("it thought, and was not to")
    return [f"request {number}: {problem}" for problem in found]


def test_two_hundred_calls_over_twenty_schemas_are_valid(wide: Miniature, capsys: pytest.CaptureFixture[str]) -> None:
    answers = asyncio.run(ask_for(wide, CALLS))

    calls = [call for answer in answers.values() for call in whole_calls(answer)]
    cut = sum(answer.finish_reason == "length" for answer in answers.values())
    with capsys.disabled():
        print(f"\n{len(calls)} calls of {len(answers)} answers, {cut} cut by the limit", end="")  # noqa: T201 - the figure is what is asked for
    assert not [problem for number, answer in answers.items() for problem in wrong(number, answer)]
    assert {name for name, _ in calls} == set(TOOLS)
    assert cut <= len(answers) / 5
    reasoned = [answer for number, answer in answers.items() if thinks(number) and answer.reasoning]
    assert len(reasoned) >= len(answers) / 4, "the reasoning gate was hardly passed"
