"""`dynamo plan` with a workload, as it is called."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from graphs import cli
from graphs.commands.plan import ratio_text
from graphs.commands.plan.ratio_pictures import envelope
from graphs.ratio import grid
from tests.graphs.ratio.test_grid import at

CONFIGS = Path(__file__).parents[4] / "configs"
SMALL = "turns=4,new=800,context=20000,output=200,think=5"
GRID = ["--workload", SMALL, "--ratios", "1:2,1:4", "--sessions", "20,80"]


def run(capfd: pytest.CaptureFixture[str], *words: str, file: str = "gb200-1p4d.yaml") -> tuple[int, str, str]:
    code = cli.run(["plan", "-f", str(CONFIGS / file), *words])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replays of a minute; what they say is the grid's to test."""
    for name, seconds in (("stop_s", 60.0), ("warm_s", 20.0)):
        assert grid.point.__kwdefaults__ is not None
        monkeypatch.setitem(grid.point.__kwdefaults__, name, seconds)


def test_programs_get_the_balance_and_every_point(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, *GRID, "--target-tok-s", "80", "--json")
    found = json.loads(out)
    ratio = found["ratio"]
    assert (code, err, [engine["service"] for engine in found["engines"]]) == (0, "", ["Prefill", "Decode"])
    assert [(each["ratio"], each["gpus"], each["sessions"]) for each in ratio["points"]] == [
        ("1:2", 16, 20),
        ("1:2", 16, 80),
        ("1:4", 24, 20),
        ("1:4", 24, 80),
    ]
    for each in ratio["points"]:
        assert 0 < each["decoding"] < each["in_flight"] < each["sessions"]
        assert 0 < each["ttft_p50_ms"] <= each["ttft_p90_ms"]
    assert [each["ratio"] for each in ratio["served"]] == ["1:2", "1:4"]
    assert ratio["balance"]["decode_engines"] > 1
    assert ratio["measured"]["itl-ms"] == 6.08
    assert ratio["workload"]["name"] == "described sessions"


def test_the_replay_has_the_memory_of_the_ladder(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capfd, *GRID, "--assume", "activations=20", "--json")
    found = json.loads(out)
    prefill, decode = found["engines"]
    cluster = found["ratio"]["cluster"]
    assert cluster["rank_kv_tokens"] == prefill["tokens_per_gpu"] < 1_800_000
    assert cluster["decode_kv_tokens"] == decode["tokens_per_engine"]
    assert cluster["host_tokens"] == prefill["host"][0]["tokens"]
    assert (cluster["prefill_ranks"], cluster["decode_gpus"], cluster["decode_slots"]) == (8, 4, 16)
    assert found["ratio"]["costs"]["kv_token_bytes"] == 30_712


def test_a_person_sees_sessions_and_requests_in_flight_apart(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, *GRID, "--target-tok-s", "80")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("workload  described sessions: 4 turns a session; on average a prompt of ")
    assert any("a balance of 1:" in line for line in lines)
    head = next(line for line in lines if line.startswith("P:D"))
    assert "sessions  in flight  decoding  tok/s/user  tok/s/GPU" in head
    assert sum(line.startswith(("1:2", "1:4")) for line in lines) == 4
    assert any("sessions" in line and "requests in flight" in line for line in lines)


def test_equal_seeds_give_equal_figures_and_others_do_not(capfd: pytest.CaptureFixture[str]) -> None:
    first, same, other = (run(capfd, *GRID, "--seed", seed)[1] for seed in ("1", "1", "2"))
    assert first == same != other


def test_agents_are_made_up_where_they_are_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "--workload", "agents", "--ratios", "1:4", "--sessions", "8", "--think-cap-s", "5")
    assert code == 0
    assert out.startswith("workload  made-up agents, waits of at most 5 s: ")


def test_a_recorded_trace_is_read(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    turn = {"t": 0.0, "type": "s", "in": 6_400, "out": 50, "think_time": 1, "blocks": [[0, 100]]}
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"id": "a", "block_size": 64, "requests": [turn, turn, turn]}) + "\n")
    code, out, _ = run(capfd, "--trace", str(path), "--ratios", "1:1", "--sessions", "4", "--json")
    assert code == 0
    assert json.loads(out)["ratio"]["workload"]["prompt_tokens"] == 6_400


def test_a_gpu_that_was_never_measured_is_said_to_be_one(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capfd, *GRID, "--gpu", "b200")
    assert "; for b200, which was never measured, by the data sheets" in out


def test_what_does_not_fit_is_said_beside_the_ratio(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, *GRID, "--gpu", "gb200", "--hbm-gib", "140")
    assert code == 1
    assert "; for gb200, which" not in out
    assert "Decode: DOES NOT FIT: " in out


def test_the_picture_tells_sessions_from_requests_in_flight(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "pareto.svg"
    assert run(capfd, *GRID, "--plot", str(path))[0] == 0
    words = " ".join(text.text or "" for text in ET.parse(path).iter("{http://www.w3.org/2000/svg}text"))  # noqa: S314 - we wrote it.
    for name in (
        "sessions at once (requests in flight)",
        "1:2, 16 GPUs",
        "1:4, 24 GPUs",
        "output tok/s per GPU",
        "80 (",
    ):
        assert name in words


def test_the_envelope_is_the_best_of_all_curves() -> None:
    one, other = [at(1, 100, 10), at(2, 50, 40)], [at(1, 80, 30), at(2, 20, 35)]
    speeds, most = envelope([one, other])
    assert (speeds, most) == ([20, 50, 80, 100], [40, 40, 30, 10])


def test_a_point_that_nobody_beats_is_marked() -> None:
    assert ratio_text._row(at(3, 90.0, 20.0), best=True)[5] == "90.0*"


@pytest.mark.parametrize(
    ("words", "file", "says"),
    [
        (["--trace", "nowhere.jsonl"], "gb200-1p4d.yaml", "nowhere.jsonl: No such file or directory"),
        (
            ["--trace", "a.jsonl", "--workload", "agents"],
            "gb200-1p4d.yaml",
            "--workload agents: the sessions are those",
        ),
        (["--workload", "agent"], "gb200-1p4d.yaml", "--workload agent: 'agent': did you mean 'agents'?"),
        ([*GRID, "--ratios", "4"], "gb200-1p4d.yaml", "--ratios 4: '4': write PREFILL:DECODE engines, such as 1:2,1:4"),
        ([*GRID, "--sessions", "0"], "gb200-1p4d.yaml", "--sessions 0: '0': write numbers of sessions at once"),
        ([*GRID, "--measured", "itl=3"], "gb200-1p4d.yaml", "--measured itl=3: did you mean 'itl-ms'?"),
        ([*GRID, "--think-cap-s", "inf"], "gb200-1p4d.yaml", "--think-cap-s inf: leave it out"),
        ([*GRID, "--target-tok-s", "900"], "gb200-1p4d.yaml", "--target-tok-s 900: a user alone gets "),
        (["--sessions", "66"], "gb200-1p4d.yaml", "need sessions to replay: give --trace or --workload"),
        (["--ratios", "1:4"], "gb200-1p4d.yaml", "need sessions to replay: give --trace or --workload"),
        ([*GRID, "--gpu", "h100", "--weights", "fp8"], "gb200-1p4d.yaml", "Prefill: does not fit: see its memory"),
        (
            ["--workload", "context=1900000,turns=2", "--assume", "activations=12"],
            "gb200-1p4d.yaml",
            "Prefill: a rank keeps 1,",
        ),
        (
            ["--workload", "turns=1,new=1000000,context=1000000,output=900000"],
            "gb200-1p4d.yaml",
            "Decode: a rank keeps 1,964,685 tokens, fewer than the mean prompt and its answer of ",
        ),
        (GRID, "local.yaml", "no service runs vLLM, so there is no GPU memory to plan"),
        (
            [*GRID, "--Decode.ServiceArgs.workers=0"],
            "gb200-1p4d.yaml",
            "a ratio needs one decode service that runs vLLM",
        ),
        ([*GRID, "--plot", "a.pdf"], "gb200-1p4d.yaml", "--plot a.pdf: name a file that ends in .png or .svg"),
    ],
)
def test_bad_input_is_one_line_with_its_mend(
    words: list[str], file: str, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capfd, *words, file=file)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_terminal_sees_a_bar_and_a_pipe_none() -> None:
    words = [
        sys.executable,
        "-c",
        "from graphs.cli import main; main()",
        "plan",
        "-f",
        str(CONFIGS / "gb200-1p4d.yaml"),
    ]
    words += ["--workload", SMALL, "--ratios", "1:4", "--sessions", "4"]
    keeper, terminal = pty.openpty()
    shown = subprocess.run(words, stdout=subprocess.PIPE, stderr=terminal, check=True, cwd=CONFIGS.parent)
    os.close(terminal)
    assert b"1:4, 4 sessions" in os.read(keeper, 1 << 16)
    os.close(keeper)
    piped = subprocess.run(words, capture_output=True, check=True, cwd=CONFIGS.parent)
    assert (piped.stderr, piped.stdout) == (b"", shown.stdout)
