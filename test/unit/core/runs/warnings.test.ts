import { expect, test } from "vitest";
import type { RunEventBody } from "../../../../src/core/model/runs/events.ts";
import { warningOf, withWarning } from "../../../../src/core/runs/warnings.ts";

test.each<[RunEventBody, string | undefined]>([
  [{ kind: "changes.not_kept", reason: "No pull request." }, "No pull request."],
  [
    { kind: "workspace.not_stored", reason: "It is too large." },
    "The workspace could not be stored: It is too large.",
  ],
  [{ kind: "workspace.stored", checkpoint: "c" }, undefined],
  [
    { kind: "notice.dead", adapter: "memory", threadId: "t", noticeId: "n", reason: "It is archived." },
    "A message to a thread (memory) could not be posted: It is archived.",
  ],
  [
    {
      kind: "workspace.stored",
      checkpoint: "c",
      leftOut: [{ path: "workspace/locked", reason: "it cannot be read" }],
    },
    "Files were not stored with the workspace: workspace/locked (it cannot be read)",
  ],
  [
    { kind: "artifact.left_out", files: [{ path: "a.bin", reason: "too large" }] },
    "Files were not kept: a.bin (too large)",
  ],
  [{ kind: "agent.notice", severity: "warning", text: "There is no such model." }, "There is no such model."],
  [{ kind: "agent.notice", severity: "info", text: "Installing." }, undefined],
  [{ kind: "workspace.ready", restored: false }, undefined],
])("the event %j warns: %s", (body, warning) => {
  expect(warningOf(body)).toBe(warning);
});

test("a repeated warning is not added, and there are at most twenty", () => {
  const many = Array.from({ length: 30 }, (_, index) => `Warning ${index}`);

  const warnings = [...many, "Warning 0"].reduce(withWarning, [] as readonly string[]);

  expect(warnings).toEqual(many.slice(0, 20));
});
