"""Fine-tunes the encoder so that wordings of one meaning meet and meanings one qualifier apart part.

Three losses add up: supervised contrast between the wordings in a batch, a softmax over a learned direction per
meaning, and throw-away heads for the intent and each slot. A student is also pulled towards its teacher's vectors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm

from training.augment import noisy
from training.batches import Sampler
from training.network import Encoder, Probe
from training.targets import Targets

CHUNKS: Final = 4
"""A batch is encoded in this many parts of like length, so that little padding is computed."""

SHARP: Final = 20.0
"""Inverse temperature of the softmax over cosines."""

NOWHERE: Final = 0.25
"""Cosine of the answer "none of the meanings", which out-of-scope text must prefer."""

MARGIN: Final = 0.1
"""Cosine by which the right meaning has to lead while training."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast. `rate` is the peak learning rate; proxies and heads learn `head_factor` times faster."""

    epochs: int
    rate: float
    head_factor: float = 30.0
    warm_up: float = 0.08
    decay: float = 0.01
    teach: float = 0.0


@dataclass(frozen=True, slots=True)
class Text:
    """Utterances and their numbered labels, of the fitting split only."""

    texts: Sequence[str]
    targets: Targets


def embed(encoder: Encoder, tokenizer: Tokenizer, texts: Sequence[str], *, bf16: bool = False) -> NDArray[np.float32]:
    """Unit vectors of texts, shape (texts, 384)."""
    ids = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
    order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
    found = np.zeros((len(ids), encoder.norm.weight.shape[0]), dtype=np.float32)
    encoder.eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        for at in range(0, len(order), 64):
            rows = order[at : at + 64]
            found[rows] = functional.normalize(encoder(*_padded([ids[row] for row in rows])).float()).numpy()
    return found


def tune(
    probe: Probe,
    tokenizer: Tokenizer,
    text: Text,
    schedule: Schedule,
    checkpoint: Path,
    *,
    seed: int,
    bf16: bool,
    teacher: Encoder | None = None,
) -> Probe:
    """Train the probe in place, saving its state after every epoch; resumes from the checkpoint if there is one."""
    torch.manual_seed(seed)
    outside = [row for row, out in enumerate(text.targets.out_of_scope) if out]
    sampler = Sampler(text.targets.meaning, outside, seed)
    steps = sampler.steps() * schedule.epochs
    optimiser = _optimiser(probe, schedule)
    done = _resume(probe, optimiser, checkpoint)
    bar = tqdm(total=steps, initial=done * sampler.steps(), desc=checkpoint.stem, unit="step", smoothing=0.05)
    for epoch in range(done, schedule.epochs):
        chance = random.Random(seed * 1000 + epoch)
        sampler.rank(embed(probe.encoder, tokenizer, text.texts, bf16=bf16))
        probe.train()
        for rows in sampler.epoch():
            for group in optimiser.param_groups:
                group["lr"] = group["peak"] * _pace(bar.n / steps, schedule.warm_up)
            loss = _step(probe, tokenizer, text, rows, chance, schedule=schedule, bf16=bf16, teacher=teacher)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(probe.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            bar.update()
            bar.set_postfix(epoch=epoch + 1, loss=f"{loss.item():.3f}", refresh=False)
        _save(probe, optimiser, epoch + 1, checkpoint)
    bar.close()
    return probe


def _step(
    probe: Probe,
    tokenizer: Tokenizer,
    text: Text,
    rows: list[int],
    chance: random.Random,
    *,
    schedule: Schedule,
    bf16: bool,
    teacher: Encoder | None,
) -> Tensor:
    encoded = tokenizer.encode_batch([noisy(text.texts[row], chance) for row in rows])
    order = sorted(range(len(rows)), key=lambda at: len(encoded[at].ids))
    size = math.ceil(len(order) / CHUNKS)
    parts, taught = [], []
    for at in range(0, len(order), size):
        ids, mask = _padded([encoded[row].ids for row in order[at : at + size]])
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            parts.append(probe.encoder(ids, mask).float())
            if teacher is not None:
                with torch.no_grad():
                    taught.append(teacher(ids, mask).float())
    pooled = torch.cat(parts)
    at_rows = np.array([rows[at] for at in order])
    loss = _losses(probe, pooled, at_rows, text.targets)
    if teacher is not None:
        agreement = functional.cosine_similarity(pooled, torch.cat(taught))
        loss = loss + schedule.teach * (1.0 - agreement).mean()
    return loss


def _losses(probe: Probe, pooled: Tensor, rows: NDArray[np.int64], targets: Targets) -> Tensor:
    unit = functional.normalize(pooled)
    meaning = torch.from_numpy(targets.meaning[rows])
    inside = meaning >= 0
    cosines = unit @ functional.normalize(probe.proxies).T
    wanted = functional.one_hot(meaning.clamp(min=0), cosines.shape[1]) * inside[:, None]
    nowhere = torch.full((len(rows), 1), NOWHERE)
    logits = SHARP * torch.cat([cosines - MARGIN * wanted, nowhere], 1)
    loss = functional.cross_entropy(logits, torch.where(inside, meaning, cosines.shape[1]))
    loss = loss + _contrast(unit, meaning)
    for name, head in probe.heads.items():
        target = torch.from_numpy(targets.heads[name][rows])
        known = target >= 0
        if known.any():
            weight = 1.0 if name == "intent" else 0.25
            loss = loss + weight * functional.cross_entropy(head(pooled[known]), target[known], label_smoothing=0.02)
    return loss


def _contrast(unit: Tensor, meaning: Tensor) -> Tensor:
    """Supervised contrastive loss (Khosla et al. 2020, eq. 2) over the rows that have a partner."""
    itself = torch.eye(len(meaning), dtype=torch.bool)
    scores = (SHARP * unit @ unit.T).masked_fill(itself, -torch.inf)
    same = (meaning[:, None] == meaning[None, :]) & (meaning >= 0)[:, None] & ~itself
    logs = (scores - scores.logsumexp(1, keepdim=True)).masked_fill(~same, 0.0)
    partners = same.sum(1)
    has = partners > 0
    return -(logs.sum(1)[has] / partners[has]).mean()


def _padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    longest = max(map(len, rows))
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask = torch.zeros((len(rows), longest))
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row)
        mask[at, : len(row)] = 1.0
    return ids, mask


def _pace(share: float, warm_up: float) -> float:
    return share / warm_up if share < warm_up else 0.5 * (1 + math.cos(math.pi * (share - warm_up) / (1 - warm_up)))


def _optimiser(probe: Probe, schedule: Schedule) -> torch.optim.AdamW:
    body = list(probe.encoder.parameters())
    heads = [probe.proxies, *probe.heads.parameters()]
    groups = [
        {"params": body, "peak": schedule.rate, "lr": 0.0},
        {"params": heads, "peak": schedule.rate * schedule.head_factor, "lr": 0.0},
    ]
    return torch.optim.AdamW(groups, weight_decay=schedule.decay)


def _save(probe: Probe, optimiser: torch.optim.AdamW, epoch: int, checkpoint: Path) -> None:
    state = {f"probe.{name}": value.contiguous() for name, value in probe.state_dict().items()}
    for at, values in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{at}.{name}": value for name, value in values.items()}
    beside = checkpoint.with_suffix(".new")
    save_file(state, str(beside), metadata={"epoch": str(epoch)})
    beside.replace(checkpoint)


def _resume(probe: Probe, optimiser: torch.optim.AdamW, checkpoint: Path) -> int:
    if not checkpoint.exists():
        return 0
    from safetensors import safe_open

    with safe_open(str(checkpoint), framework="pt") as opened:
        epoch = int((opened.metadata() or {})["epoch"])
    state = load_file(str(checkpoint))
    probe.load_state_dict({k.removeprefix("probe."): v for k, v in state.items() if k.startswith("probe.")})
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in state.items():
        if name.startswith("optimiser."):
            _, at, part = name.split(".", 2)
            moments.setdefault(int(at), {})[part] = value
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    return epoch
