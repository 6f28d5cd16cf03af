import { describe, expect, test } from "vitest";
import type { PermissionRequest } from "../../../../../src/core/model/runs/agent-update.ts";
import { questionLine, shownQuestion } from "../../../../../src/core/model/runs/question-text.ts";
import { shortenTexts } from "../../../../../src/core/work/turns/permission-broker.ts";

const ALLOW = { optionId: "a", name: "Allow", kind: "allow_once" } as const;
const ALWAYS = { optionId: "b", name: "Always", kind: "allow_always" } as const;
const REJECT = { optionId: "r", name: "Reject", kind: "reject_once" } as const;

test("a question shows the command first, and the agent's words as such", () => {
  const { isWhole, options, text } = shownQuestion(aQuestion({ command: "rm -rf /", reason: "list files" }));

  expect(text).toBe("It wants to run:\nrm -rf /\nThe agent's own words: list files");
  expect([isWhole, options]).toEqual([true, [ALLOW, ALWAYS, REJECT]]);
});

test("a question shows changed lines, arguments and files", () => {
  const facts = { diff: "-a\n+b", input: '{"x":1}', paths: ["/workspace/a.txt"] };
  const { text } = shownQuestion(aQuestion(facts));

  for (const fact of ["-a\n+b", '{"x":1}', "/workspace/a.txt"]) {
    expect(text).toContain(fact);
  }
});

test("a question without facts is the agent's words", () => {
  expect(shownQuestion(aQuestion({ title: "Delete it?" }))).toEqual({
    text: "Delete it?",
    isWhole: true,
    options: [ALLOW, ALWAYS, REJECT],
  });
});

describe("a question that a reader cannot see as a whole", () => {
  test.each<[string, Partial<PermissionRequest>]>([
    ["has tags in its command", { command: "ls \u{e0072}\u{e006d}" }],
    ["has a zero-width character in a path", { paths: ["/workspace/a\u200b.txt"] }],
    ["has an override in its changed lines", { diff: "+\u202egnp.sh" }],
    ["has an invisible operator in its arguments", { input: '{"a":"\u2063"}' }],
    ["has a filler in the agent's words", { command: "ls", reason: "list\u3164files" }],
    ["has a filler in its title", { title: "list\u3164files" }],
    ["has a hidden character in an option", { options: [{ ...ALLOW, name: "No\u200b" }, REJECT] }],
    ["is too long", { command: `echo ${"x".repeat(3_000)}; rm -rf /` }],
    ["was cut before", { command: "ls", truncated: true }],
  ])("it %s: it is shown, and nobody allows it with one click", (_name, facts) => {
    const { isWhole, options, text } = shownQuestion(aQuestion(facts));

    expect(isWhole).toBe(false);
    expect(options).toEqual([REJECT]);
    expect(text).not.toMatch(/[\u200b\u202e\u2063\u3164\u{e0000}-\u{e007f}]/u);
    expect(text.length).toBeLessThan(2_800);
  });

  test("a long command shows its beginning and its end, and how much is missing", () => {
    const { text } = shownQuestion(aQuestion({ command: `curl x ${"a".repeat(9_000)} | sh` }));

    expect(text).toMatch(/curl x a+… \[\d+ characters cut\] …a+ \| sh/);
  });
});

describe("what is stored of a question", () => {
  test("a long fact keeps its beginning and its end, and the question is marked", () => {
    const command = `sudo ${"x".repeat(100_000)} rm`;
    const paths = Array.from({ length: 60 }, (_, index) => `/workspace/${index}`);
    const shown = shortenTexts(aQuestion({ command, paths, reason: "y".repeat(9_000) }));

    expect(shown.command).toMatch(/^sudo x+… \[\d+ characters cut\] …x+ rm$/);
    expect(shown.paths).toHaveLength(50);
    expect(shown.truncated).toBe(true);
    expect(JSON.stringify(shown).length).toBeLessThan(20_000);
  });

  test("words that are the whole question are marked when they are cut", () => {
    const question = aQuestion({ title: `list files ${"x".repeat(2_000)}; rm -rf /` });

    expect(shownQuestion(shortenTexts(question)).isWhole).toBe(false);
    expect(shownQuestion(shortenTexts(aQuestion({ title: "Delete it?" }))).isWhole).toBe(true);
  });

  test("a short question stays as it is", () => {
    const question = aQuestion({ command: "ls", paths: ["/workspace"], reason: "look" });

    expect(shortenTexts(question)).toEqual(question);
  });
});

test.each<[Partial<PermissionRequest>, string]>([
  [{ command: "rm -rf\n/", title: "list files" }, "The agent asks to run: rm -rf /"],
  [{ diff: "+x", paths: ["a.txt"], title: "Write" }, "The agent asks to change: a.txt"],
  [{ title: "May I\u200b?" }, "The agent asks: May I⟨U+200B⟩?"],
])("the question %j in one line is %j", (facts, line) => {
  expect(questionLine(aQuestion(facts))).toBe(line);
});

function aQuestion(facts: Partial<PermissionRequest>): PermissionRequest {
  return { permissionId: "p", title: "as told", options: [ALLOW, ALWAYS, REJECT], ...facts };
}
