"""The stand-in's tokenizer, and a corpus measured with it."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from benchmarks.frontend.corpus import Corpus
from components.local.model import make_model


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder: Path = tmp_path_factory.mktemp("model")
    make_model(folder)
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.fixture(scope="session")
def corpus(tokenizer: Tokenizer) -> Corpus:
    return Corpus(tokenizer)
