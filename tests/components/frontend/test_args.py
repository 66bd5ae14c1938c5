"""The frontend's flags."""

import pytest

from components.frontend.args import parser


def test_the_defaults_serve_one_machine() -> None:
    flags = parser().parse_args([])

    assert (flags.http_host, flags.http_port, flags.router_mode, flags.reasoning_gate) == (
        "127.0.0.1",
        8000,
        "kv",
        "tag",
    )
    assert (flags.router_policy, flags.prefill_component, flags.router_host_tokens) == ("sticky", "prefill", None)


@pytest.mark.parametrize(
    "argv", [["--http-prot", "1"], ["--http-p", "1"], ["--kv-cache-block-size", "0"], ["--router-host-tokens", "-1"]]
)
def test_a_wrong_flag_is_refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        parser().parse_args(argv)

    assert refused.value.code == 2
    assert argv[0] in capsys.readouterr().err
