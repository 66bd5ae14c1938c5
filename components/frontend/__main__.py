"""``python -m components.frontend``."""

import logging

import uvloop

from components.frontend.args import parser
from components.frontend.server import Frontend


def main() -> None:
    """Serve until told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    uvloop.run(Frontend(parser().parse_args()).serve())


if __name__ == "__main__":
    main()
