from pathlib import Path

import pytest

from graphs.commands import options
from graphs.errors import Refusal


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_file_is_looked_for_where_the_command_was_given(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("Frontend: {http-port: 9001}\n")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    config = options.load_config("graphs:glm53", Path("a.yaml"), (), folder)
    assert Path.cwd() == folder
    assert config.services[0].origins["http-port"].value == 9001


def test_without_a_file_the_graph_brings_its_own() -> None:
    config = options.load_config("graphs:glm53", None, ())
    assert config.file is not None
    assert Path(config.file).parts[-2:] == ("configs", "local.yaml")


def test_one_service_needs_something_that_all_machines_share() -> None:
    alone = options.load_config("graphs:glm53", None, ())
    with pytest.raises(Refusal, match="--discovery-backend etcd --etcd-endpoints URL, or --store-path FOLDER"):
        options.check_service(alone, "Prefill")
    options.check_service(alone, None)


def test_gpus_are_not_looked_for_when_none_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    config = options.load_config("graphs:glm53", None, ())
    machine = options.this_machine(config)
    assert machine.gpus == ()
    assert len(machine.ports) == 5


def test_all_graphs_of_a_module_are_found_without_a_name() -> None:
    assert [graph.name for graph in options.load_graphs("graphs", None)] == ["glm53"]
