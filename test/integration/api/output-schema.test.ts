import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { decideTurnEnd, decideTurnStart } from "../../../src/core/work/context/decide-attempt.ts";
import { type Call, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const SCHEMA = { type: "object", properties: { risk: { enum: ["low", "high"] } }, required: ["risk"] };
const DATA = { risk: "low", camelCase: [{ inner_name: null, innerName: 1 }] };

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const at = (path: string, options: Call = {}) => call(harness, `/api/v1/agent${path}`, options);

test("the data of the last turn is in the result and in the log, as the agent wrote it", async () => {
  const id = await createRun(harness, { config: { output_schema: SCHEMA } });
  await harness.edit(id as RunId, (edit) => {
    edit.moveTo("PENDING");
    edit.moveTo("CLAIMED");
    decideTurnStart(edit, false, edit.run);
    decideTurnEnd(edit, { stopReason: "end_turn" }, "It is low.", { data: DATA });
  });

  const run = (await at(`/runs/${id}`)).body;
  const { events } = (await at(`/runs/${id}/events`, { headers: { accept: "application/json" } })).body;

  expect(run).toMatchObject({
    state: "SUCCEEDED",
    agent_config: { output_schema: SCHEMA },
    result: { text: "It is low.", data: DATA },
  });
  expect(run.result.data).toEqual(DATA);
  expect(events).toContainEqual(expect.objectContaining({ kind: "turn.ended", data: DATA }));
});

test("a run that continues the conversation answers without the schema, a retry with it", async () => {
  const id = await createRun(harness, { config: { output_schema: SCHEMA } });
  await harness.edit(id as RunId, (edit) => edit.moveTo("CANCELLED"));
  const { conversation_id } = (await at(`/runs/${id}`)).body;

  const continued = await createRun(harness, { conversation_id });
  const retried = (await at(`/runs/${id}/retry`, { method: "POST" })).body;

  expect((await at(`/runs/${continued}`)).body.agent_config?.output_schema).toBeUndefined();
  expect((await at(`/runs/${retried.run_id}`)).body.agent_config.output_schema).toEqual(SCHEMA);
});

test.each([
  ["a remote reference", { $ref: "https://a.example/s" }, "config.output_schema.$ref"],
  ["a type that does not exist", { type: "text" }, "config.output_schema.type"],
  ["a text", "{}", "config.output_schema"],
  ["a list", [], "config.output_schema"],
])("%s is refused", async (_what, output_schema, path) => {
  const answer = await at("/runs", { body: { prompt: "x", config: { output_schema } } });

  expect(answer.status).toBe(400);
  expect(answer.body.issues).toEqual([expect.objectContaining({ path })]);
});

test("a schedule may have one, and a wrong one is refused", async () => {
  const schedule = (output_schema: unknown) =>
    at("/schedules", {
      body: {
        name: "n",
        cron_schedule: "0 0 1 1 *",
        prompt: "x",
        enabled: false,
        agent_config: { output_schema },
      },
    });

  expect((await schedule(SCHEMA)).body.agent_config.output_schema).toEqual(SCHEMA);
  expect((await schedule({ pattern: "(" })).body.issues).toEqual([
    expect.objectContaining({ path: "agent_config.output_schema.pattern" }),
  ]);
});
