"""A vLLM plugin: sparse MLA on `nvfp4_ds_mla` rows also where vLLM 0.31 has no kernel for them, as on Hopper.

vLLM calls `register` in each of its processes, those of other models included, before it reads its configuration. It
does nothing but give a name to the one backend that a plugin may add; `--attention-backend CUSTOM` selects it, and only
then is anything else here imported.
"""

import logging
from typing import Final

BACKEND: Final = "components.kvcache.vllm_backend.backend.Nvfp4SparseBackend"
"""The class, as vLLM's registry keeps it."""

_log = logging.getLogger(__name__)


def register() -> None:
    """Let `--attention-backend CUSTOM` mean our backend, unless another plugin has taken the name.

    It is the entry point `dynamo_glm` of `vllm.general_plugins`, and may be called any number of times.
    """
    from vllm.v1.attention.backends.registry import (  # noqa: PLC0415 - the package is also imported without vLLM.
        AttentionBackendEnum,
        register_backend,
    )

    custom = AttentionBackendEnum.CUSTOM
    if custom.is_overridden() and custom.get_path() != BACKEND:
        _log.warning("--attention-backend CUSTOM is %s, of another plugin: ours is not there", custom.get_path())
        return
    register_backend(custom, BACKEND)
