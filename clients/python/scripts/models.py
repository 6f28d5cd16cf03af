"""Writes src/errand/models.py and src/errand/params.py from the OpenAPI document, or checks them with --check."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent
DOCUMENT = PACKAGE.parent.parent / "docs/openapi.json"
HEADER = "# Written by scripts/models.py from docs/openapi.json. Do not edit."
UNKNOWN = "UnknownObject"
UNKNOWN_SCHEMA = {
    "type": "object",
    "description": "An object of a kind that this version of the client does not know.",
    "properties": {},
}
#: The server checks these. A newer one may allow more.
CONSTRAINTS = {
    *("minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "propertyNames"),
    *("examples", "example", "discriminator", "default", "additionalProperties"),
}
COMMON_OPTIONS = [
    *("--input-file-type", "openapi", "--target-python-version", "3.10", "--use-standard-collections"),
    *("--use-union-operator", "--use-schema-description", "--use-field-description", "--disable-timestamp"),
    *("--enum-field-as-literal", "all", "--wrap-string-literal", "--formatters", "ruff-format"),
    *("--custom-file-header", HEADER),
]
MODEL_OPTIONS = [
    *("--output-model-type", "pydantic_v2.BaseModel", "--use-type-alias"),
    *("--base-class", "errand._model.Model", "--output-datetime-class", "datetime"),
]
PARAM_OPTIONS = ["--output-model-type", "typing.TypedDict", "--use-type-alias"]


def main() -> int:
    document = json.loads(DOCUMENT.read_text())
    schemas: dict[str, Any] = document["components"]["schemas"]
    texts = {
        "models.py": generated({name: tolerant(schema) for name, schema in schemas.items()}, MODEL_OPTIONS),
        "params.py": generated(parameters_of(document), PARAM_OPTIONS),
    }
    stale = [name for name, text in texts.items() if current(name) != text]
    if "--check" in sys.argv:
        for name in stale:
            print(f"src/errand/{name} does not match docs/openapi.json. Run: python scripts/models.py", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (PACKAGE / "src/errand" / name).write_text(texts[name])
    return 0


def current(name: str) -> str | None:
    file = PACKAGE / "src/errand" / name
    return file.read_text() if file.exists() else None


def tolerant(schema: Any) -> Any:
    """Accepts values and kinds that a newer server may send."""
    if isinstance(schema, list):
        return [tolerant(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "enum" in schema and len(schema["enum"]) > 1 and schema.get("type") == "string":
        known = {key: schema[key] for key in ("type", "enum")}
        rest = {key: schema[key] for key in schema if key == "description"}
        return {**rest, "anyOf": [known, {"type": "string"}]}
    result = {key: tolerant_member(key, value) for key, value in schema.items() if key not in CONSTRAINTS}
    if result.get("format") != "date-time":
        result.pop("format", None)
    variants = result.pop("oneOf", result.pop("anyOf", None))
    if variants is not None:
        refs = [variant["$ref"] for variant in variants if "$ref" in variant]
        is_open = len(refs) < 2 or refs[-1].endswith("/UnknownRunEvent")
        unknown = [] if is_open else [{"$ref": f"#/components/schemas/{UNKNOWN}"}]
        result["anyOf"] = [*variants, *unknown]
    return result


def tolerant_member(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: tolerant(schema) for name, schema in value.items()}
    return value if key == "description" else tolerant(value)


def parameters_of(document: dict[str, Any]) -> dict[str, Any]:
    """The schemas that bodies of requests contain, without the bodies themselves."""
    schemas = document["components"]["schemas"]
    bodies = [
        operation["requestBody"]["content"]["application/json"]["schema"]
        for path in document["paths"].values()
        for operation in path.values()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    names: set[str] = set()
    pending = [name for body in bodies for name in refs_in(body)]
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending.extend(refs_in(schemas[name]))
    return {name: strict(schemas[name]) for name in schemas if name in names}


def refs_in(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for entry in schema for name in refs_in(entry)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else []
    return own + [name for value in schema.values() for name in refs_in(value)]


def strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [strict(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: strict(own) for name, own in value.items()} if key == "properties" else strict(value)
        for key, value in schema.items()
        if key not in (CONSTRAINTS | {"format"})
    }


def generated(schemas: dict[str, Any], options: list[str]) -> str:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Errand", "version": "1"},
        "paths": {},
        "components": {"schemas": {**schemas, UNKNOWN: UNKNOWN_SCHEMA} if "--base-class" in options else schemas},
    }
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "openapi.json"
        target = Path(folder) / "generated.py"
        source.write_text(json.dumps(document))
        command = [sys.executable, "-m", "datamodel_code_generator", "--input", str(source), "--output", str(target)]
        subprocess.run([*command, *COMMON_OPTIONS, *options], check=True)
        return ordered(target.read_text())


def ordered(text: str) -> str:
    """Makes pydantic try the kinds that are known before the one for all others."""
    union = re.compile(r'(TypeAliasType\(\s*"\w+",\s*)((?:\w+\s*\|\s*)+Unknown\w+)(,?\s*\))')
    changed, count = union.subn(r'\1Annotated[\2, Field(union_mode="left_to_right")]\3', text)
    if "class UnknownObject" in text and count == 0:
        raise RuntimeError("The generator writes unions in another way.")
    return (
        changed
        if count == 0
        else re.sub(r"^from typing import ", "from typing import Annotated, ", changed, flags=re.M, count=1)
    )


if __name__ == "__main__":
    raise SystemExit(main())
