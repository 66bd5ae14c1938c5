"""`python -m components.local`: run one decode worker."""

import sys

import uvloop
from dynamo.runtime.logging import configure_dynamo_logging

from components.local.args import parser
from components.local.vocabulary import ModelError
from components.local.worker import StartError, serve


def main() -> None:
    """Run a decoder until it is told to stop."""
    args = parser().parse_args()
    configure_dynamo_logging()
    try:
        uvloop.run(serve(args))
    except (ModelError, StartError) as error:
        sys.exit(f"components.local: {error}")


if __name__ == "__main__":
    main()
