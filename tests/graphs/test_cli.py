import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphs import cli


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["serve"], "Missing argument 'TARGET'."),
        (["serv"], "No such command 'serv'. Did you mean 'serve'?"),
        (["serve", "graphs:glm53", "--dryrun"], "No such option: --dryrun (Possible options: --dry-run)"),
        (["serve", "graphs:glm35"], "has no graph 'glm35': did you mean 'glm53'?"),
        (["serve", "graphs:glm53", "-f", "none.yaml"], "none.yaml: cannot be read: No such file or directory"),
        (["serve", "graphs:glm53", "--Frontend.http-port=x"], "--Frontend.http-port=x: Frontend.http-port must be"),
        (
            ["serve", "graphs:glm53", "--Frontend.http-port"],
            "--Frontend.http-port: Frontend.http-port needs a value, not",
        ),
        (["serve", "graphs:glm53", "--discovery-backend=zk"], "--discovery-backend=zk: Runtime.discovery-backend must"),
        (["serve", "graphs:glm53", "--discovery-backend=mem"], "Runtime: discovery-backend 'mem' is for one process"),
        (["serve", "graphs:glm53", "--service-name", "Decod"], "glm53 does not run it: did you mean 'Decode'?"),
        (["serve", "graphs:glm53", "--service-name", "Decode"], "alone it finds no other service: name what all"),
        (["serve", "graphs:glm53", "--working-dir", "nowhere"], "--working-dir nowhere: No such file or directory"),
        (["doctor", "nowhere:x"], "no module named 'nowhere'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capfd: pytest.CaptureFixture[str], words: list[str], line: str) -> None:
    assert cli.run(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("dynamo: ")
    assert line in err
    assert err.count("\n") == 1


def test_every_problem_has_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["serve", "graphs:glm53", "--Prefill.a=1", "--Decode.b=1"]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 2


def test_with_json_errors_are_one_line_of_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["serve", "graphs:glm53", "--dry-run", "--json", "--Prefill.a=1", "--Decode.b=1"]) == 2
    out, err = capfd.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    assert [problem.split(":")[0] for problem in json.loads(out)["errors"]] == ["--Prefill.a=1", "--Decode.b=1"]


def test_the_versions_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capfd.readouterr().out == "dynamo-glm 0.1.0, ai-dynamo 1.6.1\n"


def test_help_names_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    out = capfd.readouterr().out
    assert all(name in out for name in ("serve", "doctor", "graphs", "config", "replay"))


def test_a_reader_that_leaves_ends_the_command_without_a_traceback() -> None:
    dynamo = Path(sys.executable).with_name("dynamo")
    # `true` has left long before the command writes.
    command = ["/bin/sh", "-c", f"{dynamo} serve graphs:glm53 --dry-run | true"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stderr == ""


def test_the_command_loads_no_engine() -> None:
    code = (
        "import sys; from graphs import cli; cli.run(['serve', 'graphs:glm53', '--dry-run', '--json']);"
        "sys.exit(str({'dynamo', 'vllm', 'torch', 'tokenizers'} & set(sys.modules) or '') or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, timeout=60)
