"""A program for the tests: runs the supervisor on a pickled `(Plan, Options)`."""

import pickle
import sys
from pathlib import Path

from graphs.supervisor import run

if __name__ == "__main__":
    sys.exit(run(*pickle.loads(Path(sys.argv[1]).read_bytes())))  # noqa: S301 - the test wrote it
