"""The catalogue: every reason a question is not answered from the cache, and every error slotcache raises.

    SlotcacheError
    ├── KeyFormatError        a printed key that no key prints
    ├── DomainError           a domain file that cannot be used; carries file, line and fix
    ├── ModelError            a model folder that is missing, damaged or does not fit the domain
    ├── StoreError            a store that cannot be used
    │   └── StoreUnavailable  ... right now; the cache goes on without it
    ├── AnswersError          a file of answers to import that cannot be used; names the line
    ├── LabelsError           labelled rows that cannot be used; names each line and its fix
    └── ConfigurationError    a dial set to nonsense

Reasons have stable ids. They appear in parses, decisions, metrics, reports and response headers, so an id never
changes its meaning. `docs/reasons.md` is generated from this module.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class SlotcacheError(Exception):
    """Base of everything slotcache raises on purpose."""


class KeyFormatError(SlotcacheError, ValueError):
    """A printed key that no key prints, or a malformed name."""


class DomainError(SlotcacheError):
    """A domain file that cannot be used. The message names the file, the line and the fix."""


class ModelError(SlotcacheError):
    """A model folder that is missing, damaged, or made for another domain."""


class StoreError(SlotcacheError):
    """A store that cannot be used as asked."""


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the store, as the reason of the same name
    """A store that does not answer now. The cache treats it as a bypass and tries again later."""


class AnswersError(SlotcacheError, ValueError):
    """A file of answers that cannot be imported. The message names every line at fault; nothing was imported."""


class LabelsError(SlotcacheError, ValueError):
    """Labelled rows that cannot be used. The message names every line at fault and its fix; nothing was trained."""


class ConfigurationError(SlotcacheError, ValueError):
    """An option that makes no sense, found at start-up."""


class Abstain(StrEnum):
    """Why an utterance got no intent key. Every one of them ends in a miss, never in a wrong answer."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    UNREADABLE = "unreadable"
    OTHER_LANGUAGE = "other_language"
    FOLLOW_UP = "follow_up"
    SEVERAL_QUESTIONS = "several_questions"
    PERSONAL = "personal"
    OUT_OF_SCOPE = "out_of_scope"
    RESIDUE = "residue"
    PROTECTED = "protected"
    CONFLICT = "conflict"
    AMBIGUOUS = "ambiguous"
    INCOMPLETE = "incomplete"
    READERS_DISAGREE = "readers_disagree"
    LOW_CONFIDENCE = "low_confidence"
    INTENT_OFF = "intent_off"


class Miss(StrEnum):
    """Why a keyed question found nothing to serve; the answer that follows may fill the key."""

    NOT_FOUND = "not_found"
    EXPIRED = "expired"
    GUARD_MISMATCH = "guard_mismatch"
    NOT_APPROVED = "not_approved"
    TOO_OLD = "too_old"
    OBSERVED = "observed"


class Bypass(StrEnum):
    """Why the cache did not take part at all: nothing is read and nothing is stored."""

    NO_KEY = "no_key"
    OWNER_NEVER = "owner_never"
    NO_CUSTOMER = "no_customer"
    INTENT_OFF = "intent_off"
    NO_CACHE = "no_cache"
    PROMPT_UNDECLARED = "prompt_undeclared"
    CONTEXT_DEPENDENT = "context_dependent"
    REQUEST_UNSUPPORTED = "request_unsupported"
    STORE_UNAVAILABLE = "store_unavailable"
    PARSER_FAILED = "parser_failed"


class NotStored(StrEnum):
    """Why an answer was handed to its asker but not kept for others."""

    NOT_FILLABLE = "not_fillable"
    NOT_REDACTABLE = "not_redactable"
    PERSONAL_ANSWER = "personal_answer"
    INCOMPLETE_ANSWER = "incomplete_answer"
    REFUSED_ANSWER = "refused_answer"
    EMPTY_ANSWER = "empty_answer"
    CALL_FAILED = "call_failed"
    TOOL_CALL = "tool_call"
    NO_STORE = "no_store"
    APPROVED_EXISTS = "approved_exists"
    APPROVED_ONLY = "approved_only"
    LEASE_LOST = "lease_lost"
    INVALIDATED = "invalidated"
    QUARANTINED = "quarantined"
    STORE_FULL = "store_full"
    STORE_UNAVAILABLE = "store_unavailable"


class Unsupported(StrEnum):
    """What a request asks for that a stored answer cannot give; the detail of the bypass `request_unsupported`."""

    TOOLS = "tools"
    TOOL_TURN = "tool_turn"
    MEDIA = "media"
    SCHEMA = "schema"
    SEVERAL_CHOICES = "several_choices"
    LOGPROBS = "logprobs"
    VARIETY = "variety"
    SEED = "seed"
    UNKNOWN_PARAMETER = "unknown_parameter"
    UNKNOWN_SHAPE = "unknown_shape"
    OTHER_PATH = "other_path"
    UNKNOWN_CALLER = "unknown_caller"


EXPLANATIONS: Final[dict[StrEnum, str]] = {
    Abstain.EMPTY: "Nothing is asked: the text is empty or holds only greetings and politeness.",
    Abstain.TOO_LONG: "Longer than any question; send the customer's last message, not the whole chat.",
    Abstain.UNREADABLE: (
        "Control or bidi characters, lone surrogates, styled letters or mixed scripts; such text is never folded "
        "into plain words."
    ),
    Abstain.OTHER_LANGUAGE: "The text is not in the language of the domain.",
    Abstain.FOLLOW_UP: "The turn means nothing without the one before it; pass the context that resolves it.",
    Abstain.SEVERAL_QUESTIONS: "One message asks several things; split it or let the model answer.",
    Abstain.PERSONAL: "The text holds personal data (name, address, e-mail, phone number) that no key may carry.",
    Abstain.OUT_OF_SCOPE: "Nothing the domain knows explains the question.",
    Abstain.RESIDUE: (
        "Words are left over that neither the intent nor a slot accounts for; add them to the domain if they belong "
        "there."
    ),
    Abstain.PROTECTED: "A word that can turn the answer (negation, quantity, order of events, ...) is not in the key.",
    Abstain.CONFLICT: "One slot was given two values, so which one is asked about is unclear.",
    Abstain.AMBIGUOUS: "Two intents explain the question equally well.",
    Abstain.INCOMPLETE: "A slot that the intent cannot do without was not said.",
    Abstain.READERS_DISAGREE: "The deterministic and the learned reader read different questions.",
    Abstain.LOW_CONFIDENCE: "No reading reaches its calibrated bar.",
    Abstain.INTENT_OFF: "The operator has switched this intent off.",
    Miss.NOT_FOUND: "Nobody has asked this before, within this tenant, locale, model, prompt, policy and owner.",
    Miss.EXPIRED: "The answer has reached its age limit; a hit never prolongs it.",
    Miss.GUARD_MISMATCH: "The stored question and this one differ in a protected word; logged as a near miss.",
    Miss.NOT_APPROVED: "Only approved answers are served here, and this key has only a learned one.",
    Miss.TOO_OLD: "The caller's max-age is shorter than the answer's age.",
    Miss.OBSERVED: "The cache is observing: it recorded what it would have served and called the model.",
    Bypass.NO_KEY: "The question has no key; the parse says why.",
    Bypass.OWNER_NEVER: "Live state is not cached unless the operator gives the intent a TTL.",
    Bypass.NO_CUSTOMER: "The answer belongs to one customer and the caller named none.",
    Bypass.INTENT_OFF: "The operator has switched this intent off.",
    Bypass.NO_CACHE: "The caller asked for a fresh answer.",
    Bypass.PROMPT_UNDECLARED: "The system prompt varies and no stable version was declared for it.",
    Bypass.CONTEXT_DEPENDENT: "The question depends on earlier turns and no context was passed.",
    Bypass.REQUEST_UNSUPPORTED: "A stored answer cannot give what is asked for (tools, images, a schema, variety).",
    Bypass.STORE_UNAVAILABLE: "The store did not answer in time; the model's answer went to its asker alone.",
    Bypass.PARSER_FAILED: "The parser failed; the model was called and the failure counted.",
    NotStored.NOT_FILLABLE: "It may read a shared key but not fill it: not every word is accounted for by code.",
    NotStored.NOT_REDACTABLE: (
        "Stored questions are to hold no personal data, and without it this one reads differently, or an unknown word "
        "in it may be a name."
    ),
    NotStored.PERSONAL_ANSWER: "The answer holds personal data.",
    NotStored.INCOMPLETE_ANSWER: "The answer was cut off.",
    NotStored.REFUSED_ANSWER: "The model refused.",
    NotStored.EMPTY_ANSWER: "The model said nothing.",
    NotStored.CALL_FAILED: "The model could not be asked or answered with an error, which went to its asker as it was.",
    NotStored.TOOL_CALL: "The model asked for a tool.",
    NotStored.NO_STORE: "The caller asked not to store the answer.",
    NotStored.APPROVED_EXISTS: "An approved answer stands for this key; a learned one never replaces it.",
    NotStored.APPROVED_ONLY: "The operator's policy is to serve approved answers only.",
    NotStored.LEASE_LOST: "Another caller filled the key meanwhile.",
    NotStored.INVALIDATED: "The key was invalidated while the model was answering; the answer may be stale.",
    NotStored.QUARANTINED: (
        "An answer under this key was reported as wrong; a person has to approve one or clear the quarantine."
    ),
    NotStored.STORE_FULL: "The store has no room for it or takes no writes now; what it holds is still served.",
    NotStored.STORE_UNAVAILABLE: "The store did not answer in time; the model's answer went to its asker alone.",
    Unsupported.TOOLS: "Tools are offered; the model may want to use one.",
    Unsupported.TOOL_TURN: "The conversation holds a tool call or its result, which are about one moment.",
    Unsupported.MEDIA: "Images, audio or files are part of the question or wanted in the answer.",
    Unsupported.SCHEMA: "The answer has to follow a schema or be JSON.",
    Unsupported.SEVERAL_CHOICES: "More than one answer is wanted.",
    Unsupported.LOGPROBS: "Token probabilities are wanted.",
    Unsupported.VARIETY: "The temperature asks for a different answer each time.",
    Unsupported.SEED: "A seed asks for an answer of the model itself.",
    Unsupported.UNKNOWN_PARAMETER: "An unknown parameter may change the answer; the configuration can name it.",
    Unsupported.UNKNOWN_SHAPE: "The request is not shaped like a chat that ends in a user's turn.",
    Unsupported.OTHER_PATH: "Only chat completions are cached; everything else is passed on.",
    Unsupported.UNKNOWN_CALLER: "The configuration names the callers that are served, and this one is none of them.",
}
"""What each reason means and what to do about it, in one sentence."""
