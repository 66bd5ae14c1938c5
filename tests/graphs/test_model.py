from pathlib import Path

import pytest

from graphs.model import Service, Topology, dep, tp
from graphs.workers import frontend, local, mocker

A = Service("A", "frontend", (frontend(),))
B = Service("B", "prefill", (mocker("prefill"),), topology=dep(8))
C = Service("C", "decode", (local(),), topology=tp(4), replicas=4)
D = Service("D", "store", (local(),), optional=True)


def test_a_chain_of_links_reads_as_the_diagram() -> None:
    graph = A.link(B, "prompt").link(C, "KV").link(D, "blocks", source=B)
    assert [service.name for service in graph.services] == ["A", "B", "C", "D"]
    assert [(link.source, link.to, link.carries) for link in graph.links] == [
        ("A", "B", "prompt"),
        ("B", "C", "KV"),
        ("B", "D", "blocks"),
    ]


def test_linking_changes_no_graph_that_exists() -> None:
    first = A.link(B)
    first.link(C)
    assert [service.name for service in first.services] == ["A", "B"]


def test_a_service_is_linked_twice_and_stands_once() -> None:
    graph = A.link(B).link(C).link(C, "again", source=A)
    assert len(graph.services) == 3
    assert len(graph.links) == 3


def test_two_services_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two services of one graph are named 'A'"):
        A.link(Service("A", "decode", (local(),)))


def test_a_link_from_outside_the_graph_is_refused() -> None:
    with pytest.raises(ValueError, match="D is linked to C before it is in the graph"):
        A.link(B).link(C, source=D)


def test_topologies_are_named_as_the_field_names_them() -> None:
    assert [str(each) for each in (dep(8), tp(4), Topology(), Topology(2, 4))] == ["DEP8", "TP4", "TP1", "DP4TP2"]


def test_a_replica_takes_the_gpus_of_all_its_ranks() -> None:
    assert (dep(8).gpus, tp(4).gpus, Topology(2, 4).gpus) == (8, 4, 8)


def test_replicas_are_counted_by_role() -> None:
    assert A.link(B).link(C).replicas("decode") == 4


def test_a_service_is_found_by_name() -> None:
    graph = A.link(B)
    assert graph.service("B") is B
    with pytest.raises(KeyError):
        graph.service("C")


def test_a_graph_may_bring_its_configuration() -> None:
    assert A.link(B).with_config(Path("x.yaml")).config == Path("x.yaml")
