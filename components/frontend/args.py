"""Flags of ``python -m components.frontend``, named as ``python -m dynamo.frontend`` names the same thing."""

import argparse

ROUTER_MODES = ("kv", "round-robin", "random", "least-loaded", "direct")


def _positive(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return value


def parser() -> argparse.ArgumentParser:
    """Return the parser; its help text is the reference of the flags."""
    flags = argparse.ArgumentParser(
        prog="python -m components.frontend",
        description="Dynamo's OpenAI-compatible HTTP server with this project's chat engine for GLM.",
        allow_abbrev=False,
    )
    add = flags.add_argument
    add("--http-host", default="127.0.0.1", help="address the HTTP server binds")
    add("--http-port", type=int, default=8000, help="port the HTTP server binds")
    add("--namespace", default=None, help="serve only workers of this Dynamo namespace; all by default")
    add("--router-mode", choices=ROUTER_MODES, default="kv", help="Dynamo's own choice for what the router leaves open")
    add(
        "--router-policy",
        choices=("sticky", "plain"),
        default="sticky",
        help="sticky: sessions stay with the rank that has their prompt; plain: every choice is Dynamo's own",
    )
    add(
        "--router-host-tokens",
        type=_positive,
        default=None,
        help="tokens of KV in a store behind all prefill ranks that publishes no events, as Mooncake's behind vLLM",
    )
    add("--prefill-component", default="prefill", help="Dynamo component of the prefill workers")
    add("--kv-cache-block-size", type=_positive, default=64, help="tokens in a KV block, as on the workers")
    add("--migration-limit", type=int, default=0, help="how often an answer may move to another decode worker")
    add("--context-length", type=int, default=0, help="most tokens of prompt and answer; 0: the model's own")
    add("--reasoning-gate", choices=("tag", "engine"), default="tag", help="who lets reasoning pass a constraint")
    add("--stream-interval-ms", type=float, default=20.0, help="least time between two chunks of one stream")
    add("--drain-timeout-s", type=float, default=30.0, help="how long SIGTERM waits for answers in flight")
    add(
        "--discovery-backend",
        choices=("file", "etcd", "kubernetes", "mem"),
        default=None,
        help="default: DYN_DISCOVERY_BACKEND, else etcd",
    )
    add("--request-plane", choices=("tcp", "nats"), default=None, help="default: DYN_REQUEST_PLANE, else tcp")
    add("--event-plane", choices=("zmq", "nats"), default=None, help="default: DYN_EVENT_PLANE, else zmq")
    return flags
