"""The codec writes what vLLM's own writer does, byte for byte, in each of the four formats."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from components.kvcache.codec import encode
from components.kvcache.rows import NVFP4_DS_MLA, ROWS, Row
from tests.engines.miniature import ROOT
from tests.engines.vllm_writer import POISON, SLOT_STRIDE, TOKENS

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What vLLM's kernel wrote, from a process that interprets it."""
    out = tmp_path_factory.mktemp("writer") / "out.npz"
    command = [sys.executable, "-m", "tests.engines.vllm_writer", str(out)]
    env = os.environ | {"TRITON_INTERPRET": "1"}
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env=env)
    assert ended.returncode == 0, ended.stderr
    return np.load(out)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_codec_writes_the_bytes_of_vllms_writer(written: Any, row: Row) -> None:
    latent, rope, cache = (written[f"{row.cache_dtype}.{name}"] for name in ("latent", "rope", "cache"))
    assert len(np.unique(latent)) > TOKENS * 256
    if row == NVFP4_DS_MLA:
        # It takes even and odd elements apart by adding a zero to each, which makes a negative zero positive.
        assert (np.signbit(latent) & (latent == 0)).any()
        latent = latent + np.float32(0)
    slots = np.arange(TOKENS) * SLOT_STRIDE
    assert np.array_equal(cache[slots], encode(torch.from_numpy(latent), torch.from_numpy(rope), row).numpy())
    assert (np.delete(cache, slots, axis=0) == POISON).all()
