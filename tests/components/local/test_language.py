from components.local.language import Language
from components.local.vocabulary import Vocabulary


def likeliest(vocabulary: Vocabulary, language: Language, before: str) -> str:
    ids = vocabulary.tokenizer.encode(before, add_special_tokens=False).ids
    return vocabulary.texts[int(language.weights(ids[-2], ids[-1]).argmax())]


def test_it_goes_on_as_the_corpus_does(vocabulary: Vocabulary, language: Language) -> None:
    assert likeliest(vocabulary, language, "<think>The user wants") == " to"
    assert likeliest(vocabulary, language, "</arg_value></tool_call>") == "<|observation|>"


def test_every_token_has_some_weight_everywhere(language: Language, vocabulary: Vocabulary) -> None:
    for context in ((-1, vocabulary.id("<think>")), (5, 7), (-1, -1)):
        weights = language.weights(*context)
        assert weights.shape == (len(vocabulary.data),)
        assert (weights > 0).all()


def test_a_context_never_seen_starts_a_word(vocabulary: Vocabulary, language: Language) -> None:
    assert vocabulary.texts[int(language.weights(0, 0).argmax())].startswith(" ")


def test_the_weights_are_the_caller_s_to_change(language: Language) -> None:
    language.weights(0, 0).fill(0)
    assert language.weights(0, 0).all()
