"""The members that the methods send are those of the OpenAPI document."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RESOURCES = Path(__file__).resolve().parent.parent / "src/errand/_async/resources"
DOCUMENT: dict[str, Any] = json.loads(Path(os.environ["ERRAND_OPENAPI"]).read_text())


def test_each_method_sends_exactly_the_members_that_the_document_names() -> None:
    differences = []
    calls = [call for file in sorted(RESOURCES.glob("*.py")) for call in calls_in(ast.parse(file.read_text()))]
    # Two methods of one operation may send different members.
    by_operation: dict[tuple[str, str], set[str]] = {}
    for verb, path, sent in calls:
        by_operation[verb, path] = by_operation.get((verb, path), set()) | sent

    for (verb, path), sent in by_operation.items():
        expected = members_of(verb, path)
        if sent != expected:
            differences.append((verb, path, sorted(sent ^ expected)))

    assert len(calls) > 80
    assert differences == []


def calls_in(tree: ast.AST) -> Iterator[tuple[str, str, set[str]]]:
    """The method, path and members of each request."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("_request", "_list")
        ):
            verb = "GET" if node.func.attr == "_list" else ast.literal_eval(node.args[1])
            path = node.args[2]
            template = path.args[0] if isinstance(path, ast.Call) else path
            yield verb, ast.literal_eval(template), {name for keyword in node.keywords for name in keys_of(keyword)}


def keys_of(keyword: ast.keyword) -> Iterator[str]:
    if keyword.arg in ("body", "query") and isinstance(keyword.value, ast.Dict):
        yield from (ast.literal_eval(key) for key in keyword.value.keys if key is not None)


def members_of(verb: str, path: str) -> set[str]:
    for name, operations in DOCUMENT["paths"].items():
        operation = operations.get(verb.lower())
        if operation is not None and re.sub(r"\{\w+\}", "{}", name) == f"/api/v1{path}":
            query = {
                one["name"]
                for one in operation.get("parameters", [])
                if one["in"] == "query" and not one.get("deprecated")
            }
            schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            return query | set(resolved(schema).get("properties", {}))
    raise AssertionError(f"The document has no operation {verb} {path}.")


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema
