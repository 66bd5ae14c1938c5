"""Dynamo's own chat path as a parser.

The whole frontend runs in this process, over a worker that says a case's output; `dynamo` is its default parser,
`dynamo-v2` the one that `DYN_PARSER_VERSION=2` chooses.
"""

import os
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

import uvloop

from components.peers.dynamo_model import make_tokenizer, write_model
from components.peers.protocol import Answer
from toolcall.conformance import Case

_LOOPBACK: Final = "127.0.0.1"
# The end of the worker would be reported as the loss of one.
_LOG: Final = "error,dynamo_runtime::component::client=off"
_GENERATION: Final[dict[str, dict[str, str]]] = {"dynamo": {}, "dynamo-v2": {"DYN_PARSER_VERSION": "2"}}


def version() -> str:
    """Return the version of Dynamo's runtime, which holds its parsers."""
    return metadata.version("ai-dynamo-runtime")


def answers(name: str, cases: Sequence[Case]) -> list[Answer]:
    """Have each case answered by Dynamo's API, whole and streamed.

    Args:
        name: `dynamo` or `dynamo-v2`.
        cases: The cases.

    Raises:
        TimeoutError: The frontend did not come up.
    """
    with tempfile.TemporaryDirectory(prefix="peer-") as path:
        folder = Path(path)
        tokenizer = make_tokenizer()
        write_model(folder, tokenizer)
        _set_environment(folder, name)
        # The runtime reads part of its environment when it is imported.
        from components.peers.dynamo_frontend import ask_all  # noqa: PLC0415

        return uvloop.run(ask_all(folder, tokenizer, cases))


def _set_environment(folder: Path, name: str) -> None:
    """Leave of Dynamo's settings only these: what is set in a shell must not change the figures."""
    for setting in [setting for setting in os.environ if setting.startswith("DYN_")]:
        del os.environ[setting]
    hosts = dict.fromkeys(("DYN_TCP_RPC_HOST", "DYN_TCP_RESPONSE_STREAM_HOST", "DYN_EVENT_PLANE_HOST"), _LOOPBACK)
    # Model cards are copied below HOME, and a file is left in TMPDIR.
    places = {"HOME": str(folder), "TMPDIR": str(folder)}
    quiet = {"DYN_LOG": _LOG, "DYN_SDK_DISABLE_ANSI_LOGGING": "1", "DYN_SELF_HOST_METADATA": "0", "HF_HUB_OFFLINE": "1"}
    os.environ.update(hosts | places | quiet | _GENERATION[name])
