"""`dynamo plan` as it is called."""

import json
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from graphs import cli
from graphs.memory.shapes import ARCHITECTURE, KNOWN
from tests.graphs.memory.weights_at_hand import model, mtp, save

CONFIGS = Path(__file__).parents[4] / "configs"
LOG = Path(__file__).parents[2] / "memory" / "startup.log"
GPU_CONFIGS = sorted(path.name for path in CONFIGS.glob("*.yaml") if path.name.startswith(("gb200", "h200")))


def run(capsys: pytest.CaptureFixture[str], *words: str, file: str = "gb200-1p4d.yaml") -> tuple[int, str, str]:
    code = cli.run(["plan", "-f", str(CONFIGS / file), *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("file", GPU_CONFIGS)
def test_every_gpu_configuration_fits_and_is_answered_at_once(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.process_time()
    code, out, _ = run(capsys, "--json", file=file)
    assert time.process_time() - begun < 2
    engines = json.loads(out)["engines"]
    assert code == 0
    assert [engine["service"] for engine in engines] == ["Prefill", "Decode"]
    for engine in engines:
        assert engine["kv_bytes"] + sum(rung["bytes"] for rung in engine["rungs"]) == engine["hbm_bytes"]
        assert engine["tokens_per_gpu"] == engine["kv_bytes"] // engine["token_bytes"]
        assert (engine["missing_bytes"], engine["mends"]) == (0, [])


def test_a_tokens_bytes_are_told_by_part(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--json")
    # 78 rows of 512 half bytes, 64 bytes and 32 scales, 21 indexer keys of 132, and one of each for MTP.
    assert json.loads(out)["engines"][1]["token_parts"] == {
        "latent_bytes": 19_968,
        "rope_bytes": 4_992,
        "scales_bytes": 2_496,
        "indexer_bytes": 2_772,
        "mtp_bytes": 484,
    }
    _, out, _ = run(capsys)
    assert "of a token, all layers: latent 19,968 B, rope 4,992 B, scales 2,496 B, indexer 2,772 B, mtp 484 B" in out


def test_a_person_sees_a_ladder_for_each_engine(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--session-tokens", "200000")
    lines = out.splitlines()
    assert (code, [line for line in lines if line.endswith("one GPU:")]) == (
        0,
        [
            "Prefill: GLM-5.3 in nvfp4, DEP8 on 8 x gb200; one GPU:",
            "Decode: GLM-5.3 in nvfp4, TP4 on 4 x gb200; one GPU:",
        ],
    )
    assert any(line.strip().startswith("resident sessions of 200,000 tokens: 9 an engine, 36 on 4") for line in lines)
    assert any(line.strip().startswith("host, Mooncake: 1,120 GiB") for line in lines)
    bars = [line[14:62] for line in lines if " GiB  " in line and "host" not in line]
    assert {len(bar) for bar in bars} == {48}
    assert bars[0] == "█" * 48
    assert all(bar.strip() for bar in bars), "a rung that is there is seen"


def test_what_does_not_fit_says_by_how_much_and_what_would_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--gpu", "h100", "--weights", "fp8")
    assert code == 1
    assert "DOES NOT FIT: " in out
    assert "GiB a GPU are missing for one session of 1,048,576 tokens (max-model-len)" in out


def test_assumptions_shapes_and_gpus_can_be_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shapes = msgspec.to_builtins(KNOWN["GLM-5.3"]) | {"model_type": ARCHITECTURE, "num_hidden_layers": 10}
    (tmp_path / "config.json").write_text(json.dumps(shapes))
    words = ["--model", str(tmp_path), "--hbm-gib", "100", "--assume", "cuda-graphs=0", "--assume", "all-to-all=1.5"]
    code, out, _ = run(capsys, *words, "--json")
    prefill = json.loads(out)["engines"][0]
    rungs = {rung["name"]: rung for rung in prefill["rungs"]}
    assert (code, prefill["model"], prefill["hbm_bytes"]) == (0, tmp_path.name, 100 << 30)
    assert (rungs["cuda-graphs"]["bytes"], rungs["all-to-all"]["bytes"]) == (0, 3 << 29)
    assert rungs["all-to-all"]["why"] == "given"
    assert prefill["token_bytes"] == 10 * 352 + 4 * 132 + 484


def test_weights_at_hand_are_counted_exactly(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    save(tmp_path, {**model("nvfp4"), **mtp("nvfp4"), "odd.weight": ("bfloat16", (7,))}, 2)
    # It has two heads and four experts.
    words = ["--model", str(tmp_path), "--Prefill.data-parallel-size=4", "--Decode.tensor-parallel-size=2"]
    _, out, _ = run(capsys, *words, "--json")
    for engine in json.loads(out)["engines"]:
        exact = engine["checkpoint"]
        assert (engine["weights"], exact["files"], exact["unknown"]) == ("nvfp4", 2, ["odd.weight"])
        rungs = {rung["name"]: rung for rung in engine["rungs"] if rung["kind"] == "weights"}
        assert rungs["other"]["bytes"] == 14
        # Half of 16 experts' three matrices in TP2, a quarter in DEP4: 1,024 packed bytes and 136 of scales each.
        assert rungs["routed experts"]["bytes"] == 48 * 1160 // {"DEP4": 4, "TP2": 2}[engine["topology"]]
    _, out, _ = run(capsys, *words)
    assert out.count("weights: exact, by the headers of 2 files") == 2
    assert out.count("tensors of unknown names: 1, such as odd.weight; counted whole on each GPU") == 2
    _, out, _ = run(capsys, *words, "--weights", "fp8", "--json")
    assert json.loads(out)["engines"][0]["checkpoint"] is None


def test_a_start_that_was_logged_takes_the_place_of_what_is_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--calibrate", f"Decode={LOG}", "--json")
    prefill, decode = json.loads(out)["engines"]
    assert code == 0
    assert decode["kv_bytes"] / 2**30 == pytest.approx(54.2, abs=0.01)
    assert "beyond these parts" in {rung["name"] for rung in decode["rungs"]}
    assert "beyond these parts" not in {rung["name"] for rung in prefill["rungs"]}


@pytest.mark.parametrize(
    ("words", "file", "says"),
    [
        (["--gpu", "gb20"], "gb200-1p4d.yaml", "--gpu gb20: did you mean 'gb200'? For another give --hbm-gib"),
        (["--weights", "int4"], "gb200-1p4d.yaml", "--weights int4: "),
        (
            ["--assume", "cuda-graphs"],
            "gb200-1p4d.yaml",
            "--assume cuda-graphs: write NAME=GIB, such as cuda-graphs=2.5",
        ),
        (["--assume", "cuda-graph=1"], "gb200-1p4d.yaml", "--assume cuda-graph: did you mean 'cuda-graphs'?"),
        (["--model", "nowhere"], "gb200-1p4d.yaml", "nowhere: No such file or directory; name a checkpoint's folder"),
        (
            ["--calibrate", str(LOG)],
            "gb200-1p4d.yaml",
            "--calibrate: write SERVICE=FILE, SERVICE one of Prefill, Decode",
        ),
        (["--calibrate", f"Decod={LOG}"], "gb200-1p4d.yaml", "--calibrate Decod: did you mean 'Decode'?"),
        (["--calibrate", "Decode=nowhere"], "gb200-1p4d.yaml", "--calibrate nowhere: No such file or directory"),
        (["--assume", "cuda-graphs=inf"], "gb200-1p4d.yaml", "--assume cuda-graphs=inf: write NAME=GIB"),
        (["--assume", "cuda-graphs=-1"], "gb200-1p4d.yaml", "--assume cuda-graphs=-1: write NAME=GIB"),
        (["--hbm-gib", "inf"], "gb200-1p4d.yaml", "--hbm-gib inf: write a number of GiB, such as 140.4"),
        (
            ["--Decode.kv-cache-dtype=int4_per_token_head"],
            "gb200-1p4d.yaml",
            "Decode.kv-cache-dtype int4_per_token_head: no row of MLA; known: bfloat16, fp8_e4m3",
        ),
        (
            ["--Decode.decode-context-parallel-size=8"],
            "gb200-1p4d.yaml",
            "Decode.decode-context-parallel-size 8: it has to divide the 4 ranks of tensor-parallel-size",
        ),
        (
            ["--Decode.tensor-parallel-size=3"],
            "gb200-1p4d.yaml",
            "Decode.tensor-parallel-size 3: it has to divide the 64 attention heads",
        ),
        *(
            (
                [f'--Decode.speculative-config={{"method": "mtp", "num_speculative_tokens": {drafted}}}'],
                "gb200-1p4d.yaml",
                "Decode.speculative-config num_speculative_tokens ",
            )
            for drafted in ('"x"', "null", "0", "true", "1.5")
        ),
        (["--plot", "a.pdf"], "gb200-1p4d.yaml", "--plot a.pdf: name a file that ends in .png or .svg"),
        ([], "local.yaml", "no service runs vLLM, so there is no GPU memory to plan"),
        (["--gpu", "h200"], "cpu-dense.yaml", "Prefill.model ./models/tiny-dense: not one of GLM-5, GLM-5.1"),
        (["--Prefill.model=zai-org/GLM-5.3"], "cpu-dense.yaml", "Prefill.ServiceArgs.resources.gpu-type: not set"),
    ],
)
def test_bad_input_is_one_line_with_its_mend(
    words: list[str], file: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *words, file=file)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_picture_lies_where_the_command_was_given(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "--plot", "plan.svg", "--working-dir", "elsewhere")[0] == 0
    assert [path.name for path in tmp_path.rglob("*.svg")] == ["plan.svg"]
    assert (tmp_path / "plan.svg").exists()


def test_the_picture_names_every_rung(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "plan.svg"
    assert run(capsys, "--plot", str(path))[0] == 0
    words = " ".join(text.text or "" for text in ET.parse(path).iter("{http://www.w3.org/2000/svg}text"))  # noqa: S314 - we wrote it.
    for name in ("routed experts, 94.9", "KV: 1,964,685 tokens, 56.2", "cuda-graphs, 1.0", "Decode, TP4 on gb200"):
        assert name in words
