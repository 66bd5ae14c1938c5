from graphs.settings.vllm import VllmSettings


def test_any_flag_of_vllm_passes() -> None:
    settings = VllmSettings.model_validate(
        {
            "model": "zai-org/GLM-5.3",
            "tensor-parallel-size": 4,
            "enable-expert-parallel": True,
            "enable-prefix-caching": False,
            "kv-transfer-config": {"kv_connector": "NixlConnector"},
        }
    )
    assert settings.arguments() == (
        "--model",
        "zai-org/GLM-5.3",
        "--tensor-parallel-size",
        "4",
        "--enable-expert-parallel",
        "--no-enable-prefix-caching",
        "--kv-transfer-config",
        '{"kv_connector":"NixlConnector"}',
    )


def test_vllm_is_open_to_names_that_are_not_described_here() -> None:
    assert VllmSettings.open()
