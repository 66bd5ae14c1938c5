from pathlib import Path

import pytest

from graphs.errors import Refusal
from graphs.memory.calibration import Startup, calibrated, read
from graphs.memory.devices import GIB
from graphs.memory.ladder import ladder
from tests.graphs.memory.test_ladder import TP4, engine

LOG = Path(__file__).with_name("startup.log")


def test_a_log_is_read() -> None:
    assert read(LOG) == Startup(185.03, 0.92, 110.9, 114.4, 0.9, 1.7, 54.2)


def test_the_last_start_in_a_log_counts(tmp_path: Path) -> None:
    path = tmp_path / "two.log"
    text = LOG.read_text()
    path.write_text(text + text.replace("110.9", "111.5").replace("in use is 54.2", "in use is 53.6"))
    assert (read(path).loading, read(path).kv) == (111.5, 53.6)


def test_the_ladder_ends_at_what_the_engine_had_left() -> None:
    found = ladder(calibrated(engine(TP4), read(LOG)))
    assert found.kv_bytes / GIB == pytest.approx(54.2, abs=0.01)
    rungs = {rung.name: rung.size_bytes / GIB for rung in found.rungs}
    assert sum(rung.size_bytes for rung in found.rungs if rung.kind == "weights") == round(110.9 * GIB)
    assert rungs["cuda-context"] == pytest.approx(3.5)
    assert rungs["activations"] == pytest.approx(0.9)
    assert rungs["collectives"] == 0
    assert {rung.kind for rung in found.rungs if rung.name in {"activations", "cuda-graphs"}} == {"logged"}


def test_what_a_person_assumes_beats_the_log() -> None:
    given = engine(TP4, assumed={"activations": 5 * GIB})
    rungs = {rung.name: rung.size_bytes for rung in ladder(calibrated(given, read(LOG))).rungs}
    assert rungs["activations"] == 5 * GIB


@pytest.mark.parametrize("line", ["Model loading took", "Free memory on device"])
def test_a_log_without_a_line_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "short.log"
    path.write_text("\n".join(each for each in LOG.read_text().splitlines() if line not in each))
    with pytest.raises(Refusal, match=rf"^--calibrate .*short\.log: no line '{line}' as vLLM 0\.31 writes it"):
        read(path)


def test_a_log_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refusal, match=r"^--calibrate nowhere: No such file or directory: name a log of vLLM's start$"):
        read(Path("nowhere"))
