import json
from pathlib import Path

import pytest

from graphs import standin
from graphs.errors import Refusal


def test_the_stand_in_is_a_model_folder(tmp_path: Path) -> None:
    standin.make(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "config.json"} <= names
    assert json.loads((tmp_path / "config.json").read_text())


def test_making_it_leaves_no_thread_in_this_process(tmp_path: Path) -> None:
    before = threads()
    standin.make(tmp_path)
    assert threads() == before


def threads() -> set[str]:
    """The kernel's view, which knows threads of native libraries as well."""
    return {path.name for path in Path("/proc/self/task").iterdir()}


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match="could not be made in") as refusal:
        standin.make(tmp_path / "file" / "below")
    assert "\n" not in str(refusal.value)
