"""A checkpoint as small as one can be: a random model with a tokenizer of one token a word."""

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

from components.kvcache.error.small import small_model

WORDS = ("one", "two", "three", "four")


def save_checkpoint(folder: Path) -> None:
    small_model(64, 16, 3).save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
