"""What a request can be refused for."""


class RequestError(ValueError):
    """The client's request cannot be served as it stands: HTTP 400, with this one line as its message.

    Args:
        message: What is wrong and what would be right.
        param: Path of the field at fault, as in OpenAI's error object (``messages[3].content``).
    """

    def __init__(self, message: str, param: str | None = None) -> None:
        self.param = param
        super().__init__(f"{param}: {message}" if param else message)
