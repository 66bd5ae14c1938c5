"""What a person gets when a graph, a configuration or a machine cannot be served."""


class Refusal(Exception):  # noqa: N818 - it is an answer to a person, and is named as one.
    """Bad input from a person: each problem is one line that names the place and the mend."""

    def __init__(self, *problems: str) -> None:
        """Keep the problems, in the order in which a person should read them."""
        super().__init__("\n".join(problems))
        self.problems = problems
