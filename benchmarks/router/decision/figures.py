"""What is measured, as the measuring process tells it."""

import msgspec


class Amount(msgspec.Struct, frozen=True):
    """How much is measured.

    Attributes:
        sessions: That live in the books.
        samples: Decisions of each kind.
    """

    sessions: int = 10_000
    samples: int = 200


class Times(msgspec.Struct):
    """Decisions of one kind, each in ms.

    Attributes:
        size: Name of the prompts' length.
        turn: `first`, of a session that is new, or `second`.
        whole: Of the placement.
        index: Of it, in the index.
        policy: Of it, in books and policy.
        cpu: CPU of the process during the placement, also on threads of the index.
        before: CPU of the thread that makes the prompt ready, by then.
        dynamo: Of Dynamo's own decision.
        found: Share of the prompt that the rank with the most of it had.
    """

    size: str
    turn: str
    whole: list[float] = []
    index: list[float] = []
    policy: list[float] = []
    cpu: list[float] = []
    before: list[float] = []
    dynamo: list[float] = []
    found: list[float] = []


class Weight(msgspec.Struct, frozen=True):
    """Memory of one owner.

    Attributes:
        owner: Whose.
        size: Bytes.
        number: How many things it is for.
        thing: What they are; empty where it is not for so many.
    """

    owner: str
    size: int
    number: int = 1
    thing: str = ""


class Found(msgspec.Struct, frozen=True):
    """What was measured.

    Attributes:
        times: Of each kind of decision.
        memory: Of the process and of its parts.
    """

    times: list[Times]
    memory: list[Weight]
