"""The proxy's own schema (OpenAPI 3.1), served at `/slotcache/openapi.json`."""

from __future__ import annotations

from typing import Any, Final

from slotcache.serving.selection import LONGEST, MOST_SLOTS, NAMES

_ERROR: Final = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {},
                "code": {"type": ["string", "integer", "null"]},
            },
        }
    },
}


def _json(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _told(about: str) -> dict[str, Any]:
    return _json(about, {"$ref": "#/components/schemas/Error"})


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


_TEXT: Final = {"type": "string"}
_SOME_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST}
_SLOTS: Final = {
    "type": "object",
    "maxProperties": MOST_SLOTS,
    "propertyNames": {"minLength": 1, "maxLength": LONGEST},
    "additionalProperties": _SOME_TEXT,
    "description": "Slot values by name; * stands for any value of that slot.",
}
_OPERATORS: Final[list[dict[str, list[str]]]] = [{"operator": []}]
_NOT_OPERATOR: Final = {
    "401": _told("The operators' token is missing or wrong."),
    "403": _told("The configuration gives no operators' token."),
}
_MESSAGE: Final = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"enum": ["system", "developer", "user", "assistant", "tool"]},
        "content": {"anyOf": [_TEXT, {"type": "array", "items": {"type": "object"}}, {"type": "null"}]},
        "name": _TEXT,
    },
}
_HEADERS: Final = {
    name: {"description": about, "schema": _TEXT}
    for name, about in (
        ("X-Slotcache-Outcome", "hit, miss or bypass"),
        ("X-Slotcache-Reason", "Stable id of the reason; for a hit learned or approved."),
        ("X-Slotcache-Detail", "Why the request is unsupported, or why the question got no intent key."),
        ("X-Slotcache-Key", "The key; a digest where it holds the customer's own words."),
        ("X-Slotcache-Age", "Seconds since the answer was stored."),
        ("X-Slotcache-Id", "Names this hit in reports of a wrong answer."),
        ("X-Slotcache-Coalesced", "1 when the answer is that of a call which another caller was making."),
    )
}

SCHEMA: Final[dict[str, Any]] = {
    "openapi": "3.1.0",
    "info": {
        "title": "slotcache proxy",
        "version": "1",
        "description": "Every path that is not listed here is handed on to the endpoint.",
    },
    "paths": {
        "/healthz": {"get": {"operationId": "health", "responses": {"200": _json("Alive.", _object(["status"]))}}},
        "/readyz": {
            "get": {
                "operationId": "ready",
                "responses": {
                    "200": _json("Ready.", {"$ref": "#/components/schemas/Ready"}),
                    "503": _json("About to stop.", {"$ref": "#/components/schemas/Ready"}),
                },
            }
        },
        "/metrics": {
            "get": {
                "operationId": "metrics",
                "responses": {
                    "200": {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": _TEXT}}},
                    **_NOT_OPERATOR,
                },
            }
        },
        "/slotcache/openapi.json": {
            "get": {"operationId": "schema", "responses": {"200": _json("This document.", {"type": "object"})}}
        },
        "/slotcache/false-hit": {
            "post": {
                "operationId": "falseHit",
                "description": "Takes a wrong answer out of recall. For operators, and for callers of its tenant.",
                "security": [{"operator": []}, {"caller": []}],
                "requestBody": _body(
                    _object(
                        ["id"],
                        id={"type": "string", "minLength": 1, "maxLength": 200},
                        note={"type": "string", "maxLength": 2000},
                    )
                ),
                "responses": {
                    "200": _json("Done.", _object(["evicted"], evicted={"type": "boolean"}, key={})),
                    "400": _told("The body is no report."),
                    "404": _told("No answer of yours has this id, or not any more."),
                    "503": _told("The store does not answer."),
                },
            }
        },
        "/slotcache/intents": {
            "get": {
                "operationId": "listIntents",
                "security": _OPERATORS,
                "responses": {
                    "200": _json("Which intents are switched off.", _object(["off", "known"])),
                    "503": _told("The store does not answer."),
                    **_NOT_OPERATOR,
                },
            }
        },
        "/slotcache/intents/{name}": {
            "post": {
                "operationId": "switchIntent",
                "security": _OPERATORS,
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": _TEXT}],
                "requestBody": _body(_object(["state"], state={"enum": ["on", "off"]})),
                "responses": {
                    "200": _json("Switched.", _object(["intent", "state"])),
                    "400": _told("The body names no state."),
                    "404": _told("The domain has no such intent."),
                    "503": _told("The store does not answer."),
                    **_NOT_OPERATOR,
                },
            }
        },
        "/slotcache/invalidate": {
            "post": {
                "operationId": "invalidate",
                "description": "Takes all answers that match everything given out of recall, or says which they are.",
                "security": _OPERATORS,
                "requestBody": _body(
                    {
                        **_object([], **dict.fromkeys(NAMES, _SOME_TEXT), slots=_SLOTS, dry_run={"type": "boolean"}),
                        "additionalProperties": False,
                        "minProperties": 1,
                    }
                ),
                "responses": {
                    "200": _json(
                        "How many answers, and their keys, 100 at most.",
                        _object(
                            ["count", "keys", "dry_run"],
                            count={"type": "integer"},
                            keys={"type": "array", "items": _TEXT},
                            dry_run={"type": "boolean"},
                        ),
                    ),
                    "400": _told("Nothing is named, or something that is not known."),
                    "503": _told("The store does not answer; it may be done in part, and can be repeated."),
                    **_NOT_OPERATOR,
                },
            }
        },
        "/slotcache/reload": {
            "post": {
                "operationId": "reload",
                "security": _OPERATORS,
                "responses": {
                    "200": _json("The model in use.", _object(["version"])),
                    "409": _told("The model files cannot be used; the parser stays as it was."),
                    **_NOT_OPERATOR,
                },
            }
        },
        "/v1/chat/completions": {
            "post": {
                "operationId": "chat",
                "description": "As OpenAI's. A body that is none is handed on, and the endpoint says what is wrong.",
                "parameters": [
                    {
                        "name": "Cache-Control",
                        "in": "header",
                        "schema": _TEXT,
                        "description": "no-cache, no-store, only-if-cached, max-age=N. They make rules stricter only.",
                    }
                ],
                "requestBody": _body(
                    _object(
                        ["model", "messages"],
                        model=_TEXT,
                        messages={"type": "array", "items": _MESSAGE},
                        stream={"type": "boolean"},
                        stream_options={"type": "object", "properties": {"include_usage": {"type": "boolean"}}},
                        temperature={"type": "number"},
                        n={"type": "integer"},
                        seed={"type": "integer"},
                        user=_TEXT,
                        tools={"type": "array", "items": {"type": "object"}},
                        response_format={"type": "object"},
                    )
                ),
                "responses": {
                    "200": {
                        "description": "A chat completion, or the stream of its chunks.",
                        "headers": _HEADERS,
                        "content": {
                            "application/json": {"schema": {"type": "object"}},
                            "text/event-stream": {"schema": {}},
                        },
                    },
                    "401": _told("The API key is not known here, where the operator wants that."),
                    "413": _told("The body is too large."),
                    "504": _told("only-if-cached was asked and nothing is cached, or the endpoint is too slow."),
                    "default": {"description": "Whatever the endpoint replies."},
                },
            }
        },
    },
    "components": {
        "schemas": {
            "Error": _ERROR,
            "Ready": _object(["ready"], ready={"type": "boolean"}, parser=_TEXT, store=_TEXT),
        },
        "securitySchemes": {
            "operator": {"type": "apiKey", "in": "header", "name": "X-Slotcache-Admin"},
            "caller": {"type": "http", "scheme": "bearer"},
        },
    },
}
