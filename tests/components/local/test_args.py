import subprocess
import sys

import pytest

from components.local.args import parser


def test_the_defaults_are_those_of_the_local_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DYN_NAMESPACE", "DYN_DISCOVERY_BACKEND", "DYN_REQUEST_PLANE", "DYN_EVENT_PLANE"):
        monkeypatch.delenv(name, raising=False)
    args = parser().parse_args(["--model-path", "m", "--model-name", "n"])
    assert (args.namespace, args.component, args.block_size) == ("dynamo", "backend", 64)
    assert (args.inter_token_latency_ms, args.seed, args.max_num_seqs) == (5.0, 0, 256)
    assert (args.total_kv_blocks, args.max_model_len) == (16384, 262144)
    assert (args.discovery_backend, args.request_plane, args.event_plane) == ("etcd", "tcp", None)


def test_the_runtime_s_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYN_DISCOVERY_BACKEND", "file")
    monkeypatch.setenv("DYN_EVENT_PLANE", "zmq")
    args = parser().parse_args(["--model-path", "m", "--model-name", "n"])
    assert (args.discovery_backend, args.event_plane) == ("file", "zmq")


def test_the_parser_needs_neither_dynamo_nor_xgrammar() -> None:
    heavy = "{'dynamo', 'xgrammar', 'numpy', 'tokenizers', 'torch'}"
    code = f"import sys, components.local.args; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
