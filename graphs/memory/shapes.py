"""The shapes of a GLM-5.x model that decide how large it is, from its `config.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from components.kvcache.rows import INDEXER_VALUES, LATENT_VALUES, ROPE_VALUES, Model, indexer_layers
from graphs.errors import Refusal

ARCHITECTURE: Final = "glm_moe_dsa"
"""`model_type` of GLM-5 to GLM-5.3. GLM-5.3-Flash is `glm5next`, another architecture."""


class Shapes(msgspec.Struct, frozen=True):
    """Sizes of one model's matrices, by the names of its `config.json`.

    Attributes:
        name: As on the model's card, or its folder.
        num_hidden_layers: Layers, MTP apart.
        first_k_dense_replace: The first of them, which have no experts.
        num_nextn_predict_layers: MTP layers behind them, each with experts.
        hidden_size: Width between the layers.
        intermediate_size: Inner width of a dense layer.
        moe_intermediate_size: Inner width of an expert.
        n_routed_experts: Experts of a layer.
        num_experts_per_tok: Those of them that a token takes.
        n_shared_experts: Experts that every token takes.
        num_attention_heads: Query heads.
        q_lora_rank: Width of the compressed query.
        kv_lora_rank: Width of the latent.
        qk_nope_head_dim: Width of a head's key without position.
        qk_rope_head_dim: Width of a key's position part.
        v_head_dim: Width of a head's value.
        vocab_size: Tokens that the model knows.
        index_n_heads: Heads of an indexer.
        index_head_dim: Width of an indexer's key.
        index_topk_freq: Every how many layers there is an indexer; 1 in all.
        index_skip_topk_offset: The layers below it all have one.
        max_position_embeddings: Longest prompt and answer, in tokens.
    """

    name: str
    num_hidden_layers: int = 78
    first_k_dense_replace: int = 3
    num_nextn_predict_layers: int = 1
    hidden_size: int = 6144
    intermediate_size: int = 12288
    moe_intermediate_size: int = 2048
    n_routed_experts: int = 256
    num_experts_per_tok: int = 8
    n_shared_experts: int = 1
    num_attention_heads: int = 64
    q_lora_rank: int = 2048
    kv_lora_rank: int = LATENT_VALUES
    qk_nope_head_dim: int = 192
    qk_rope_head_dim: int = ROPE_VALUES
    v_head_dim: int = 256
    vocab_size: int = 154_880
    index_n_heads: int = 32
    index_head_dim: int = INDEXER_VALUES
    index_topk_freq: int = 4
    index_skip_topk_offset: int = 3
    max_position_embeddings: int = 1_048_576

    @property
    def kv(self) -> Model:
        """Its layers that keep KV."""
        layers = indexer_layers(self.num_hidden_layers, self.index_topk_freq, self.index_skip_topk_offset)
        return Model(self.name, self.num_hidden_layers, layers, self.num_nextn_predict_layers)


_GLM_5: Final = {"index_topk_freq": 1, "index_skip_topk_offset": 0, "max_position_embeddings": 202_752}

KNOWN: Final[Mapping[str, Shapes]] = MappingProxyType(
    {
        shapes.name: shapes
        for shapes in (
            Shapes("GLM-5", **_GLM_5),
            Shapes("GLM-5.1", **_GLM_5),
            Shapes("GLM-5.2"),
            Shapes("GLM-5.3"),
        )
    }
)
"""The released models, as the `config.json` of `zai-org/GLM-5.3` and its kin have them: alike, but that GLM-5 and 5.1
have an indexer in every layer and a shorter context."""


def known(model: str) -> Shapes | None:
    """Return the released model that a folder or hub id is a checkpoint of, by its name; None for another."""
    name = model.rstrip("/").rpartition("/")[2]
    found = [shapes for shapes in KNOWN.values() if (name + "-").startswith(f"{shapes.name}-")]
    # The Flash variant shares the beginning of its name and nothing else.
    return max(found, key=lambda shapes: len(shapes.name)) if found and "flash" not in name.lower() else None


def read(path: Path) -> Shapes:
    """Read a checkpoint's own `config.json`, in a folder or named itself.

    Raises:
        Refusal: It is not there, is none of this architecture, or lacks a size.
    """
    file = path / "config.json" if path.is_dir() else path
    try:
        config: Any = json.loads(file.read_text())
    except OSError as error:
        raise Refusal(f"--model {path}: {error.strerror}; name a checkpoint's folder or its config.json") from error
    except ValueError as error:
        raise Refusal(f"--model {path}: not JSON: {error}") from error
    if not isinstance(config, dict):
        raise Refusal(f"--model {path}: not a JSON object, as a config.json is")
    if config.get("model_type") != ARCHITECTURE:
        raise Refusal(f"--model {path}: model_type is {config.get('model_type')!r}, and {ARCHITECTURE!r} is wanted")
    names = [field.name for field in msgspec.structs.fields(Shapes) if field.name not in _OPTIONAL]
    if missing := [name for name in names if config.get(name) is None]:
        raise Refusal(f"--model {path}: lacks {', '.join(missing)}")
    found = {name: config[name] for name in [*names, *_OPTIONAL] if config.get(name) is not None}
    try:
        shapes = msgspec.convert({**_EVERY_LAYER, **found, "name": file.parent.name}, Shapes)
    except msgspec.ValidationError as error:
        raise Refusal(f"--model {path}: {error}") from error
    _check(path, shapes)
    return shapes


def _check(path: Path, shapes: Shapes) -> None:
    sizes = {name: size for name, size in msgspec.structs.asdict(shapes).items() if name != "name"}
    if small := [name for name, size in sizes.items() if size < (name not in _MAY_BE_NONE)]:
        raise Refusal(f"--model {path}: too small: {', '.join(small)}")
    for some, of in _SOME_OF.items():
        if sizes[some] > sizes[of]:
            raise Refusal(f"--model {path}: {some} is {sizes[some]}, of {sizes[of]} {of}")
    if (latent := (shapes.kv_lora_rank, shapes.qk_rope_head_dim, shapes.index_head_dim)) != _ROW:
        raise Refusal(f"--model {path}: its KV has {latent} values, and only rows of {_ROW} are known")


_EVERY_LAYER: Final = {"index_topk_freq": 1, "index_skip_topk_offset": 0}
_MAY_BE_NONE: Final = (
    "first_k_dense_replace",
    "num_nextn_predict_layers",
    "n_shared_experts",
    "index_skip_topk_offset",
)
_SOME_OF: Final = {"first_k_dense_replace": "num_hidden_layers", "num_experts_per_tok": "n_routed_experts"}
_ROW: Final = (LATENT_VALUES, ROPE_VALUES, INDEXER_VALUES)
# A config.json without index sharing says nothing of it; the name is the folder's.
_OPTIONAL: Final = ("index_topk_freq", "index_skip_topk_offset", "name")
