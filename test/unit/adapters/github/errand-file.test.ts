import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseErrandFile } from "../../../../src/adapters/github/errand-file/parse.ts";
import { errandFile, errandFileJsonSchema } from "../../../../src/adapters/github/errand-file/schema.ts";

const WHOLE = `# What Errand does here.
environment: Backend
agent: claude
model: claude-opus-4-6
base_prompt: |
  Run the tests.
triggers:
  label: false
  merge_conflict: false
  mention: true
refusals: reaction
pull_request:
  open: ready
  paths: [web/**]
  signoff: true
  sign: api
`;

test("a file says where and how requests of its repository are worked on, and which of them are off", () => {
  expect(parseErrandFile(WHOLE)).toMatchObject({
    environment: "Backend",
    config: {
      harness: { type: "claude" },
      model_id: "claude-opus-4-6",
      base_prompt: "Run the tests.\n",
      pull_request: "ready",
    },
    off: ["label", "merge_conflict"],
    refusals: "reaction",
    paths: ["web/**"],
    signsOff: true,
    hostSigns: true,
    mistakes: [],
  });
  expect(parseErrandFile("pull_request:\n  signoff: sometimes\n")).toMatchObject({
    mistakes: ["`.github/errand.yml`, line 2: `pull_request.signoff` must be true or false."],
  });
  const wrong = parseErrandFile("pull_request:\n  sign: gpg\n");
  expect(wrong).toMatchObject({
    mistakes: ["`.github/errand.yml`, line 2: `pull_request.sign` must be one of api."],
  });
  expect([wrong.hostSigns, wrong.unreadable]).toEqual([undefined, undefined]);
});

test.each(["", "# nothing\n", "---\n", "{}"])("the file %j says nothing", (text) => {
  const { mistakes, unreadable, off, config } = parseErrandFile(text);

  expect({ mistakes, unreadable, off, config }).toEqual({
    mistakes: [],
    unreadable: undefined,
    off: [],
    config: {},
  });
});

test("a wrong member that only chooses is left out, and the rest counts", () => {
  const settings = parseErrandFile("environment: Backend\n\nmodel: 4\npull_request:\n  open: perhaps\n");

  expect(settings.mistakes).toEqual([
    "`.github/errand.yml`, line 3: `model` must be a text.",
    "`.github/errand.yml`, line 5: `pull_request.open` must be one of off, draft, ready.",
  ]);
  expect(settings).toMatchObject({ environment: "Backend", config: {} });
  expect(settings.unreadable).toBeUndefined();
});

describe("a mistake that may hide a restriction stops everything", () => {
  test.each([
    ["agent: claude\ntrigers:\n  label: false\n", "line 2: `trigers` is unknown."],
    ["triggers:\n  label: false\n  lable: false\n", "line 3: `triggers.lable` is unknown."],
    ["triggers:\n  label: no\n", "line 2: `triggers.label` must be true or false."],
    ["refusals: quiet\n", "line 1: `refusals` must be one of comment, reaction, silent."],
    ["pull_request:\n  paths: [/web]\n", "line 2: `pull_request.paths` is no path from the root"],
    ["pull_request:\n  paths: ['!web']\n  path: [web]\n", "line 3: `pull_request.path` is unknown."],
    ["pull_request: draft\n", "line 1: `pull_request` must be a mapping."],
    ["__proto__: {}\n", "line 1: `__proto__` is unknown."],
    ["- a\n", "must be a mapping."],
    ["agent: [1\n", "no YAML that Errand reads"],
    ["agent: a\nagent: b\n", "line 2 is no YAML that Errand reads: Map keys must be unique"],
    ["agent: a\n---\ntriggers: {label: false}\n", "no YAML that Errand reads"],
    ["agent: &a x\n", "no anchors"],
    ["agent: x\nmodel: *a\n", "no anchors, aliases"],
    ["agent: !!js/function x\n", "Unresolved tag"],
    ["agent: !!str x\n", "no anchors, aliases, tags"],
    [`agent: ${"[".repeat(30)}${"]".repeat(30)}\n`, "deep nesting"],
  ])("%j", (text, words) => {
    const { unreadable } = parseErrandFile(text);

    expect(unreadable).toContain("`.github/errand.yml`");
    expect(unreadable).toContain(words);
    expect(unreadable?.split("\n")).toHaveLength(1);
  });
});

test.each([
  "[",
  "{a: ",
  "- ",
  "? ",
  "? [",
  "{? ",
  "&a ",
  "!!a ",
  "'",
  '"',
  "*",
  "a:\n",
  "<<: ",
  "{{}:",
  "---\n",
])("64 KiB of %j are read or refused without an exception", (part) => {
  const { config } = parseErrandFile(part.repeat(65_536 / part.length));

  expect(config).toEqual({});
});

describe("the published schema", () => {
  const validate = new Ajv2020({ strict: false }).compile(errandFileJsonSchema());

  test.each([
    WHOLE,
    "{}",
    "environment: ''\n",
    "environment: 7\n",
    "colour: red\n",
    "triggers: {label: false}\n",
    "triggers: {lable: false}\n",
    "triggers: {label: 0}\n",
    "refusals: loud\n",
    "pull_request: {open: off}\n",
    "pull_request: {open: 'yes'}\n",
    "pull_request: {opens: draft}\n",
    "base_prompt: [a]\n",
  ])("accepts and refuses what Errand accepts and refuses: %j", (text) => {
    const value: unknown = parse(text);

    expect(validate(value)).toBe(errandFile.safeParse(value).success);
  });
});

test("the example of the guide has no mistake and names each member", () => {
  const guide = readFileSync("docs/guides/github.md", "utf8");
  const [, example = ""] = /```yaml\n(# \.github\/errand\.yml\n[\s\S]*?)```/.exec(guide) ?? [];
  const { mistakes, unreadable } = parseErrandFile(example);

  expect([...mistakes, unreadable]).toEqual([undefined]);
  expect(membersOf(parse(example))).toEqual(expect.arrayContaining(membersOfSchema(errandFileJsonSchema())));
});

function membersOf(value: unknown, path = ""): string[] {
  return typeof value !== "object" || value === null || Array.isArray(value)
    ? [path]
    : Object.entries(value).flatMap(([name, member]) => [
        `${path}/${name}`,
        ...membersOf(member, `${path}/${name}`),
      ]);
}

/** All members except the single triggers. */
function membersOfSchema(schema: object, path = ""): string[] {
  const properties = "properties" in schema ? Object.entries(schema.properties ?? {}) : [];
  return properties.flatMap(([name, member]) => [
    `${path}/${name}`,
    ...(name === "triggers" ? [] : membersOfSchema(Object(member), `${path}/${name}`)),
  ]);
}
