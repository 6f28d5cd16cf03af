import { expect, test } from "vitest";
import type { Entry } from "../../src/run/conversation/entries.ts";
import { type Kind, searchFor } from "../../src/run/find/matches.ts";

const PLACE = { turn: 1, lastSeq: 1, at: "2026-01-01T10:00:00Z", lastAt: "2026-01-01T10:00:00Z" };
const CALL = { ...PLACE, kind: "tool", toolKind: "execute", status: "completed" } as const;
const ENTRIES: readonly Entry[] = [
  { ...PLACE, key: "prompt", seq: 1, kind: "prompt", files: [] },
  { ...PLACE, key: "said", seq: 2, kind: "message", messageId: "m", text: "I look for\nthe Cause (first)." },
  {
    ...CALL,
    key: "coloured",
    seq: 3,
    callId: "1",
    title: "npm test",
    output: "\u001b[31mErr\u001b[0mor: no port",
  },
  { ...CALL, key: "failed", seq: 4, callId: "2", title: "npm start", result: { exit_code: 1 } },
  {
    ...CALL,
    key: "edit",
    seq: 5,
    callId: "3",
    toolKind: "edit",
    content: [
      { type: "diff", path: "src/port.ts", old_text: "const port = 1;\n", new_text: "const port = 2;\n" },
    ],
  },
  { ...PLACE, key: "question", seq: 6, kind: "question", permissionId: "p", facts: { command: "rm -r out" } },
  {
    ...PLACE,
    key: "pull",
    seq: 7,
    kind: "artifact",
    artifactId: "a",
    version: 1,
    artifact: { type: "PULL_REQUEST", url: "https://git.example.com/acme/web/pull/7", branch: "fix-port" },
  },
] as const;

function find(text: string, kind: Kind = ""): readonly string[] {
  const search = searchFor({ text, kind }, { prompt: "Find the cause", servers: [] });
  return search(ENTRIES).map(({ key }) => key);
}

test.each([
  ["the CAUSE", ["prompt", "said"]],
  ["for the", ["said"]],
  ["(first).", ["said"]],
  ["Error: no", ["coloured"]],
  ["port = 2", ["edit"]],
  ["rm -r", ["question"]],
  ["pull/7", ["pull"]],
  [".*", []],
  ["  ", []],
])("the words %j are found in what the page shows", (text, keys) => {
  expect(find(text)).toEqual(keys);
});

test.each([
  ["failures", ["failed"]],
  ["questions", ["question"]],
  ["files", ["edit"]],
  ["pulls", ["pull"]],
] as const)("%s are found without words, and with words only those that have them", (kind, keys) => {
  expect(find("", kind)).toEqual(keys);
  expect(find("cause", kind)).toEqual([]);
});

test("an excerpt has the match and the words around it", () => {
  const search = searchFor({ text: "needle", kind: "" }, { prompt: "", servers: [] });
  const text = `${"x".repeat(100)}Needle${"y".repeat(10)}`;

  const [match] = search([{ ...PLACE, key: "m", seq: 1, kind: "message", messageId: undefined, text }]);

  expect(match?.excerpt).toEqual([`…${"x".repeat(60)}`, "Needle", "y".repeat(10)]);
});
