"""The members that the methods send, and the types of their values, are those of the OpenAPI document."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

RESOURCES = Path(__file__).resolve().parent.parent / "src/errand/_async/resources"
DOCUMENT: dict[str, Any] = json.loads(Path(os.environ["ERRAND_OPENAPI"]).read_text())
NAMES_OF_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Parameter(NamedTuple):
    """What a method accepts for a member of its query or its body."""

    verb: str
    path: str
    method: str
    member: str
    types: set[str]


def test_each_method_sends_exactly_the_members_that_the_document_names() -> None:
    differences = []
    # Two methods of one operation may send different members.
    by_operation: dict[tuple[str, str], set[str]] = {}
    for method in methods():
        for verb, path, sent in calls_in(method):
            by_operation[verb, path] = by_operation.get((verb, path), set()) | set(sent)

    for (verb, path), names in by_operation.items():
        expected = set(members_of(verb, path))
        if names != expected:
            differences.append((verb, path, sorted(names ^ expected)))

    assert len(by_operation) > 80
    assert differences == []


def test_each_parameter_accepts_exactly_the_values_that_the_document_allows() -> None:
    parameters = [parameter for method in methods() for parameter in parameters_of(method)]

    differences = [
        (one.verb, one.path, one.member, sorted(one.types ^ expected_types(one)))
        for one in parameters
        if one.types != expected_types(one)
    ]

    assert len(parameters) > 300
    assert differences == []


def methods() -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for file in sorted(RESOURCES.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node


def calls_in(tree: ast.AST) -> Iterator[tuple[str, str, dict[str, ast.expr]]]:
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
            yield verb, ast.literal_eval(template), dict(pair for one in node.keywords for pair in members_in(one))


def members_in(keyword: ast.keyword) -> Iterator[tuple[str, ast.expr]]:
    if keyword.arg in ("body", "query") and isinstance(keyword.value, ast.Dict):
        for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
            if key is not None:
                yield ast.literal_eval(key), value


def parameters_of(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Parameter]:
    annotations = {one.arg: one.annotation for one in [*method.args.args, *method.args.kwonlyargs]}
    for verb, path, sent in calls_in(method):
        for member, value in sent.items():
            # A member that is computed has no type to compare. `test_resources.py` sends each of them.
            annotation = annotations.get(value.id) if isinstance(value, ast.Name) else None
            assert annotation is not None, f"{method.name} sends {member}, which is none of its parameters."
            yield Parameter(verb, path, method.name, member, types_in(annotation))


def types_in(annotation: ast.expr, prefix: str = "") -> set[str]:
    """The types of a union. Those of the entries of a list begin with `[]`."""
    if isinstance(annotation, ast.BinOp):
        return types_in(annotation.left, prefix) | types_in(annotation.right, prefix)
    if isinstance(annotation, ast.Subscript):
        kind = ast.unparse(annotation.value)
        if kind == "Literal":
            values = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            return {prefix + repr(ast.literal_eval(value)) for value in values}
        if kind == "Sequence":
            return types_in(annotation.slice, f"{prefix}[]")
        assert kind == "Mapping", f"The test does not know the type {kind}."
        assert isinstance(annotation.slice, ast.Tuple)
        return types_in(annotation.slice.elts[1], f"{prefix}{{}}")
    return {prefix + ast.unparse(annotation)}


def types_of(schema: dict[str, Any], prefix: str = "") -> set[str]:
    """The same for a schema. Objects that have a name are generated, so their name is enough."""
    if "$ref" in schema:
        target = resolved(schema)
        is_value = "enum" in target or target.get("type") in NAMES_OF_TYPES
        return types_of(target, prefix) if is_value else {f"{prefix}params.{schema['$ref'].rsplit('/', 1)[1]}"}
    for variants in ("anyOf", "oneOf"):
        if variants in schema:
            return {name for variant in schema[variants] for name in types_of(variant, prefix)}
    if "enum" in schema:
        return {prefix + repr(value) for value in schema["enum"]}
    kind = schema.get("type")
    if kind == "array":
        return types_of(schema["items"], f"{prefix}[]")
    if kind == "object":
        assert "properties" not in schema, "The test does not know objects without a name."
        return types_of(schema["additionalProperties"], f"{prefix}{{}}")
    if kind is None:
        return {f"{prefix}object"}
    return {prefix + NAMES_OF_TYPES[kind], *([f"{prefix}datetime"] if schema.get("format") == "date-time" else [])}


def expected_types(parameter: Parameter) -> set[str]:
    members, required = members_of(parameter.verb, parameter.path), required_of(parameter.verb, parameter.path)
    types = types_of(members[parameter.member])
    # A query has only texts. For people who write Python, these two are a `bool`.
    known = {"bool"} if types == {"'true'", "'false'"} and parameter.types & {"bool"} else types
    # A method may require more than the document: one of two methods of an operation does.
    return known if parameter.member in required else known | parameter.types & {"Omit"}


def members_of(verb: str, path: str) -> dict[str, dict[str, Any]]:
    query = {one["name"]: one["schema"] for one in query_of(operation_of(verb, path))}
    body: dict[str, dict[str, Any]] = body_of(operation_of(verb, path)).get("properties", {})
    return query | body


def required_of(verb: str, path: str) -> set[str]:
    query = {one["name"] for one in query_of(operation_of(verb, path)) if one.get("required")}
    return query | set(body_of(operation_of(verb, path)).get("required", []))


def query_of(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in operation.get("parameters", []) if one["in"] == "query" and not one.get("deprecated")]


def body_of(operation: dict[str, Any]) -> dict[str, Any]:
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return resolved(schema)


def operation_of(verb: str, path: str) -> dict[str, Any]:
    for name, operations in DOCUMENT["paths"].items():
        if verb.lower() in operations and re.sub(r"\{\w+\}", "{}", name) == f"/api/v1{path}":
            operation: dict[str, Any] = operations[verb.lower()]
            return operation
    raise AssertionError(f"The document has no operation {verb} {path}.")


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema
