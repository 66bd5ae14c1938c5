"""Triton kernels for `nvfp4_ds_mla` rows. Nothing here checks its arguments: `attention` and `writer` do."""

try:
    import triton
except ImportError as error:
    raise ImportError("the NVFP4 kernels need Triton, which is not installed: pip install 'dynamo-glm[kv]'") from error


def interpreted() -> bool:
    """Return whether Triton interprets kernels, on a CPU, instead of compiling them."""
    return bool(triton.knobs.runtime.interpret)
