"""The model's own chat template, rendered as transformers renders it.

Source of the environment: ``_compile_jinja_template`` of transformers 5, ``utils/chat_template_utils.py``. Importing it
costs 1.3 s of start-up, so its contract is kept here and a test compares the two.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from components.frontend.errors import RequestError


def _raise_exception(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # Jinja's own filter escapes HTML, which would change what the model reads.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)  # noqa: DTZ005 (templates print the server's local date, as transformers does)


class ChatTemplate:
    """Renders messages and tools to the prompt's text.

    Args:
        source: The template, as it lies beside the weights.
        variables: What every rendering sees beside the request, such as ``bos_token``.

    Raises:
        jinja2.TemplateSyntaxError: If the source is no template.
    """

    def __init__(self, source: str, variables: Mapping[str, Any] | None = None) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _raise_exception
        environment.globals["strftime_now"] = _strftime_now
        self._template = environment.from_string(source)
        self._variables = dict(variables or {})

    def render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, **variables: Any) -> str:
        """Return the prompt, the generation prompt at its end.

        Raises:
            RequestError: If the template refuses the messages.
        """
        known = {**self._variables, "add_generation_prompt": True, **variables}
        try:
            return self._template.render(messages=messages, tools=tools or None, **known)
        except (jinja2.TemplateError, TypeError, AttributeError, KeyError) as error:
            raise RequestError(f"the model's chat template refuses them: {error}", "messages") from error
