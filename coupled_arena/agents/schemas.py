"""JSON schemas of replies, as providers that hold a model to one want them."""

from typing import Any

from pydantic import BaseModel

UNWANTED = ("default", "title")
"""Keys that providers refuse or have no use for."""


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a pydantic model in which every field is required and no other is allowed.

    >>> class Point(BaseModel):
    ...     x: int
    ...     y: int = 0
    >>> strict_schema(Point)["required"]
    ['x', 'y']
    """
    strict: dict[str, Any] = _strict(form.model_json_schema())
    return strict


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        # Providers refuse whatever stands beside a reference.
        return {"$ref": node["$ref"]}
    closed = {key: _strict(part) for key, part in node.items() if key not in UNWANTED or isinstance(part, dict)}
    if isinstance(fields := node.get("properties"), dict):
        # A field may be called like a keyword.
        closed["properties"] = {name: _strict(part) for name, part in fields.items()}
        closed |= {"required": list(fields), "additionalProperties": False}
    return closed
