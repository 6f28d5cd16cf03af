"""Writes raw.py and streaming.py in src/errand/_async, and src/errand/_sync, or checks them with --check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src/errand"
HEADER = "# Written by scripts/clients.py. Do not edit.\n"
#: Methods that read more than one response, or that return a response anyway.
NOT_WRAPPED = {
    *("artifacts", "download", "events", "screenshot", "stream", "transcript"),
    *("unwrap", "wait_for_completion"),
}
#: In this order. Words that contain others come first.
REPLACEMENTS = (
    (r"\bawait ", ""),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bAsync(?=(Iterator|Generator)\b)", ""),
    (r"\bhttpx\.AsyncByteStream\b", "httpx.SyncByteStream"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bAbstractAsyncContextManager\b", "AbstractContextManager"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"__aiter__", "__iter__"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"\.a(read|close|iter_bytes|iter_lines)\b", r".\1"),
    (r"\banyio\.sleep\b", "time.sleep"),
    (r"\bimport anyio\b", "import time"),
    (r"\bdef aclose\b", "def close"),
    (r"\bis awaited\b", "is called"),
)


def main() -> int:
    files = {
        SOURCE / "_async/raw.py": HEADER + response_module("Raw", "raw"),
        SOURCE / "_async/streaming.py": HEADER + response_module("Streaming", "streaming"),
    }
    for file in [*sorted((SOURCE / "_async").rglob("*.py")), *files]:
        text = files.get(file, file.read_text() if file.exists() else "")
        target = SOURCE / "_sync" / file.relative_to(SOURCE / "_async")
        files[target] = HEADER + synchronous(text.removeprefix(HEADER))
    files = {file: formatted(text) for file, text in files.items()}
    stale = [file for file, text in files.items() if not file.exists() or file.read_text() != text]
    extra = [file for file in (SOURCE / "_sync").rglob("*.py") if file not in files]
    if "--check" in sys.argv:
        for file in [*stale, *extra]:
            print(f"{file.relative_to(SOURCE)} is out of date. Run: python scripts/clients.py", file=sys.stderr)
        return 1 if stale or extra else 0
    for file in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(files[file])
    for file in extra:
        file.unlink()
    return 0


def synchronous(text: str) -> str:
    # Awaitable[X] becomes X.
    pattern = re.compile(r"\bAwaitable\[((?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*)\]")
    while pattern.search(text):
        text = pattern.sub(r"\1", text)
    for old, new in REPLACEMENTS:
        text = re.sub(old, new, text)
    return text


def response_module(kind: str, function: str) -> str:
    """For each resource a class with its methods, which return responses."""
    files = sorted((SOURCE / "_async/resources").glob("*.py"))
    parsed = {file.stem: class_of(file) for file in files if file.stem != "__init__"}
    parts = {node.name: node for name, node in parsed.items() if name.startswith("_")}
    resources = {name: node for name, node in parsed.items() if not name.startswith("_")}
    classes = [resource_class(name, node, parts, kind, function) for name, node in resources.items()]
    members = [f"        self.whoami = {function}(client.whoami)"]
    members += [f"        self.{name} = client.{name}.with_{kind.lower()}_response" for name in resources]
    classes.append(
        f"class AsyncErrandWith{kind}Response:\n    def __init__(self, client: AsyncErrand) -> None:\n"
        + "\n".join(members)
    )
    head = [
        "from __future__ import annotations",
        "from typing import TYPE_CHECKING",
        f"from .responses import {function}, {function}_page",
        *[f"from .resources.{name} import {node.name}" for name, node in resources.items()],
        "if TYPE_CHECKING:\n    from .errand import AsyncErrand",
    ]
    return "\n".join(head) + "\n\n\n" + "\n\n\n".join(classes) + "\n"


def class_of(file: Path) -> ast.ClassDef:
    """The one class of a module."""
    (node,) = (node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef))
    return node


def resource_class(name: str, node: ast.ClassDef, parts: dict[str, ast.ClassDef], kind: str, function: str) -> str:
    bases = [parts[base.id] for base in node.bases if isinstance(base, ast.Name)]
    lines = []
    for method in (method for part in (node, *bases) for method in part.body):
        if (
            not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
            or method.name.startswith(("_", "with_"))
            or method.name in NOT_WRAPPED
        ):
            continue
        wrap = function if isinstance(method, ast.AsyncFunctionDef) else f"{function}_page"
        lines.append(f"        self.{method.name} = {wrap}({name}.{method.name})")
    body = "\n".join(lines) or "        del " + name
    return f"class {node.name}With{kind}Response:\n    def __init__(self, {name}: {node.name}) -> None:\n{body}"


def formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff"]
    options = ["--stdin-filename", str(SOURCE / "_sync/any.py"), "-"]
    sorted_text = subprocess.run(
        [*command, "check", "--fix", "--quiet", "--select", "I,F401", *options],
        input=text,
        text=True,
        check=False,
        capture_output=True,
    ).stdout
    return subprocess.run(
        [*command, "format", "--quiet", *options], input=sorted_text, text=True, check=True, capture_output=True
    ).stdout


if __name__ == "__main__":
    raise SystemExit(main())
