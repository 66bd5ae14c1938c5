"""The model's folder is there and has a tokenizer that can be read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from graphs.checks.check import Check
from graphs.config import ServiceConfig
from graphs.standin import NAME as STAND_IN

# Any of the first group holds the tokenizer's vocabulary.
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tiktoken.model", "vocab.json")
_JSON = ("config.json", "tokenizer_config.json")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def models(services: tuple[ServiceConfig, ...]) -> Iterator[Check]:
    """The model of every service, each folder once."""
    named = {service.model: service for service in reversed(services) if service.model}
    for model, service in named.items():
        setting = f"{service.service.name}.{service.worker.model_flag}"
        if model == STAND_IN:
            yield Check("model", f"{STAND_IN}, made at the start")
        elif Path(model).is_dir():
            yield _folder(Path(model), setting)
        elif _HUB_ID.fullmatch(model) and not Path(model).exists():
            yield Check("model", f"{model}, from the Hugging Face hub or its cache")
        else:
            yield Check("model", f"{setting} {model} is no folder", "give a model's folder or its id on the hub")
    for service in services:
        if service.model is None and service.service.role in {"prefill", "decode"}:
            name = service.service.name
            yield Check("model", f"{name} has none", f"set {name}.{service.worker.model_flag}")


def _folder(folder: Path, setting: str) -> Check:
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        return Check("model", f"{folder} has no tokenizer.json", f"point {setting} at a whole model folder")
    for name in _JSON:
        try:
            json.loads((folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Check("model", f"{folder} has no {name}", f"point {setting} at a whole model folder")
        except OSError as error:
            return Check("model", f"{folder / name} cannot be read ({error.strerror})", "mend its permissions")
        except ValueError:
            return Check("model", f"{folder / name} is no JSON", "fetch the file again")
    return Check("model", str(folder))
