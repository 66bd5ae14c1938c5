"""The one error of this package: a tool definition that cannot be served."""


class SchemaError(ValueError):
    """A tool, tool choice or response schema that no call could satisfy.

    `str()` is one line fit for the message of an HTTP 400.

    Args:
        path: JSON path into the request, such as `tools[3].function.parameters.properties.x`.
        problem: What is wrong there and how to mend it.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


def json_path(base: str, *steps: str | int) -> str:
    """Append steps to a JSON path: names with a dot, indexes in brackets, other keys quoted."""
    parts = [base]
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step.replace("$", "_").isidentifier():
            parts.append(f".{step}" if base else step)
        else:
            parts.append(f"[{step!r}]")
    return "".join(parts)
