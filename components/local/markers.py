"""GLM's added tokens: the structure of a prompt and of an answer, one vocabulary entry each."""

from typing import Final

END_OF_TEXT: Final = "<|endoftext|>"
SYSTEM: Final = "<|system|>"
USER: Final = "<|user|>"
ASSISTANT: Final = "<|assistant|>"
OBSERVATION: Final = "<|observation|>"
THINK: Final = "<think>"
END_THINK: Final = "</think>"
TOOL_CALL: Final = "<tool_call>"
END_TOOL_CALL: Final = "</tool_call>"
ARG_KEY: Final = "<arg_key>"
END_ARG_KEY: Final = "</arg_key>"
ARG_VALUE: Final = "<arg_value>"
END_ARG_VALUE: Final = "</arg_value>"

# A turn ends with the token that would open the next one, or with the end of the text.
END_TOKENS: Final = (END_OF_TEXT, USER, OBSERVATION)

# Left out when text is decoded with `skip_special_tokens`.
SPECIAL: Final = (
    END_OF_TEXT,
    "[MASK]",
    "[gMASK]",
    "[sMASK]",
    "<sop>",
    "<eop>",
    SYSTEM,
    USER,
    ASSISTANT,
    OBSERVATION,
    "<|begin_of_image|>",
    "<|end_of_image|>",
)
# Kept when text is decoded: a parser reads them.
STRUCTURE: Final = (
    THINK,
    END_THINK,
    TOOL_CALL,
    END_TOOL_CALL,
    "<tool_response>",
    "</tool_response>",
    ARG_KEY,
    END_ARG_KEY,
    ARG_VALUE,
    END_ARG_VALUE,
)
NO_THINK: Final = "/nothink"
