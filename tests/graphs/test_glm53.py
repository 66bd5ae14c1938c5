from graphs import glm53


def test_glm53_is_one_wide_prefill_to_four_narrow_decoders() -> None:
    shape = [(each.name, str(each.topology), each.replicas, each.optional) for each in glm53.services]
    assert shape == [
        ("Frontend", "None", 1, False),
        ("Prefill", "DEP8", 1, False),
        ("Decode", "TP4", 4, False),
        ("Mooncake", "None", 1, True),
        ("MooncakeClient", "None", 1, True),
    ]
    assert (glm53.replicas("prefill"), glm53.replicas("decode")) == (1, 4)


def test_a_request_goes_from_frontend_to_prefill_to_decode() -> None:
    assert [(link.source, link.to) for link in glm53.links] == [
        ("Frontend", "Prefill"),
        ("Prefill", "Decode"),
        ("Prefill", "Mooncake"),
        ("Prefill", "MooncakeClient"),
        ("MooncakeClient", "Mooncake"),
    ]


def test_its_default_configuration_is_packaged() -> None:
    assert glm53.config is not None
    assert glm53.config.name == "local.yaml"
    assert glm53.config.is_file()
