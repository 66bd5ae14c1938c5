"""Many conversations at once, each of which keeps its own history."""

import asyncio
from typing import Any

from openai import AsyncOpenAI

from tests.live.chat import Answer, Json, answer_of, user
from tests.live.serving import Graph
from tests.live.tools import TOOLS, assert_calls

SESSIONS = 12
TURNS = 3
OFFERED = [TOOLS["read_file"], TOOLS["get_weather"]]


async def converse(client: AsyncOpenAI, model: str, session: int) -> list[Answer]:
    """Three turns of one conversation: question, tool results, question."""
    history: list[Json] = [
        {"role": "system", "content": f"This is conversation {session}. Keep it apart from all others. " * 8},
        *user(f"What is in file {session}?"),
    ]
    answers = []
    for turn in range(TURNS):
        fields: dict[str, Any] = {"model": model, "messages": history, "tools": OFFERED}
        if turn == 0:
            fields["tool_choice"] = "required"
        answer = answer_of(await client.chat.completions.create(**fields))
        answers.append(answer)
        calls = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, (name, arguments) in zip(answer.call_ids, answer.calls, strict=True)
        ]
        said = {"role": "assistant", "content": answer.content, "reasoning_content": answer.reasoning}
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": f"content of file {session}"} for call in calls
        ]
        more = [] if calls else user(f"And in file {session} of the other folder?")
        history += [said | ({"tool_calls": calls} if calls else {}), *results, *more]
    return answers


async def test_sessions_at_once_say_what_each_says_alone(graph: Graph) -> None:
    async with AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0) as client:
        together = await asyncio.gather(*(converse(client, graph.model, number) for number in range(SESSIONS)))
        alone = [await converse(client, graph.model, number) for number in range(SESSIONS)]
    assert together == alone
    for answers in together:
        assert_calls(answers[0], OFFERED)
        assert all(answer.finish_reason in ("stop", "tool_calls") for answer in answers)
        lengths = [answer.usage.prompt_tokens for answer in answers if answer.usage]
        assert lengths == sorted(set(lengths))
        assert len(lengths) == TURNS


async def test_sessions_are_spread_over_the_decoders(graph: Graph) -> None:
    before = {process.pid: sum(process.cpu_times()[:2]) for process in graph.processes("Decode")}
    assert len(before) == 4
    async with AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0) as client:
        await asyncio.gather(*(converse(client, graph.model, 100 + number) for number in range(16)))
    worked = {process.pid: sum(process.cpu_times()[:2]) - before[process.pid] for process in graph.processes("Decode")}
    assert min(worked.values()) > max(worked.values()) / 10, worked
