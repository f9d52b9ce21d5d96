"""The learned reader: one model folder, ready to read utterances."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from slotcache.errors import ModelError
from slotcache.model_files import Manifest, find_model, verify
from slotcache.parsing.classify import Classifier, Ranked, SlotDistributions
from slotcache.parsing.encoder import MAX_CHARACTERS, Encoder
from slotcache.parsing.propose import Proposer


@dataclass(frozen=True, slots=True)
class LearnedReading:
    """What the learned reader makes of one utterance.

    Attributes:
        candidates: Nearest intents with their cosines, best first, above the model's floor.
        intents: Every intent, `out_of_scope` among them, with its calibrated probability, best first. They add up to 1.
        slots: Slot name -> its values with calibrated probabilities, best first. The value `-` says that the key of the
            utterance does not hold the slot.
        truncated: Whether the text is longer than the encoder reads, so that its end was not seen by it.
    """

    candidates: Ranked
    intents: Ranked
    slots: SlotDistributions
    truncated: bool = False


class Model:
    """Encoder, proposer and classifier of one model folder. Thread-safe; make one and keep it."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self.encoder = Encoder(folder, manifest.encoder)
        self._classify = Classifier(folder, manifest.heads)
        places = {name: at for at, name in enumerate(self._classify.intents)}
        owners = [places[manifest.heads.classes[at].partition("/")[0]] for at in manifest.heads.prototypes]
        self._propose = Proposer(self._classify.intents, owners, floor=manifest.heads.floor, most=manifest.heads.most)
        # A graph that does not fit its manifest shows here rather than at the first question.
        self.read("?")

    @classmethod
    def load(cls, path: str | Path | None = None, *, domain: str = "order_support") -> Self:
        """Load and verify a model.

        Args:
            path: A model folder or a folder of versions; None looks where models are kept (see
            `slotcache.model_files`). domain: Name of the domain that the model must be for.

        Raises:
            ModelError: no model is found, a file is damaged, or it is for another domain.
        """
        folder = find_model(path, domain=domain)
        manifest = verify(folder)
        if manifest.domain != domain:
            raise ModelError(
                f"{folder} is a model for the domain {manifest.domain!r}, not {domain!r}; name a model made for it"
            )
        return cls(folder, manifest)

    @property
    def version(self) -> str:
        """Version of the model."""
        return self.manifest.version

    @property
    def labels(self) -> tuple[str, ...]:
        """Intents that the model can read, `out_of_scope` among them."""
        return self._classify.intents

    @property
    def slots(self) -> dict[str, tuple[str, ...]]:
        """Slots that the model can read, with their values; `-` stands for absent."""
        return {slot: names for slot, (_, names) in self._classify.slots.items()}

    def read(self, text: str) -> LearnedReading:
        """Read one utterance."""
        vector, truncated = self.encoder(text)
        intents, slots, cosines = self._classify(text[:MAX_CHARACTERS], vector)
        return LearnedReading(self._propose(cosines), intents, slots, truncated)
