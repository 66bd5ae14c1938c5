import json
import shlex
from dataclasses import replace
from pathlib import Path

from graphs.process import Plan
from graphs.supervisor import banner

PLAN = Plan("glm53", (), Path("/run"), url="http://127.0.0.1:8000", model="glm-5.3's stand-in")


def test_the_banner_names_the_url_and_the_model_and_how_to_stop() -> None:
    text = banner.render(PLAN, "glm53 is ready", colour=False)
    assert "http://127.0.0.1:8000/v1\n" in text
    assert "glm-5.3's stand-in\n" in text
    assert banner.curl("http://127.0.0.1:8000", "glm-5.3's stand-in") in text
    assert "Ctrl-C" in text


def test_the_command_is_one_that_a_shell_reads_as_a_request_with_a_tool() -> None:
    words = shlex.split(banner.curl("http://127.0.0.1:8000", "glm-5.3's stand-in"))
    assert words[:2] == ["curl", "http://127.0.0.1:8000/v1/chat/completions"]
    body = json.loads(words[words.index("-d") + 1])
    assert body["model"] == "glm-5.3's stand-in"
    assert body["tools"][0]["function"]["name"] == "get_weather"


def test_a_machine_without_a_frontend_shows_no_request() -> None:
    text = banner.render(replace(PLAN, url=None), "glm53 is ready", colour=False)
    assert "curl" not in text
    assert "glm53 is ready" in text
