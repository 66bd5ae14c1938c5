"""What a worker's own parser accepts."""

import argparse
from collections.abc import Callable


def flags(parse: Callable[[list[str]], object]) -> dict[str, argparse.Action]:
    """All long options that `parse` knows, found by looking over the shoulder of the parser that it builds."""
    found: list[argparse.ArgumentParser] = []

    class Stop(Exception):  # noqa: N818 - a signal between two lines of a test.
        pass

    def catch(parser: argparse.ArgumentParser, *_: object) -> None:
        found.append(parser)
        raise Stop

    original = argparse.ArgumentParser.parse_args
    argparse.ArgumentParser.parse_args = catch  # type: ignore[method-assign, assignment]
    try:
        parse([])
    except Stop:
        pass
    finally:
        argparse.ArgumentParser.parse_args = original  # type: ignore[method-assign]
    return of(found[0])


def of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """All long options of a parser, without dashes."""
    return {
        option.removeprefix("--"): action
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    }
