import { beforeEach, describe, expect, test, vi } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { findResult } from "../../../../../src/core/requests/run-result.ts";
import { TurnOutput } from "../../../../../src/core/work/turns/turn-output.ts";
import { createSchemaChecker } from "../../../../../src/json-schema/schema-checker.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { END_TURN, type Script } from "../../../../support/scripted-agents.ts";

const SCHEMA = {
  type: "object",
  properties: { risk: { enum: ["low", "high"] }, files: { type: "array", items: { type: "string" } } },
  required: ["risk"],
  additionalProperties: false,
};

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

describe("the data of an answer", () => {
  test.each([
    ["the whole answer", '{"risk":"low"}'],
    ["a code block at its end", 'I looked.\n\n```json\n{\n  "risk": "low"\n}\n```'],
    ["a code block without a language", 'I looked.\n```\n{"risk":"low"}\n```'],
    ["the last of several code blocks", '```json\n{"risk":"no"}\n```\nBetter:\n```json\n{"risk":"low"}\n```'],
  ])("%s is the result", async (_where, answer) => {
    const id = await ended(SCHEMA, [answering(answer)]);

    expect(harness.agents.prompts).toHaveLength(1);
    expect(harness.agents.prompts[0]).toContain(JSON.stringify(SCHEMA));
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
    expect(await resultOf(id)).toMatchObject({ text: answer, data: { risk: "low" }, turn: 1 });
  });

  test.each([
    ["a text", '{"type":"string"}', '"done"', "done"],
    ["null", '{"type":["null","string"]}', "null", null],
    ["false", '{"type":"boolean"}', "false", false],
  ])("%s is data", async (_what, schema, answer, data) => {
    const id = await ended(JSON.parse(schema), [answering(answer)]);

    expect(await resultOf(id)).toHaveProperty("data", data);
  });
});

describe("an answer that does not match", () => {
  test.each([
    ["no JSON", "All is well.", "It contains no JSON value."],
    ["a member of the wrong type", '{"risk":"low","files":[1]}', "/files/0"],
    ["an unknown member", '{"risk":"low","note":"x"}', "note"],
    ["a missing member", "{}", '"risk"'],
    ["half a value", '{"risk":', "It contains no JSON value."],
    [
      "a very long value",
      JSON.stringify({ risk: "low", files: ["x".repeat(70_000)] }),
      "more than 65536 bytes",
    ],
  ])("%s is repaired once in the same turn", async (_what, answer, problem) => {
    const id = await ended(SCHEMA, [answering(answer), answering('{"risk":"high"}')]);

    expect(harness.agents.prompts).toHaveLength(2);
    expect(harness.agents.prompts[1]).toContain(problem);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 1 });
    expect(await resultOf(id)).toMatchObject({ text: '{"risk":"high"}', data: { risk: "high" } });
  });

  test("twice ends the run with the problems and without data", async () => {
    const id = await ended(SCHEMA, [answering("no"), answering('{"risk":"none"}')]);

    expect(harness.agents.prompts).toHaveLength(2);
    expect(await harness.run(id)).toMatchObject({
      state: "FAILED",
      statusMessage: {
        errorCode: "invalid_request",
        message: expect.stringMatching(/does not match output_schema\. \/risk: .*low/),
      },
    });
    expect((await resultOf(id))?.data).toBeUndefined();
  });

  test.each([
    ["a regular expression that backtracks for ever", { pattern: "^(a+)+$" }, `"${"a".repeat(60)}!"`],
    ["a schema that refers to itself for ever", { $ref: "#" }, "1"],
  ])("%s ends the run and does not ask again", async (_what, schema, answer) => {
    const worker = harness.worker({ schemas: createSchemaChecker(1_000) });
    const id = await ended(schema, [answering(answer)], worker);

    expect(harness.agents.prompts).toHaveLength(1);
    expect(await harness.run(id)).toMatchObject({
      state: "FAILED",
      statusMessage: {
        errorCode: "invalid_request",
        message: expect.stringContaining("could not be evaluated"),
      },
    });
  });

  test("does not end a run for which a follow-up waits", async () => {
    const { id } = await harness.create({ config: { output_schema: SCHEMA } });
    harness.agents.scripts.push(answering("no"), async (turn) => {
      await harness.followUp(id, "Say high.");
      turn.say("still no");
      return END_TURN;
    });
    harness.agents.scripts.push(answering('{"risk":"high"}'));
    await harness.start();
    await untilEnded(id);

    expect(harness.agents.prompts[2]).toMatch(/^Say high\.\n\nEnd your answer with one JSON value/);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
    expect(await resultOf(id)).toMatchObject({ data: { risk: "high" }, turn: 2 });
  });
});

test("a secret that escapes hide in the JSON text is not in the data", async () => {
  const output = new TurnOutput(createSchemaChecker(), (value) =>
    JSON.parse(JSON.stringify(value).replaceAll("hunter", "***")),
  );

  expect(await output.read({ config: { output_schema: {} } }, '"\\u0068unter"')).toEqual({ data: "***" });
});

function answering(answer: string): Script {
  return async (turn) => {
    turn.say(answer);
    return END_TURN;
  };
}

async function ended(
  output_schema: Record<string, unknown>,
  scripts: readonly Script[],
  worker = harness.worker(),
): Promise<RunId> {
  harness.agents.scripts.push(...scripts);
  await harness.start(worker);
  const { id } = await harness.create({ config: { output_schema } });
  await untilEnded(id);
  return id;
}

async function untilEnded(id: RunId): Promise<void> {
  await vi.waitUntil(async () => /SUCCEEDED|FAILED|ERROR/.test((await harness.run(id)).state), 20_000);
}

async function resultOf(id: RunId) {
  return findResult(harness.storage.runs, await harness.run(id));
}
