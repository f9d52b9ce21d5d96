"""The sentence encoder in torch: BERT, mean pooling, and the heads that shape it while it is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

WIDTH: Final = 384
HEADS: Final = 12
INNER: Final = 1536
EPSILON: Final = 1e-12
POSITIONS: Final = 512
DROPOUT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Shape:
    """What is left of the base encoder: how many word pieces, and which of its layers."""

    pieces: int
    layers: tuple[int, ...]


class Layer(nn.Module):
    """One transformer layer, normalised after each half as BERT does."""

    def __init__(self) -> None:
        super().__init__()
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.inner = nn.Linear(WIDTH, INNER)
        self.outer = nn.Linear(INNER, WIDTH)
        self.outer_norm = nn.LayerNorm(WIDTH, eps=EPSILON)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        batch, length, _ = hidden.shape
        split = self.query_key_value(hidden).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        drop = DROPOUT if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(split[0], split[1], split[2], attn_mask=mask, dropout_p=drop)
        mixed = self.output(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        hidden = self.norm(hidden + functional.dropout(mixed, DROPOUT, self.training))
        fed = self.outer(functional.gelu(self.inner(hidden)))
        return self.outer_norm(hidden + functional.dropout(fed, DROPOUT, self.training))


class Encoder(nn.Module):
    """Word pieces in, one unit vector a sentence out."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.pieces = nn.Embedding(shape.pieces, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in shape.layers)

    def thinned(self, kept: Sequence[int]) -> Encoder:
        """A copy that has only the given layers."""
        thin = Encoder(Shape(self.shape.pieces, tuple(self.shape.layers[at] for at in kept)))
        for part in ("pieces", "positions", "norm"):
            getattr(thin, part).load_state_dict(getattr(self, part).state_dict())
        for new, old in enumerate(kept):
            thin.layers[new].load_state_dict(self.layers[old].state_dict())
        return thin

    def hidden(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Vectors of the word pieces, shape (batch, length, 384). `mask` is 1 where a piece stands."""
        places = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.norm(self.pieces(ids) + self.positions(places))
        hidden = functional.dropout(hidden, DROPOUT, self.training)
        wide = None if mask is None else mask.bool()[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, wide)
        return hidden

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean of the word pieces' vectors, shape (batch, 384), not normalised."""
        hidden = self.hidden(ids, mask)
        if mask is None:
            return hidden.mean(1)
        weight = mask.unsqueeze(-1).to(hidden.dtype)
        return (hidden * weight).sum(1) / weight.sum(1)


class Probe(nn.Module):
    """Encoder with the heads that are thrown away after training: one per intent, meaning and slot."""

    def __init__(self, encoder: Encoder, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.encoder = encoder
        self.proxies = nn.Parameter(torch.randn(sizes["meaning"], WIDTH) / WIDTH**0.5)
        self.heads = nn.ModuleDict({name: nn.Linear(WIDTH, size) for name, size in sizes.items() if name != "meaning"})

    def adopt(self, teacher: Probe) -> None:
        """Start from a teacher's directions and heads."""
        self.proxies.data.copy_(teacher.proxies.data)
        self.heads.load_state_dict(teacher.heads.state_dict())


def from_base(folder: Path, order: Sequence[int], layers: Sequence[int]) -> Encoder:
    """Build an encoder from the base weights, keeping the given word pieces and layers, in this order."""
    weights = load_file(str(folder / "model.safetensors"))
    encoder = Encoder(Shape(len(order), tuple(layers)))
    state = {
        "pieces.weight": weights["embeddings.word_embeddings.weight"][list(order)],
        # Every sentence is of segment 0, so its vector is folded into the positions.
        "positions.weight": weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": weights["embeddings.LayerNorm.weight"],
        "norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    for new, old in enumerate(layers):
        state |= {f"layers.{new}.{name}": value for name, value in _layer(weights, f"encoder.layer.{old}").items()}
    encoder.load_state_dict(state)
    return encoder


def _layer(weights: Mapping[str, Tensor], at: str) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        found[f"query_key_value.{kind}"] = torch.cat(
            [weights[f"{at}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
        )
        found[f"output.{kind}"] = weights[f"{at}.attention.output.dense.{kind}"]
        found[f"norm.{kind}"] = weights[f"{at}.attention.output.LayerNorm.{kind}"]
        found[f"inner.{kind}"] = weights[f"{at}.intermediate.dense.{kind}"]
        found[f"outer.{kind}"] = weights[f"{at}.output.dense.{kind}"]
        found[f"outer_norm.{kind}"] = weights[f"{at}.output.LayerNorm.{kind}"]
    return found
