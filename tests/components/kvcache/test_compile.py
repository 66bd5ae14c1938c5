"""Every kernel compiles ahead of time, without a GPU, for Hopper and for both Blackwells."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from components.kvcache import launch
from components.kvcache.kernels import decode, numbers, write

BIN = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
SHARED_BYTES = {90: 232448, 100: 232448, 120: 101376}
"""What a program may have, from the CUDA C++ Programming Guide's table of compute capabilities."""

CONVERSIONS = {90: numbers.INTEGER, 100: numbers.HARDWARE, 120: numbers.HARDWARE}
PRODUCT = {90: "wgmma.mma_async", 100: "tcgen05.mma", 120: "mma.sync"}

pytestmark = [
    pytest.mark.timeout(300),
    # Compiled as Triton 3.9 does by default, with multiplications and additions fused.
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION is unset"),
]


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Compile now, whatever an earlier run left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(triton.knobs.cache, "dir", str(tmp_path_factory.mktemp("triton")))
        yield


def compiled(kernel: Any, capability: int, types: dict[str, str], warps: int, **constants: Any) -> Any:
    """The kernel as it is launched on aligned tensors: pointers, strides and a split's rows are multiples of 16."""
    signature = types | dict.fromkeys(constants, "constexpr")
    assert list(signature) == kernel.arg_names
    whole = [name for name in types if types[name].startswith("*") or "stride" in name or name == "split_rows"]
    aligned = [at for at, name in enumerate(signature) if name in whole]
    source = ASTSource(
        kernel,
        signature=signature,
        constexprs=constants,
        attrs={(at,): [["tt.divisibility", 16]] for at in aligned},
    )
    options = {"num_warps": warps, "num_stages": 1}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def compiled_attend(capability: int, heads: int, query: str, out: str, *, paged: bool) -> tuple[Any, launch.Tile]:
    tile = launch.tile(heads, SHARED_BYTES[capability], exact=query == "fp32")
    types = {
        "query": f"*{query}",
        "query_token_stride": "i32",
        "query_head_stride": "i32",
        "cache": "*u8",
        "cache_block_stride": "i64",
        "indices": "*i32",
        "indices_stride": "i32",
        "block_table": "*i32",
        "block_table_stride": "i32",
        "positions": "i32",
        "requests": "*i32",
        "out": f"*{out}",
        "lse": "*fp32",
        "scale": "fp32",
        "selected": "i32",
        "heads": "i32",
        "splits": "i32",
        "split_rows": "i32",
    }
    kernel = compiled(
        decode.attend,
        capability,
        types,
        tile.warps,
        block_tokens=64,
        head_tile=tile.heads,
        row_tile=tile.rows,
        paged=paged,
        conversions=CONVERSIONS[capability].value,
        exact=query == "fp32",
    )
    return kernel, tile


def tool(name: str, *flags: str, cubin: bytes, folder: Path) -> str:
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    return subprocess.run([BIN / name, *flags, path], check=True, capture_output=True, text=True).stdout


def stack_bytes(kernel: Any, folder: Path) -> int:
    usage = re.search(r"STACK:(\d+)", tool("cuobjdump", "-res-usage", cubin=kernel.asm["cubin"], folder=folder))
    assert usage is not None
    return int(usage[1])


def stores_to_stack_in_loop(kernel: Any, folder: Path) -> int:
    """Stores to the stack in the loop over tiles of rows: what a tile needs beyond registers."""
    lines = tool("nvdisasm", "-c", cubin=kernel.asm["cubin"], folder=folder).splitlines()
    labels = {line.strip().rstrip(":"): at for at, line in enumerate(lines) if line.startswith(".L_x_")}
    back = [
        (labels[jump[1]], at)
        for at, line in enumerate(lines)
        if (jump := re.search(r"BRA.*\((\.L_x_\d+)\)", line)) and labels[jump[1]] < at
    ]
    loops = [lines[begin:end] for begin, end in back if any("GMMA" in line for line in lines[begin:end])]
    assert len(loops) == 1
    return sum("STL" in line for line in loops[0])


@pytest.mark.parametrize(
    ("heads", "query", "out", "paged"), [(16, "bf16", "bf16", True), (64, "bf16", "fp16", False)], ids=["TP4", "DP"]
)
@pytest.mark.parametrize("capability", [90, 100, 120])
def test_decode_is_built_with_the_gpus_own_instructions(
    *, capability: int, heads: int, query: str, out: str, paged: bool, tmp_path: Path
) -> None:
    kernel, tile = compiled_attend(capability, heads, query, out, paged=paged)
    ptx = kernel.asm["ptx"]
    assert kernel.metadata.shared <= SHARED_BYTES[capability]
    assert PRODUCT[capability] in ptx
    assert ("cvt.rn.f16x2.e2m1x2" in ptx) == (capability >= 100)
    # A row is loaded 16 bytes at a time, and only where its entry is filled.
    wide = [line for line in ptx.splitlines() if re.search(r"ld\.global\S*\.v4", line)]
    # 352 bytes of each row of the first tile and of the loop's, over the threads.
    assert len(wide) >= 2 * tile.rows * 256 // (16 * 32 * tile.warps)
    assert all(line.lstrip().startswith("@") for line in wide)
    if capability == 90:
        # Of some 2,000 instructions. Mostly the stack holds the products' descriptors, which are only read.
        assert stores_to_stack_in_loop(kernel, tmp_path) <= (4 if tile.heads == 16 else 64)
    assert stack_bytes(kernel, tmp_path) <= 1536


def test_one_kernel_serves_any_number_of_tokens() -> None:
    # A compiler at work in the middle of serving is seconds. What a launch's tokens change must be no constant of the
    # kernel, nor a number of which Triton compiles 1, multiples of 16 and others apart.
    arguments = {each.name: each for each in decode.attend.params}
    assert not any(arguments[name].is_constexpr for name in ("splits", "split_rows"))
    assert arguments["splits"].do_not_specialize
    shares = [launch.tile(16, shared, exact=exact) for shared in SHARED_BYTES.values() for exact in (False, True)]
    assert all(share.rows % 16 == 0 for share in shares)


def test_decode_in_float32_is_built_for_the_check_on_a_gpu() -> None:
    kernel, _ = compiled_attend(90, 16, "fp32", "fp32", paged=False)
    assert kernel.metadata.shared <= SHARED_BYTES[120]
    # Not tf32, whose ten bits would be the error.
    assert "tf32" not in kernel.asm["ptx"]


@pytest.mark.parametrize("capability", [90, 100, 120])
def test_the_merge_is_built_without_touching_the_stack(capability: int, tmp_path: Path) -> None:
    types = {
        "partial": "*fp16",
        "partial_lse": "*fp32",
        "out": "*bf16",
        "lse": "*fp32",
        "heads": "i32",
        "splits": "i32",
    }
    kernel = compiled(decode.merge, capability, types, 4, split_reach=32, value_tile=128)
    assert stack_bytes(kernel, tmp_path) == 0


@pytest.mark.parametrize(("capability", "rotate"), [(90, False), (90, True), (100, True), (120, True)])
def test_the_writer_is_built_without_touching_the_stack(capability: int, rotate: bool, tmp_path: Path) -> None:
    types = {
        "latent": "*bf16",
        "latent_stride": "i32",
        "rope": "*bf16",
        "rope_stride": "i32",
        "positions": "*i64",
        "cos_sin": "*fp32",
        "cos_sin_stride": "i32",
        "slots": "*i64",
        "cache": "*u8",
        "cache_block_stride": "i64",
    }
    constants = {"block_tokens": 64, "rotate": rotate, "conversions": CONVERSIONS[capability].value}
    kernel = compiled(write.write, capability, types, 1, **constants)
    assert stack_bytes(kernel, tmp_path) == 0
    assert ("cvt.rn.satfinite.e2m1x2.f32" in kernel.asm["ptx"]) == (capability >= 100)
    assert "cvt.rn.satfinite.e4m3x2.f32" in kernel.asm["ptx"]
