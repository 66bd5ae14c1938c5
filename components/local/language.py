"""The language model behind the stand-in: a trigram model of the corpus, which writes words and sentences."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from components.local import corpus, markers
from components.local.vocabulary import Part, Vocabulary

_TRIGRAM = 0.95
# What every token is worth in a context that has never seen it: next to nothing, but never nothing, since a grammar may
# leave no other choice. Ends come before words, so that what a grammar holds open is closed rather than continued.
_UNSEEN = {
    Part.SPECIAL: 1e-30,
    # Less than a marker where it is not wanted, so that none is ever spelled out.
    Part.AWKWARD: 1e-40,
    Part.SPACE: 1e-11,
    Part.TEXT: 1e-9,
    Part.WORD: 1e-9,
    Part.SIGN: 1e-8,
    Part.DIGIT: 1e-7,
    Part.COMMA: 1e-6,
    Part.QUOTE_COMMA: 1e-6,
    Part.OPEN: 1e-6,
    Part.NEST: 1e-8,
}
_UNSEEN_END = 1e-5
_OTHER_END = 1e-2

Weights = npt.NDArray[np.float64]
_Successors = tuple[npt.NDArray[np.intp], Weights]


class Language:
    """Weights of the next token given the last two."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        pairs: dict[int, Counter[int]] = defaultdict(Counter)
        triples: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        words: Counter[int] = Counter()
        for turn in corpus.turns():
            ids = vocabulary.tokenizer.encode(turn, add_special_tokens=False).ids
            words.update(token for token in ids if vocabulary.parts[token] == Part.WORD)
            for first, second in pairwise(ids):
                pairs[first][second] += 1
            for first, second, third in zip(ids, ids[1:], ids[2:], strict=False):
                triples[first, second][third] += 1
        self._unseen = _unseen(vocabulary)
        self._pairs = {first: _normalized(counts, 1.0) for first, counts in pairs.items()}
        self._triples = {context: _normalized(counts, _TRIGRAM) for context, counts in triples.items()}
        self._words = _normalized(words, 1e-3)

    def weights(self, last_but_one: int, last: int) -> Weights:
        """Return the weight of every token after two others, all positive, in a fresh array of shape (vocabulary,)."""
        weights = self._unseen.copy()
        triple = self._triples.get((last_but_one, last))
        pair = self._pairs.get(last)
        if triple is not None:
            weights[triple[0]] += triple[1]
        if pair is not None:
            weights[pair[0]] += pair[1] if triple is None else pair[1] * (1 - _TRIGRAM)
        else:
            weights[self._words[0]] += self._words[1]
        return weights


def _unseen(vocabulary: Vocabulary) -> Weights:
    by_part = np.array([_UNSEEN.get(part, _UNSEEN_END) for part in Part])
    # A model spells what it must in few tokens.
    lengths = np.array([len(data) for data in vocabulary.data])
    weights: Weights = by_part[vocabulary.parts] * np.where(vocabulary.parts <= Part.WORD, lengths**2, 1)
    # Where nothing says how a turn ends, the user is next.
    weights[vocabulary.parts == Part.END] *= _OTHER_END
    weights[vocabulary.id(markers.USER)] /= _OTHER_END
    return weights


def _normalized(counts: Counter[int], total: float) -> _Successors:
    weights = np.array(list(counts.values()), dtype=np.float64)
    return np.array(list(counts), dtype=np.intp), weights * (total / weights.sum())
