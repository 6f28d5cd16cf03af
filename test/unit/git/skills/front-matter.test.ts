import { describe, expect, test } from "vitest";
import { readSkillText } from "../../../../src/git/skills/front-matter.ts";
import { processorTime } from "../../../support/processor-time.ts";

describe("reading a SKILL.md", () => {
  test("a skill is read as front matter and a body", () => {
    const text =
      "---\nname: deploy\ndescription: >\n  Deploys\n  things.\nmetadata:\n  a: b\n---\n\n# Deploy\n\nDo it.\n";

    expect(readSkillText(text)).toEqual({
      name: "deploy",
      description: "Deploys things.",
      body: "# Deploy\n\nDo it.",
    });
  });

  test.each([
    ["Windows line endings", "---\r\nname: deploy\r\ndescription: Deploys.\r\n---\r\nDo it.\r\n"],
    ["a byte order mark", "\uFEFF---\nname: deploy\ndescription: Deploys.\n---\nDo it."],
    ["quoted values", `---\nname: 'deploy'\ndescription: "Deploys."\n---\nDo it.`],
    ["another member that is invalid", "---\nname: deploy\ndescription: Deploys.\ntools: [a, b\n---\nDo it."],
    ["a repeated member", "---\nname: deploy\nname: deploy\ndescription: Deploys.\n---\nDo it."],
  ])("a skill with %s is read", (_what, text) => {
    expect(readSkillText(text)).toEqual({ name: "deploy", description: "Deploys.", body: "Do it." });
  });

  test("a description with a colon that YAML rejects is kept", () => {
    const { description, name } = readSkillText(
      "---\nname: deploy\ndescription: Use when: it rains\n---\nDo it.",
    );

    expect([name, description]).toEqual(["deploy", "Use when: it rains"]);
  });

  const FORMS: Readonly<Record<string, string>> = {
    plain: "description: Deploys the app, then reports.",
    "plain over several lines": "description: Deploys the app,\n  then\n  reports.",
    "plain below its key": "description:\n  Deploys the app,\n  then reports.",
    folded: "description: >\n  Deploys the app,\n  then reports.",
    "folded and stripped, with a comment": "description: >- # why\n  Deploys the app,\n\n  then reports.",
    literal: "description: |\n  Deploys the app,\n  then reports.",
    "literal with an indentation": "description: |2+\n  Deploys the app,\n  then reports.\n",
    "double quoted": 'description: "Deploys the app,\n  then reports."',
    "double quoted with escapes": 'description: "Deploys\\tthe app,\\nthen reports."',
    "single quoted": "description: 'Deploys the app,\n  then reports.'",
  };
  /** Lines that are no YAML. Without one, the YAML is read as such. */
  const OTHERS = ["license: MIT", "tools: [a, b", "hint: Use when: it rains", "- a stray entry", "\tx: y"];

  test.each(
    Object.entries(FORMS).flatMap(([form, text]) => OTHERS.map((other) => [form, other, text] as const)),
  )("a description that is %s is read as a whole beside the line %j", (_form, other, description) => {
    for (const yaml of [`${other}\n${description}`, `${description}\nversion: 1\n${other}`]) {
      const read = readSkillText(`---\nname: deploy\n${yaml}\n---\nDo it.`);

      expect(read).toEqual({ name: "deploy", description: "Deploys the app, then reports.", body: "Do it." });
    }
  });

  test("a description with a colon keeps its further lines, also those that are not indented", () => {
    const text = "---\ndescription: Use when: it rains,\n  or snows\nor hails.\nname: weather\n---\n";

    expect(readSkillText(text)).toMatchObject({
      name: "weather",
      description: "Use when: it rains, or snows or hails.",
    });
  });

  test.each([
    ["no front matter", "# Deploy\n\nDo it.", "# Deploy\n\nDo it."],
    ["front matter that does not end", "---\nname: deploy\nDo it.", "---\nname: deploy\nDo it."],
    [
      "a horizontal rule further down",
      "Do it.\n---\nname: deploy\n---\nMore.",
      "Do it.\n---\nname: deploy\n---\nMore.",
    ],
    ["empty front matter", "---\n---\nDo it.", "Do it."],
    ["a list as front matter", "---\n- name\n---\nDo it.", "Do it."],
    ["members that are not strings", "---\nname: [a]\ndescription: {b: c}\n---\nDo it.", "Do it."],
    ["empty members", "---\nname:\ndescription: ''\n---\nDo it.", "Do it."],
    ["no text", "", ""],
  ])("a skill with %s is read as a body only", (what, text, body) => {
    const skill = readSkillText(text);

    expect(skill.body).toBe(body);
    if (what !== "members that are not strings") {
      expect([skill.name, skill.description]).toEqual([undefined, undefined]);
    }
  });

  test("hostile front matter takes bounded time and puts no control characters into a name", () => {
    const laughs = Array.from({ length: 30 }, (_, index) =>
      index === 0 ? "a0: &a0 [x, x]" : `a${index}: &a${index} [*a${index - 1}, *a${index - 1}]`,
    );
    const usedMs = processorTime();

    expect(readSkillText(`---\nname: "a\\nb\\u001b[31m"\n---\nx`).name).toBe("a b [31m");
    expect(readSkillText(`---\nname: deploy\n${laughs.join("\n")}\n---\nx`).name).toBe("deploy");
    expect(readSkillText(`---\nname: deploy\nx: ${"[".repeat(60_000)}\n---\nx`).name).toBe("deploy");
    expect(readSkillText(`---\nname: deploy\n${"? ".repeat(500)}\n---\nx`).name).toBe("deploy");
    expect(readSkillText(`---\nname: deploy\n${"[".repeat(300)}a${"]: 1".repeat(300)}\n---\nx`).name).toBe(
      "deploy",
    );
    expect(readSkillText(`---\n${"-".repeat(60_000)}`).name).toBeUndefined();
    // Without a bound the first of them alone would take days.
    expect(usedMs()).toBeLessThan(25_000);
  });

  test("the name and the description of a skill are cut to a maximum length", () => {
    const { description, name } = readSkillText(
      `---\nname: ${"n".repeat(99)}\ndescription: ${"d".repeat(9_999)}\n---\n`,
    );

    expect([name?.length, description?.length]).toEqual([64, 1_024]);
  });
});
