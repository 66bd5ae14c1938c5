"""Token ids back to text, in any chunking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models

from components.frontend.detokenization import Detokenizer, TokenBytes, UnsupportedTokenizerError


@pytest.fixture(scope="module")
def tokens(tokenizer: Tokenizer) -> TokenBytes:
    return TokenBytes(tokenizer)


@given(text=st.text(), data=st.data())
def test_every_chunking_gives_the_text(
    tokens: TokenBytes, tokenizer: Tokenizer, text: str, data: st.DataObject
) -> None:
    ids = list(tokenizer.encode(text, add_special_tokens=False).ids)
    detokenizer = Detokenizer(tokens, skip_special=False)
    out = []
    while ids:
        size = data.draw(st.integers(1, len(ids)))
        out.append(detokenizer.feed(ids[:size]))
        ids = ids[size:]

    assert "".join(out) + detokenizer.finish() == text


def test_a_character_cut_over_tokens_is_held_back(tokens: TokenBytes) -> None:
    ids = [id_ for id_ in range(len(tokens)) if tokens[id_] in {b"\xf0", b"\x9f", b"\x99", b"\x82"}]
    by_byte = {tokens[id_]: id_ for id_ in ids}
    smile = [by_byte[bytes([byte])] for byte in "🙂".encode()]
    detokenizer = Detokenizer(tokens)

    assert [detokenizer.feed([id_]) for id_ in smile] == ["", "", "", "🙂"]


def test_a_character_that_never_ends_becomes_a_replacement(tokens: TokenBytes) -> None:
    first_byte = next(id_ for id_ in range(len(tokens)) if tokens[id_] == b"\xf0")
    detokenizer = Detokenizer(tokens)

    assert detokenizer.feed([first_byte]) == ""
    assert detokenizer.finish() == "\N{REPLACEMENT CHARACTER}"


def test_markers_of_structure_stay_and_role_tokens_go(tokens: TokenBytes, tokenizer: Tokenizer) -> None:
    text = "<think><tool_call><|observation|><|endoftext|>"
    ids = tokenizer.encode(text, add_special_tokens=False).ids

    assert Detokenizer(tokens).feed(ids) == "<think><tool_call>"
    assert Detokenizer(tokens, skip_special=False).feed(ids) == text


def test_an_id_beyond_the_vocabulary_is_no_text(tokens: TokenBytes) -> None:
    assert Detokenizer(tokens).feed([len(tokens) + 7]) == ""


def test_a_tokenizer_that_is_not_byte_level_is_refused() -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    tokenizer.decoder = decoders.Metaspace()

    with pytest.raises(UnsupportedTokenizerError, match="Metaspace"):
        TokenBytes(tokenizer)
