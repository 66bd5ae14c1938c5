"""Where the index of cached prompts says that a session lives, whoever took it there."""

from router.placement import NOTHING, RouteRequest
from router.ranks import Rank

ABOUT = 0.99
"""Share of its last prompt that the rank has to which a session was taken: what it left behind somewhere is shorter."""

CLEARLY = 0.1
"""Share of the prompt by which another rank has more than the home, as in the margin of staying."""

LARGE, LARGE_TOKENS = 0.5, 32_768
"""Share of its first prompt here that one rank alone has, and tokens: what sessions share is on several ranks, or it is
the tools and system prompt of a harness, 9K to 18K tokens in recorded sessions."""


def found_home(request: RouteRequest, home: Rank | None, last_tokens: int) -> Rank | None:
    """Return the rank that a session was taken to by someone else; its home where nothing says so.

    Args:
        request: Its next turn, with what is cached of it.
        home: Where it was last, as far as is known here.
        last_tokens: Length of its last prompt that is known here, tokens; 0 for none.
    """
    device = {rank: overlap.device for rank, overlap in request.overlaps.items()}
    if not device or not request.prompt_tokens:
        return home
    rank, most = max(device.items(), key=lambda found: found[1])
    if home is None:
        others = max((tokens for other, tokens in device.items() if other != rank), default=0)
        return rank if most >= max(LARGE * request.prompt_tokens, LARGE_TOKENS) and others <= most / 2 else None
    at_home = request.overlaps.get(home, NOTHING).device
    whole = most >= ABOUT * min(last_tokens, request.prompt_tokens)
    return rank if whole and most - at_home > CLEARLY * request.prompt_tokens else home
