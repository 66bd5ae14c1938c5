"""`openai-agents` drives the endpoint unchanged, through both of its models."""

from collections.abc import AsyncIterator
from typing import Any, Literal

import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    RunResult,
    ToolCallItem,
    ToolCallOutputItem,
    function_tool,
)
from openai import AsyncOpenAI
from pydantic import BaseModel, Field

from tests.live.serving import Graph

UNTRACED = RunConfig(tracing_disabled=True)
MODELS = [OpenAIChatCompletionsModel, OpenAIResponsesModel]


class Edit(BaseModel):
    """A passage to replace."""

    old: str
    new: str
    every: bool = False


class Verdict(BaseModel):
    """What an agent thinks of a change."""

    accepted: bool
    severity: Literal["low", "high"]
    remarks: list[str] = Field(max_length=3)


@pytest.fixture
async def client(graph: Graph) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(params=MODELS, ids=["chat completions", "responses"])
def model(request: pytest.FixtureRequest, client: AsyncOpenAI, graph: Graph) -> Any:
    return request.param(graph.model, client)


class Workshop:
    """Tools that write down how they were called."""

    def __init__(self) -> None:
        self.ran: list[tuple[Any, ...]] = []

    def tools(self) -> list[Any]:
        @function_tool
        def edit_file(path: str, edits: list[Edit], mode: int | None = None) -> str:
            """Edit a file."""
            assert all(isinstance(edit, Edit) for edit in edits)
            self.ran.append(("edit_file", path, tuple(map(str, edits)), mode))
            return f"{len(edits)} edits made"

        @function_tool
        def add(a: int, b: int) -> int:
            """Add two numbers."""
            self.ran.append(("add", a, b))
            return a + b

        @function_tool
        def now() -> str:
            """The time."""
            self.ran.append(("now",))
            return "noon"

        return [edit_file, add, now]


def agent_of(model: Any, workshop: Workshop, **settings: Any) -> Agent[None]:
    return Agent(
        name="Mender",
        instructions="You mend software with the tools you have. " * 10,
        tools=workshop.tools(),
        model=model,
        model_settings=ModelSettings(**settings),
    )


def outputs(result: RunResult) -> list[Any]:
    """What the tools gave back, none of it a complaint about the arguments."""
    calls = [item for item in result.new_items if isinstance(item, ToolCallItem)]
    given = [item.output for item in result.new_items if isinstance(item, ToolCallOutputItem)]
    assert len(calls) == len(given)
    assert not [text for text in given if "error" in str(text).lower()]
    return given


async def test_a_run_calls_tools_and_ends_with_text(model: Any) -> None:
    workshop = Workshop()
    agent = agent_of(model, workshop, tool_choice="required")
    result = await Runner.run(agent, "Mend it", run_config=UNTRACED)
    assert len(outputs(result)) == len(workshop.ran) >= 1
    assert isinstance(result.final_output, str)
    assert result.final_output
    usage = result.context_wrapper.usage
    assert usage.requests >= 2
    assert usage.output_tokens > 0


async def test_several_runs_of_one_conversation_keep_their_history(model: Any) -> None:
    workshop = Workshop()
    agent = agent_of(model, workshop)
    items: list[Any] = []
    tokens = []
    for number in range(3):
        items = [*items, {"role": "user", "content": f"Step {number}"}]
        result = await Runner.run(agent, items, run_config=UNTRACED)
        outputs(result)
        items = result.to_input_list()
        tokens.append(result.raw_responses[-1].usage.input_tokens)
    assert tokens == sorted(set(tokens))
    assert len(workshop.ran) >= 3


async def test_a_streamed_run_does_what_a_whole_run_does(model: Any) -> None:
    whole, streamed = Workshop(), Workshop()
    result = await Runner.run(agent_of(model, whole), "Mend it", run_config=UNTRACED)
    stream = Runner.run_streamed(agent_of(model, streamed), "Mend it", run_config=UNTRACED)
    kinds = [event.type async for event in stream.stream_events()]
    assert kinds.count("raw_response_event") > 2
    assert streamed.ran == whole.ran
    assert stream.final_output == result.final_output


async def test_a_forced_tool_is_called(model: Any) -> None:
    workshop = Workshop()
    agent = agent_of(model, workshop, tool_choice="edit_file", parallel_tool_calls=False)
    await Runner.run(agent, "Mend it", run_config=UNTRACED)
    assert workshop.ran[0][0] == "edit_file"


async def test_an_agent_hands_over_to_another(model: Any) -> None:
    expert = Agent(name="Expert", instructions="You know.", model=model)
    desk = Agent(
        name="Desk",
        instructions="You know who knows.",
        model=model,
        handoffs=[expert],
        model_settings=ModelSettings(tool_choice="required", parallel_tool_calls=False),
    )
    result = await Runner.run(desk, "Help", run_config=UNTRACED)
    assert result.last_agent is expert
    assert result.final_output


async def test_an_output_type_is_what_comes_out(model: Any) -> None:
    agent = Agent(name="Judge", instructions="You judge.", model=model, output_type=Verdict)
    result = await Runner.run(agent, "Is it good?", run_config=UNTRACED)
    assert isinstance(result.final_output, Verdict)


async def test_an_output_type_is_what_comes_out_after_tools_were_called(model: Any) -> None:
    workshop = Workshop()
    agent = Agent(
        name="Judge",
        instructions="You judge with tools.",
        model=model,
        tools=workshop.tools(),
        model_settings=ModelSettings(tool_choice="required"),
        output_type=Verdict,
    )
    result = await Runner.run(agent, "Is it good?", run_config=UNTRACED)
    assert workshop.ran
    assert isinstance(result.final_output, Verdict)
