import json
import subprocess
import sys
from typing import Any

PROBE = """
import json, sys, time
before = time.process_time()
{statement}
seconds = time.process_time() - before
loaded = sorted({{"torch", "transformers"}} & set(sys.modules))
import numpy as np
tokens = [bytes([byte]) for byte in range(256)] + [b"tru", b"true", b'{{"a":', b" 12", b"<end>"]
info = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, stop_token_ids=[len(tokens) - 1])
schema = {{"type": "object", "properties": {{"a": {{"type": "boolean"}}}}, "required": ["a"]}}
matcher = xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(info, max_threads=1).compile_json_schema(schema))
mask = np.zeros((1, -(-len(tokens) // 32)), dtype=np.int32)
masks = []
for text in ('{{', '"a"', ':', ' ', 't', 'rue', '}}'):
    matcher.fill_next_token_bitmask(mask)
    masks.append(mask.tolist())
    assert matcher.accept_string(text)
import torch
print(json.dumps({{"masks": masks, "seconds": seconds, "loaded": loaded, "sum": torch.tensor([1, 2]).sum().item()}}))
"""


def run(statement: str) -> dict[str, Any]:
    code = PROBE.format(statement=statement)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(json.loads(ended.stdout))


def test_the_masks_are_those_of_the_whole_import_at_a_fraction_of_its_cost() -> None:
    whole = run("import xgrammar")
    lean = run("from components.local.lean_xgrammar import xgrammar")
    assert lean["masks"] == whole["masks"]
    assert whole["loaded"] == ["torch", "transformers"]
    assert lean["loaded"] == []
    assert lean["seconds"] < whole["seconds"] / 2
    # Torch can be imported afterwards.
    assert lean["sum"] == 3


def test_a_torch_that_is_already_there_is_used() -> None:
    code = (
        "import torch; from components.local.lean_xgrammar import xgrammar; import sys\n"
        "assert sys.modules['torch'] is torch and 'transformers' not in sys.modules\n"
        "print(xgrammar.allocate_token_bitmask(2, 33).shape)"
    )
    shape = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert shape.strip() == "torch.Size([2, 2])"
