"""The parts of a checkpoint at hand: exact sizes, by the names of its tensors.

The names are those of `GlmMoeDsaForCausalLM` (transformers 5.24), whose experts are saved one by one; scales of FP8 in
blocks are `weight_scale_inv`, of NVFP4 `weight_scale` and `weight_scale_2`, or `weight_packed` with
`weight_global_scale`. MTP layers follow the others, with `eh_proj`, `enorm`, `hnorm` and `shared_head`. The copies of
embeddings and head that they may have are no part: vLLM 0.31 shares the model's where they are equal
(`v1/worker/gpu/spec_decode/eagle/utils.py`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from graphs.memory import headers
from graphs.memory.headers import Tensor
from graphs.memory.shapes import Shapes
from graphs.memory.weights import Cut, Format, Part

OTHER: Final = "other"
"""Tensors whose names are not known; each rank is taken to have all of them."""

_LAYER: Final = re.compile(r"model\.layers\.(\d+)\.(.+)")
_KINDS: Final = tuple(
    (re.compile(pattern), name, cut)
    for pattern, name, cut in (
        (r"mlp\.experts\.", "routed experts", Cut.EXPERT),
        (r"mlp\.shared_experts\.", "shared experts", Cut.TENSOR),
        (r"mlp\.(gate|up|down|gate_up)_proj\.", "dense layers", Cut.TENSOR),
        (r"self_attn\.(q_b|kv_b|o)_proj\.", "attention, heads", Cut.TENSOR),
        (r"self_attn\.(q_a_proj|kv_a_proj_with_mqa)\.", "attention, low rank", Cut.WHOLE),
        (r"self_attn\.indexer\.", "indexers", Cut.WHOLE),
        (
            r"mlp\.gate\.|(input|post_attention)_layernorm\.|self_attn\.(q|kv)_a_layernorm\.",
            "gates and norms",
            Cut.WHOLE,
        ),
    )
)
_MTP_ONLY: Final = re.compile(r"(eh_proj|enorm|hnorm|shared_head\.norm)\.")
_MTP_COPIES: Final = re.compile(r"(embed_tokens|shared_head\.head)\.")
_TOP: Final[Mapping[str, tuple[str, Cut]]] = MappingProxyType(
    {
        "model.embed_tokens.weight": ("embeddings and head", Cut.TENSOR),
        "lm_head.weight": ("embeddings and head", Cut.TENSOR),
        "model.norm.weight": ("gates and norms", Cut.WHOLE),
    }
)
_MTP: Final[Mapping[Cut, str]] = MappingProxyType(
    {
        Cut.EXPERT: "MTP, routed experts",
        Cut.TENSOR: "MTP, heads and shared expert",
        Cut.WHOLE: "MTP, the rest",
    }
)
_ORDER: Final = (*(name for _, name, _ in _KINDS), "embeddings and head", *_MTP.values(), OTHER)
_FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {"BF16": "bf16", "F16": "fp16", "F32": "fp32", "F8_E4M3": "fp8", "F4": "nvfp4", "U8": "nvfp4"}
)
_SCALE: Final = re.compile(r"\.[a-z_]*scale(_inv|_2)?$")


class Checkpoint(msgspec.Struct, frozen=True):
    """What the headers of a checkpoint's files say.

    Attributes:
        files: How many files.
        all_bytes: All tensors.
        copied_bytes: Of them MTP's copies of embeddings and head, which vLLM does not keep.
        own: The parts, without MTP.
        mtp: MTP's.
        unknown: Names of tensors in the part `other`.
    """

    files: int
    all_bytes: int
    copied_bytes: int
    own: tuple[Part, ...]
    mtp: tuple[Part, ...]
    unknown: tuple[str, ...]

    def parts(self, *, mtp: bool) -> tuple[Part, ...]:
        """Return all parts, the MTP layers only where they are used."""
        return (*self.own, *self.mtp) if mtp else self.own

    @property
    def format(self) -> str:
        """The format of most of its routed experts: `nvfp4`, `fp8` or `bf16`."""
        experts = next((part.format.name for part in self.own if part.cut is Cut.EXPERT), "bf16")
        return next((name for name in ("nvfp4", "fp8") if experts.startswith(name)), "bf16")


class _Place(msgspec.Struct, frozen=True):
    """Where a tensor belongs; None where vLLM does not keep it."""

    part: str
    cut: Cut
    mtp: bool = False


def read(folder: Path, shapes: Shapes) -> Checkpoint | None:
    """Read a checkpoint's parts from its headers; None where there are no weights.

    Raises:
        Refusal: A file is missing, cut, or none of safetensors.
    """
    found = headers.read(folder)
    if found is None:
        return None
    groups: dict[_Place, list[Tensor]] = {}
    copied = 0
    for tensor in found.tensors:
        place = _place(tensor.name, shapes)
        if place is None:
            copied += tensor.size_bytes
        else:
            groups.setdefault(place, []).append(tensor)
    ordered = sorted(groups.items(), key=lambda each: _ORDER.index(each[0].part))
    return Checkpoint(
        files=found.files,
        all_bytes=sum(tensor.size_bytes for tensor in found.tensors),
        copied_bytes=copied,
        own=tuple(_part(place, tensors) for place, tensors in ordered if not place.mtp),
        mtp=tuple(_part(place, tensors) for place, tensors in ordered if place.mtp),
        unknown=tuple(tensor.name for place, tensors in ordered if place.part == OTHER for tensor in tensors),
    )


def _place(name: str, shapes: Shapes) -> _Place | None:
    layer = _LAYER.fullmatch(name)
    if layer is None:
        return _Place(*_TOP.get(name, (OTHER, Cut.WHOLE)))
    number, rest = int(layer[1]), layer[2]
    mtp = number >= shapes.num_hidden_layers
    if number >= shapes.num_hidden_layers + shapes.num_nextn_predict_layers:
        return _Place(OTHER, Cut.WHOLE)
    for pattern, part, cut in _KINDS:
        if pattern.match(rest):
            return _Place(_MTP[cut] if mtp else part, cut, mtp)
    if mtp and _MTP_ONLY.match(rest):
        return _Place(_MTP[Cut.WHOLE], Cut.WHOLE, mtp)
    return None if mtp and _MTP_COPIES.match(rest) else _Place(OTHER, Cut.WHOLE)


def _part(place: _Place, tensors: list[Tensor]) -> Part:
    stored = sum(tensor.size_bytes for tensor in tensors)
    parameters = sum(_parameters(tensors))
    bits = stored * 8 / parameters if parameters else 0.0
    scales = sum(tensor.size_bytes for tensor in tensors if _SCALE.search(tensor.name))
    return Part(place.part, parameters, place.cut, Format(_format(tensors), bits), stored, scales)


def _parameters(tensors: Iterable[Tensor]) -> Iterator[int]:
    for tensor in tensors:
        if not _SCALE.search(tensor.name):
            # Two of four bits in a byte.
            yield tensor.values * (2 if tensor.dtype == "U8" else 1)


def _format(tensors: Iterable[Tensor]) -> str:
    """Name the formats of a part's matrices, the one with most bytes first; of its scales where they are all of it."""
    sizes: dict[str, int] = {}
    for tensor in tensors:
        name = _FORMATS.get(tensor.dtype, tensor.dtype.lower())
        sizes[name] = sizes.get(name, 0) + (0 if _SCALE.search(tensor.name) else tensor.size_bytes)
    ordered = sorted((name for name in sizes if sizes[name]), key=lambda name: -sizes[name])
    return " and ".join(ordered or sizes)
