"""What came out of a replay."""

from dataclasses import dataclass, field

from graphs.commands.replay.ask import Ask
from router.costs import Costs
from router.replay.cluster import Cluster
from router.replay.report import Run
from router.replay.series import Series
from router.replay.trace import Trace


@dataclass(frozen=True)
class Size:
    """How large the trace of one seed is: sessions with their sub-agents, requests, and tokens."""

    seed: int
    name: str
    block_size: int
    sessions: int
    requests: int
    prompt_tokens: int
    output_tokens: int


@dataclass
class Results:
    """Everything that is reported.

    Attributes:
        ask: What was asked.
        cluster: The graph that was modelled.
        costs: What things took in it.
        sizes: Of the traces, one a seed.
        runs: In the order in which they ran: by seed, load and policy.
        series: Of each policy's first run, where a plot is asked.
    """

    ask: Ask
    cluster: Cluster
    costs: Costs
    sizes: list[Size] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    series: dict[str, Series] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What was replayed, in a few words."""
        name = "made-up sessions" if self.ask.trace is None else self.sizes[0].name
        return f"{name}, {self.sizes[0].requests:,} requests on {self.cluster.gpus} GPUs"


def size_of(trace: Trace, seed: int) -> Size:
    """Count a trace."""
    turns = [turn for session in trace.sessions for turn in session.turns]
    return Size(
        seed,
        trace.name,
        trace.block_size,
        len(trace.sessions),
        len(turns),
        sum(turn.input_tokens for turn in turns),
        sum(turn.output_tokens for turn in turns),
    )
