from pathlib import Path

from graphs import overrides, yamlfile
from graphs.layers import Section, Value, common_section, default_section, file_section, override_section
from graphs.model import Graph


def test_a_file_gives_values_with_their_lines_and_merges_only_service_args(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("A:\n  b: {c: 1}\n  empty:\n  ServiceArgs:\n    resources: {gpu: 2}\n")
    assert file_section(yamlfile.read(path), "A") == {
        ("b",): Value({"c": 1}, "file", f"{path}:2"),
        ("ServiceArgs", "resources", "gpu"): Value(2, "file", f"{path}:5"),
    }


def test_the_last_override_wins() -> None:
    given = overrides.split(["--A.b=1", "--B.b=2", "--A.b=3", "--A.ServiceArgs={workers: 2}"])[1]
    assert override_section(given, "A") == {
        ("b",): Value(3, "override", "--A.b=3"),
        ("ServiceArgs", "workers"): Value(2, "override", "--A.ServiceArgs={workers: 2}"),
    }


def test_only_listed_keys_come_from_common() -> None:
    common: Section = {("a",): Value(1, "file", "f:1"), ("b",): Value(2, "file", "f:2")}
    own: Section = {("common-configs",): Value(["b"], "file", "f:4")}
    assert common_section(own, common) == {("b",): Value(2, "file", "f:2 (Common)")}


def test_a_topology_sets_the_flags_of_the_worker_in_use(glm53: Graph) -> None:
    prefill = glm53.service("Prefill")
    mock, engine = (default_section(glm53, prefill, worker) for worker in prefill.workers)
    assert mock["data-parallel-size",] == Value(8, "default", "topology DEP8 of glm53")
    assert ("ServiceArgs", "resources", "gpu") not in mock
    assert engine["enable-expert-parallel",].value is True
    assert engine["ServiceArgs", "resources", "gpu"].value == 8
