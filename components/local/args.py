"""The decoder's command line, importable without Dynamo."""

import argparse
import os
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    """Return the parser of `python -m components.local`."""
    parser = argparse.ArgumentParser(
        prog="python -m components.local",
        description="A decode worker for a machine without GPUs: it samples a small language model under the request's "
        "grammar, behind a prefill worker. It stands in for a model; its answers mean nothing.",
    )
    _add_model(parser)
    _add_engine(parser)
    _add_runtime(parser)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--model-path", type=Path, required=True, help="Folder with a GLM-format tokenizer.json.")
    group.add_argument("--model-name", required=True, help="Name that requests ask for.")
    group.add_argument("--seed", type=int, default=0, help="Answers are a function of it and the request.")


def _add_engine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("engine")
    group.add_argument("--inter-token-latency-ms", type=float, default=5.0, help="0 is as fast as possible.")
    group.add_argument("--max-num-seqs", type=int, default=256, help="Requests that decode at once; others wait.")
    group.add_argument("--max-model-len", type=int, default=262144, help="Prompt and answer together, in tokens.")
    group.add_argument("--block-size", type=int, default=64, help="Tokens of a KV block; the prefill worker's.")
    group.add_argument("--total-kv-blocks", type=int, default=16384, help="Capacity told to the router.")


def _add_runtime(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Dynamo runtime")
    group.add_argument("--namespace", default=os.environ.get("DYN_NAMESPACE", "dynamo"))
    group.add_argument("--component", default="backend")
    group.add_argument(
        "--discovery-backend",
        choices=["kubernetes", "etcd", "file", "mem"],
        default=os.environ.get("DYN_DISCOVERY_BACKEND", "etcd"),
    )
    group.add_argument("--request-plane", choices=["tcp", "nats"], default=os.environ.get("DYN_REQUEST_PLANE", "tcp"))
    group.add_argument("--event-plane", choices=["zmq", "nats"], default=os.environ.get("DYN_EVENT_PLANE"))
