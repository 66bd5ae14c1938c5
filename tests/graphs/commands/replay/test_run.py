"""`dynamo replay` as it is called, on sessions that it makes up or reads."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphs import cli
from router.replay.generator import generate

SMALL = "--sessions 6 --turns 4"
RATIOS = ("reuse_ratio", "ideal_reuse_ratio", "pooled_reuse_ratio", "rank_load_max_over_mean", "lockstep_efficiency")


def compact(folder: Path, sessions: int) -> Path:
    """Write generated sessions, each as if it were the only one of its harness, in the compact form."""
    path = folder / "mine.jsonl"
    with path.open("w") as file:
        for session in generate(sessions, 0).sessions:
            requests = [
                {"t": turn.start_s, "type": "s", "in": turn.input_tokens, "out": turn.output_tokens, "think_time": 1}
                | {"blocks": [list(run) for run in turn.blocks]}
                for turn in session.turns
            ]
            file.write(json.dumps({"id": session.session_id, "block_size": 64, "requests": requests}) + "\n")
    return path


def test_without_a_trace_sessions_are_made_up_and_two_policies_compared(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["replay", *SMALL.split()]) == 0
    out, err = capfd.readouterr()
    trace, cluster, blank, load, header, *_ = out.splitlines()
    assert err == ""
    assert trace.startswith("trace    made up, seed 0: ")
    assert cluster == (
        "cluster  1 x DEP8 prefill, 1.05M tokens of KV a rank, no host tier; "
        "4 x 4 GPUs decode, 1.5M tokens each; 24 GPUs"
    )
    assert (blank, load) == ("", "a session arrives every 0.7 s")
    assert header.split() == ["sticky", "kv"]


def test_json_tells_what_was_replayed_and_every_figure(replay: Any) -> None:
    found = replay(f"{SMALL} --policy sticky --policy round-robin --seeds 2")
    assert [size["seed"] for size in found["traces"]] == [0, 1]
    assert found["cluster"]["prefill_ranks"] == 8
    assert found["cluster"]["gpus"] == 24
    assert found["load"] == {"arrivals": "spaced", "think_cap_s": None}
    assert [(run["policy"], run["seed"]) for run in found["runs"]] == [
        ("sticky", 0),
        ("round-robin", 0),
        ("sticky", 1),
        ("round-robin", 1),
    ]
    for run in found["runs"]:
        assert set(RATIOS) <= set(run)
        assert run["reuse_ratio"] <= run["ideal_reuse_ratio"]
        assert run["requests"] == found["traces"][run["seed"]]["requests"] == sum(run["reasons"].values())
    for column in found["summary"]:
        of_policy = sorted(run["reuse_ratio"] for run in found["runs"] if run["policy"] == column["policy"])
        assert [column["reuse_ratio"][name] for name in ("min", "max")] == of_policy


def test_rank_tokens_agree_with_reuse_and_balance(replay: Any) -> None:
    found = replay(f"{SMALL} --policy sticky")
    (run,), (size,) = found["runs"], found["traces"]
    tokens = run["rank_new_tokens"]
    assert max(tokens) * len(tokens) / sum(tokens) == pytest.approx(run["rank_load_max_over_mean"])
    assert 1 - sum(tokens) / size["prompt_tokens"] == pytest.approx(run["reuse_ratio"])


def test_equal_seeds_give_equal_reports_and_other_seeds_others(replay: Any) -> None:
    words = f"{SMALL} --policy sticky --policy kv --arrivals poisson"
    assert replay(f"{words} --seed 3") == replay(f"{words} --seed 3")
    assert replay(f"{words} --seed 3")["runs"] != replay(f"{words} --seed 4")["runs"]


def test_a_trace_is_read_and_sessions_of_it_are_chosen_by_the_seed(replay: Any, tmp_path: Path) -> None:
    path = compact(tmp_path, 8)
    whole = replay(f"{path} --policy kv --turns 3")
    some = replay(f"{path} --policy kv --turns 3 --sessions 2 --seeds 3")
    assert whole["traces"][0]["name"] == "mine"
    assert whole["traces"][0]["sessions"] == 8
    assert {size["sessions"] for size in some["traces"]} == {2}
    assert len({size["prompt_tokens"] for size in some["traces"]}) > 1


def test_several_spacings_are_a_sweep_with_a_table_each(replay: Any, capfd: pytest.CaptureFixture[str]) -> None:
    words = f"{SMALL} --policy kv --policy round-robin --spacing-s 9,1 --think-cap-s 2"
    found = replay(words)
    assert [(column["spacing_s"], column["policy"]) for column in found["summary"]] == [
        (9.0, "kv"),
        (9.0, "round-robin"),
        (1.0, "kv"),
        (1.0, "round-robin"),
    ]
    assert cli.run(["replay", *words.split()]) == 0
    loads = [line for line in capfd.readouterr().out.splitlines() if line.startswith("a session")]
    assert loads == [f"a session arrives every {s} s, waits of at most 2 s" for s in (9, 1)]


def test_recorded_arrivals_are_those_of_the_trace(replay: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"timestamp": t, "input_length": 600, "output_length": 2, "hash_ids": [3, t]} for t in (0, 50_000)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run,) = replay(f"{path} --policy kv --arrivals recorded")["runs"]
    assert run["spacing_s"] is None
    assert 50 < run["duration_s"] < 60


def test_more_memory_means_more_reuse(replay: Any) -> None:
    words = "--sessions 12 --turns 12 --policy round-robin --think-cap-s 1"
    small, large, host = (
        replay(f"{words} {more}")["runs"][0]
        for more in ("--rank-kv-tokens 60000", "--rank-kv-tokens 9000000", "--rank-kv-tokens 60000 --host-gib 2000")
    )
    assert small["reuse_ratio"] < large["reuse_ratio"] < host["reuse_ratio"]
    assert host["device_reuse_ratio"] < host["reuse_ratio"]


def test_the_graph_is_that_of_the_configuration(replay: Any, tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("Prefill:\n  data-parallel-size: 2\nDecode:\n  ServiceArgs: {workers: 3}\n")
    found = replay(f"{SMALL} -f {path} --policy kv --Prefill.ServiceArgs.workers=2")
    assert [found["cluster"][name] for name in ("prefill_engines", "prefill_ranks", "decode_engines")] == [2, 2, 3]
    assert len(found["runs"][0]["rank_new_tokens"]) == 4


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--policy stick", "--policy stick: did you mean 'sticky'?"),
        ("--policy kv --policy kv", "--policy kv: name it once"),
        ("--sessions 0", "Invalid value for '--sessions'"),
        ("--spacing-s 0", "--spacing-s 0: '0' is no time: write seconds above 0"),
        ("--spacing-s 1,x", "--spacing-s 1,x: 'x' is no time"),
        ("--arrivals recorded", "--arrivals recorded: a made-up trace does not say when sessions arrive"),
        ("--arrivals recorded --spacing-s 1", "--spacing-s 1: recorded arrivals have their own times"),
        ("--arrivals never", "Invalid value for '--arrivals'"),
        ("--host-gib inf", "--host-gib inf: a size in GiB is needed"),
        ("none.jsonl", "none.jsonl: No such file or directory"),
        ("-f none.yaml", "none.yaml: cannot be read"),
        ("--Prefill.ServiceArgs.workers=0", "glm53 runs no prefill service: a replay needs one"),
        ("--plot a.pdf", "--plot a.pdf: name a file that ends in .png or .svg"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capfd: pytest.CaptureFixture[str], words: str, line: str) -> None:
    assert cli.run(["replay", *words.split()]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert line in err
    assert err.count("\n") == 1


def test_a_terminal_sees_the_progress_and_it_goes_away() -> None:
    ours, theirs = pty.openpty()
    words = ["replay", *SMALL.split(), "--policy", "kv", "--json"]
    command = [sys.executable, "-c", "import sys; from graphs import cli; sys.exit(cli.run(sys.argv[1:]))", *words]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        out, _ = process.communicate(timeout=60)
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert process.returncode == 0
    assert b"kv, seed 0" in shown
    assert json.loads(out)["runs"]


def test_other_commands_start_without_the_simulation() -> None:
    code = "import sys; from graphs import cli; sys.exit(str({'router', 'numpy', 'rich.progress'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr.strip() == "set()"
