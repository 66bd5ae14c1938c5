import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphs
from graphs import target
from graphs.errors import Refusal

ONE = """\
from graphs import Service, dep
from graphs.workers import frontend, local, mocker

Front = Service("Front", "frontend", (frontend(),))
Prefill = Service("Prefill", "prefill", (mocker("prefill"),), topology=dep(2))
Decode = Service("Decode", "decode", (local(),), replicas=2)

mine = Front.link(Prefill).link(Decode)
"""
TWO = ONE + "other = Front.link(Decode)\n"


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        del sys.modules[name]


def refused(name: str, folder: Path) -> str:
    with pytest.raises(Refusal) as refusal:
        target.load(name, folder)
    (line,) = refusal.value.problems
    assert "\n" not in line
    return line


def test_the_graph_of_this_package_is_found_and_named(tmp_path: Path) -> None:
    assert target.load("graphs:glm53", tmp_path).name == "glm53"
    assert target.load("graphs", tmp_path).links == graphs.glm53.links


@pytest.mark.parametrize("name", ["mine.py", "mine.py:mine", "mine", "mine:mine"])
def test_a_graph_of_ones_own_is_found_by_path_and_by_module(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.py").write_text(ONE)
    graph = target.load(name, tmp_path)
    assert (graph.name, [service.name for service in graph.services]) == ("mine", ["Front", "Prefill", "Decode"])


def test_the_working_directory_comes_before_what_is_installed(tmp_path: Path) -> None:
    (tmp_path / "zipapp.py").write_text(ONE)
    assert target.load("zipapp:mine", tmp_path).name == "mine"


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(ONE)
    (tmp_path / "mine.py").write_text("from base import mine\n")
    assert target.load("mine.py", tmp_path).name == "mine"


def test_several_graphs_need_a_name(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(TWO)
    assert refused("two.py", tmp_path) == "two.py: it holds several graphs: write two.py:NAME with one of mine, other"
    assert target.load("two.py:other", tmp_path).name == "other"
    assert [graph.name for graph in target.load_all("two.py", tmp_path)] == ["mine", "other"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("graphs:glm35", "has no graph 'glm35': did you mean 'glm53'?"),
        ("nowhere:x", "nowhere: no module named 'nowhere' in the working directory or installed"),
        ("none.py", "none.py: there is no such file"),
        ("empty.py", "empty.py: it holds no graph"),
        ("broken.py", "broken.py: importing it failed: ZeroDivisionError: division by zero ("),
        ("syntax.py", "syntax.py: importing it failed: SyntaxError: invalid syntax ("),
        ("..x:y", "..x: importing it failed: "),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "syntax.py").write_text("a b\n")
    assert problem in refused(name, tmp_path)


def test_the_line_that_failed_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("\n\n1 / 0\n")
    assert refused("broken.py", tmp_path).endswith(f"({tmp_path / 'broken.py'}:3)")


def test_a_folder_that_this_package_hides_is_pointed_at_by_path(tmp_path: Path) -> None:
    (tmp_path / "graphs").mkdir()
    assert "write its path, such as graphs/my.py:my_graph" in refused("graphs:mine", tmp_path)
