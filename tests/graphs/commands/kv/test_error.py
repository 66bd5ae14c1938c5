import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

from graphs.cli import run
from tests.components.kvcache.error.checkpoint import save_checkpoint

SMALL = ["--context", "80", "--turns", "2", "--topk", "8"]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """140,000 tokens are for a person who waits."""
    monkeypatch.setattr(import_module("graphs.commands.kv.error"), "CONTEXTS", (64, 128))


def test_json_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["kv", "error", "--json", *SMALL]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert err == ""
    assert len(report["made_up"]) == 4 * 2 * 4
    assert report["made_up"][0]["latent"]["relative"] == pytest.approx(0.095, rel=0.02)
    assert report["topk"] == 8
    assert report["conversation"]["context_tokens"] == [40, 80]
    assert {"nvfp4_ds_mla", "fp8_ds_mla", "fp8_e4m3", "bfloat16"} < set(report["conversation"]["by_layer"])
    assert report["conversation"]["by_turn"]["nvfp4_ds_mla"][1]["divergence"] > 0


def test_the_report_has_a_table_for_each_quantity(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["kv", "error", *SMALL]) == 0
    out = capsys.readouterr().out
    assert out.count("\n| ---") == 3 + 5 + 3
    assert "\n| gaussian | 64 | 9." in out
    assert "\n| Attention's output; context | nvfp4_ds_mla | fp8_ds_mla | fp8_e4m3 | bfloat16 |" in out
    assert "\nfrom the middle turn to the last, nvfp4_ds_mla: latents x" in out


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--turns", "90"], "--turns 90: --context 80 has fewer tokens: ask for fewer turns, or more context"),
        (["--text", "x"], "--text: the small model reads made-up tokens: leave it out, or name a --model"),
        (
            ["--model", "nowhere"],
            "--model: a trained model says nothing of made-up tokens: name a text for it with --text FILE",
        ),
        (
            ["--model", "nowhere", "--text", "x"],
            "--topk: a model's config.json says how many tokens it attends to: leave it out with --model",
        ),
    ],
)
def test_what_cannot_be_measured_is_one_line(flags: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["kv", "error", *SMALL, *flags]) == 2
    assert capsys.readouterr() == ("", f"dynamo: {says}\n")


@pytest.mark.parametrize("flags", [["--seed", str(2**63)], ["--context", "2000000"], ["--context", "9"]])
def test_numbers_that_nothing_can_hold_are_one_line(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["kv", "error", *flags]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert flags[0] in line
    assert "Input should be " in line


def test_a_text_or_model_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text"
    ask = ["kv", "error", "--context", "64", "--model", str(tmp_path), "--text", str(text)]
    assert run(ask) == 2
    assert capsys.readouterr().err == f"dynamo: --text {text}: No such file or directory\n"
    text.write_text("one")
    assert run(ask) == 2
    assert capsys.readouterr().err.startswith(f"dynamo: --text {text}: there is no tokenizer.json in {tmp_path}: ")


def test_a_checkpoint_reads_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_checkpoint(tmp_path)
    text = tmp_path / "text"
    text.write_text("one two three four two one " * 12)
    ask = ["kv", "error", "--context", "64", "--turns", "1", "--model", str(tmp_path), "--text", str(text)]
    assert run([*ask, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["model"], report["topk"]) == (str(tmp_path), 16)
    assert report["conversation"]["by_layer"]["nvfp4_ds_mla"][0]["stored"]["relative"] == pytest.approx(0.095, rel=0.05)


def test_without_torch_it_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # As Python has it for modules that must not be imported.
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert run(["kv", "error", *SMALL]) == 2
    assert capsys.readouterr().err == "dynamo: kv error needs transformers: pip install transformers\n"
