"""The examples of the README, as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"
EXAMPLES = re.findall(r"```python( no-run)?\n(.*?)```", README.read_text(), re.S)


@pytest.mark.parametrize("source", [source for no_run, source in EXAMPLES if not no_run], ids=range(9))
def test_an_example_runs(source: str) -> None:
    subprocess.run([sys.executable, "-c", source], check=True, timeout=300)


def test_the_examples_have_correct_types(tmp_path: Path) -> None:
    for number, (_, source) in enumerate(EXAMPLES):
        (tmp_path / f"example_{number}.py").write_text(source)

    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(tmp_path)], check=False, capture_output=True, text=True
    )

    assert result.stdout.startswith("Success"), result.stdout
