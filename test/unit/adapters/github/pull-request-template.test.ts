import { describe, expect, test } from "vitest";
import { fillDescription, fillIssue } from "../../../../src/adapters/github/pull-request-template.ts";
import { processorTime } from "../../../support/processor-time.ts";

describe("the description of a pull request", () => {
  test.each([
    "## Summary",
    "# Description",
    "### :memo: Short description",
    "## 📝 Description of the change",
    "## Changes",
    "## What",
    "#### What this PR does / why we need it:",
    "## What changed?",
    "## Overview <!-- keep it short -->",
    "**Proposed changes**",
  ])("the description stands under the heading %s, whose hints are removed", (heading) => {
    const template = `<!-- Thanks! -->\n${heading}\n\n<!-- Say what\nyou did. -->\n\n## Checklist\n<!-- tick -->\n- [ ] Tests`;

    expect(fillDescription(template, "Did it.")).toBe(
      `<!-- Thanks! -->\n${heading}\n\nDid it.\n\n## Checklist\n<!-- tick -->\n- [ ] Tests`,
    );
  });

  test.each([
    "## Why",
    "## Type of change",
    "## What kind of change does this PR introduce?",
    "## What to test",
    "## Breaking changes",
    "## Screenshots of changes",
    "<!-- ## Summary -->",
    "```\n## Summary\n```",
    "<!--\n## Summary\n-->",
  ])("the description stands above a template that has only %s", (template) => {
    expect(fillDescription(template, "Did it.")).toBe(`Did it.\n\n${template}`);
  });

  test("the description stands before the words that the heading has, which stay", () => {
    const template = "## Description\r\nPlease explain.\r\n- [ ] Bug\r\n### Details\r\nMore";

    expect(fillDescription(template, "Did it.")).toBe(
      "## Description\n\nDid it.\n\nPlease explain.\n- [ ] Bug\n\n### Details\nMore",
    );
  });

  test.each([
    `# ${" ".repeat(9_000)}a${" ".repeat(9_000)}\u2028x`,
    `# a${"#".repeat(18_000)}x`,
    `Fixes #${" ".repeat(18_000)}!`,
  ])("a hostile template is read in linear time", (template) => {
    const usedMs = processorTime();

    expect(fillIssue(template, "Fixes #5")).toBeUndefined();
    expect(usedMs()).toBeLessThan(5_000);
  });

  test("the description of a pull request is alone without a template", () => {
    expect(fillDescription("", "Did it.")).toBe("Did it.");
  });
});

describe("the issue of a pull request", () => {
  test.each(["## Issue", "## Related issue(s)", "### Fixes", "## Linked tickets", "**Related**"])(
    "stands under the heading %s",
    (heading) => {
      const template = `## Summary\n\n${heading}\n<!-- link it -->\n\n## Checklist`;

      expect(fillIssue(template, "Fixes #5")).toBe(`## Summary\n\n${heading}\n\nFixes #5\n\n## Checklist`);
    },
  );

  test.each(["Fixes #", "- Closes #", "Fixes # (issue)", "Resolves: #<issue-number>"])(
    "takes the place of %s, wherever that stands",
    (reference) => {
      const list = reference.startsWith("- ") ? "- " : "";

      expect(fillIssue(`## Description\n<!-- why -->\n${reference}\nEnd`, "Fixes #5")).toBe(
        `## Description\n<!-- why -->\n${list}Fixes #5\nEnd`,
      );
    },
  );

  test("the issue of a pull request takes the place of a reference under the heading for issues, whose hints are removed", () => {
    expect(fillIssue("## Issue\n<!-- number -->\nFixes #\n\n## Checklist", "Fixes #5")).toBe(
      "## Issue\n\nFixes #5\n\n## Checklist",
    );
  });

  test.each([
    "",
    "## Summary\nFixes #7",
    "## Known issues",
    "<!-- Fixes # -->",
    "## Why\n<!--\n## Issue\n-->",
  ])("the issue has no place in %j", (template) => {
    expect(fillIssue(template, "Fixes #5")).toBeUndefined();
  });
});
