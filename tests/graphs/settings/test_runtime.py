import pytest
from pydantic import ValidationError

from graphs.settings.runtime import Runtime


def test_one_machine_needs_no_servers() -> None:
    runtime = Runtime()
    assert (runtime.discovery_backend, runtime.request_plane, runtime.event_plane) == ("file", "tcp", "zmq")
    assert not runtime.spans_machines
    assert not runtime.uses_nats


@pytest.mark.parametrize(
    "data", [{"discovery-backend": "etcd"}, {"discovery-backend": "kubernetes"}, {"store-path": "x"}]
)
def test_a_shared_store_spans_machines(data: dict[str, str]) -> None:
    assert Runtime.model_validate(data).spans_machines


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"discovery-backend": "mem"}, "a graph has several: use 'file'"),
        ({"discovery-backend": "etcd", "store-path": "x"}, "store-path is for discovery-backend 'file', not 'etcd'"),
        ({"etcd-endpoints": "x"}, "etcd-endpoints is for discovery-backend 'etcd', not 'file'"),
        ({"nats-server": "x"}, "nats-server is for request-plane or event-plane 'nats', and neither is"),
    ],
)
def test_what_would_be_ignored_is_refused(data: dict[str, str], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Runtime.model_validate(data)
