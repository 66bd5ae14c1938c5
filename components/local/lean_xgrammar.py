"""Imports xgrammar without torch and transformers.

`import xgrammar` (0.2.8) imports both, which takes 4.3 s of CPU and 270 MB a process. Compiling and matching need
neither: they are there for annotations, one tensor constant and an adapter for transformers' `generate()`. Four
decoders start at once on a laptop, so placeholders stand in for the two during the import (0.5 s, 55 MB) and are gone
afterwards. What then does not work in this process is xgrammar's torch half (`allocate_token_bitmask`,
`apply_token_bitmask_inplace`, `contrib`): a bitmask is a numpy array here, which xgrammar fills by DLPack.
"""

import importlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING


class _Placeholder(ModuleType):
    """Answers every public attribute with a class, which can be annotated with, inherited from and called."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda *_args, **_options: None})


def _import_lean() -> ModuleType:
    if "xgrammar" in sys.modules:
        return sys.modules["xgrammar"]
    # Else tvm-ffi looks for a torch extension, for tensors that never come.
    os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")
    placeholders = {name: _Placeholder(name) for name in ("torch", "transformers") if name not in sys.modules}
    sys.modules.update(placeholders)
    try:
        return importlib.import_module("xgrammar")
    finally:
        for name in placeholders:
            del sys.modules[name]


if TYPE_CHECKING:
    import xgrammar
else:
    xgrammar = _import_lean()

__all__ = ["xgrammar"]
