"""GLM-5.3 for coding agents: wide prefill, narrow decode, and a host-memory tier of KV behind prefill.

    agents ─▶ Frontend ─prompt─▶ Prefill (DEP8) ─KV over NIXL─▶ 4 x Decode (TP4)
                                    └─KV blocks─▶ Mooncake, MooncakeClient (optional)

An agent's turn adds a few thousand tokens to a prompt that was seen before, so prefill is short and decode is long: one
prefill engine feeds four decoders (P/D 1:4).
"""

from pathlib import Path

from graphs.model import Service, dep, tp
from graphs.workers import frontend, local, mocker, mooncake_client, mooncake_master, vllm

Frontend = Service("Frontend", "frontend", (frontend(),))
Prefill = Service("Prefill", "prefill", (mocker("prefill"), vllm("prefill")), topology=dep(8), replicas=1)
Decode = Service("Decode", "decode", (local(), mocker("decode"), vllm("decode")), topology=tp(4), replicas=4)
Mooncake = Service("Mooncake", "store", (mooncake_master(),), optional=True)
MooncakeClient = Service("MooncakeClient", "store", (mooncake_client(),), optional=True)

glm53 = (
    Frontend.link(Prefill, "prompt")
    .link(Decode, "KV over NIXL")
    .link(Mooncake, "KV blocks", source=Prefill)
    .link(MooncakeClient, "KV blocks", source=Prefill)
    .link(Mooncake, "its memory", source=MooncakeClient)
    .with_config(Path(__file__).parent.parent / "configs" / "local.yaml")
)
