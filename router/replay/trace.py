"""What a replay replays: sessions of turns, each turn a prompt as the KV blocks that it is made of.

Block ids are global: two prompts hold the same id where they hold the same block with the same blocks before it.
"""

import msgspec

from router.replay.runs import Run


class TraceError(ValueError):
    """A trace that cannot be read; its message is one line: the place, what is wrong, and the mend."""


class Turn(msgspec.Struct, frozen=True):
    """One request of a session and the answer it got.

    Attributes:
        input_tokens: Length of the prompt, in tokens.
        output_tokens: Length of the answer, in tokens; at least 1.
        think_s: Seconds that the client waited since the previous answer ended; 0 for a first turn.
        start_s: Seconds since the session's start at which the request was recorded, for open-loop replay.
        blocks: The prompt's full KV blocks as runs of ids; a partly filled last block has none.
    """

    input_tokens: int
    output_tokens: int
    think_s: float
    start_s: float
    blocks: tuple[Run, ...]


class Session(msgspec.Struct, frozen=True):
    """The requests of one agent, in order.

    Attributes:
        session_id: Unique in its trace.
        turns: At least one.
        arrival_s: When it starts, in seconds since the trace's start or, with a parent, since the parent's; None leaves
            it to the replay.
        parent: Id of the session whose sub-agent this is; the parent comes before it in the trace.
    """

    session_id: str
    turns: tuple[Turn, ...]
    arrival_s: float | None = None
    parent: str | None = None


class Trace(msgspec.Struct, frozen=True):
    """Sessions to replay.

    Attributes:
        name: For reports.
        block_size: Tokens in a block.
        sessions: In the order of their source.
    """

    name: str
    block_size: int
    sessions: tuple[Session, ...]
