"""Cross-encoders that are made here: one of random weights, and one that counts a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_SIZE = 16


def tokenizer() -> Any:
    """Words in lower case, of which it knows "ferry" alone."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "ferry": 4}
    rows = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    rows.normalizer = normalizers.Lowercase()
    rows.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    rows.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=rows, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=64,
    )  # fmt: skip


def saved(folder: Path, *, counting: bool = False, labels: int = 1) -> Path:
    """A small BERT with so many labels, as sentence-transformers saves it. counting: see `_count`."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=5, hidden_size=_SIZE, num_hidden_layers=1, num_attention_heads=1, intermediate_size=_SIZE,
        max_position_embeddings=64, num_labels=labels,
    )  # fmt: skip
    model = BertForSequenceClassification(config).eval()
    if counting:
        _count(model)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def with_code(folder: Path) -> Path:
    """The same, asking for code of its own, which leaves a file behind where it is run."""
    saved(folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine", "AutoModel": "mine.Mine"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()\nclass Mine: pass\n")
    return folder


def _count(model: Any) -> None:
    """The score grows with the share of "ferry" among the tokens: all are attended to alike, and one number tells."""
    import torch

    with torch.no_grad():
        for name, values in model.named_parameters():
            values.zero_() if not name.endswith("LayerNorm.weight") else values.fill_(1)
        words = model.bert.embeddings.word_embeddings.weight
        words[:, 0], words[4, 0], words[4, 1] = 1, 0, 1
        attention = model.bert.encoder.layer[0].attention
        for part in (attention.self.value, attention.output.dense, model.bert.pooler.dense):
            part.weight.copy_(torch.eye(_SIZE))
        model.bert.pooler.dense.weight.mul_(0.1)  # far from where its tanh is flat
        model.classifier.weight[0, 1] = 10
