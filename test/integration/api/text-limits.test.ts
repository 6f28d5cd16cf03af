import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const AGENT = "/api/v1/agent";
const WITHIN = { base_prompt: "é".repeat(8) };
const BEYOND = { base_prompt: "é".repeat(9) };
/** 31 and 33 bytes of JSON. */
const SMALL = { note: "é".repeat(10) };
const LARGE = { note: "é".repeat(11) };
const SCHEDULE = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "x", enabled: true };

describe("the operator's limits of titles and configurations", () => {
  let harness: ApiHarness;
  let schedule: string;
  let rule: string;
  beforeAll(async () => {
    harness = await startHarness({ limits: { titleLength: 7, basePromptBytes: 16, configBytes: 32 } });
    schedule = `/schedules/${(await ask("/schedules", SCHEDULE)).body.id}`;
    rule = `/routing-rules/${(await ask("/routing-rules", { name: "rule" })).body.id}`;
  });
  afterAll(() => harness.close());

  function ask(path: string, body: object, method = "POST") {
    return call(harness, `${AGENT}${path}`, { method, body });
  }

  test.each<[string, object, object, string]>([
    ["/runs", { prompt: "x", title: "😀".repeat(7) }, { title: "😀".repeat(8) }, "title"],
    ["/run", { prompt: "x", config: WITHIN }, { config: BEYOND }, "config.base_prompt"],
    ["/schedules", SCHEDULE, { name: "Nightly!" }, "name"],
    [
      "/schedules",
      { ...SCHEDULE, agent_config: WITHIN },
      { agent_config: BEYOND },
      "agent_config.base_prompt",
    ],
    ["/routing-rules", { name: "new", config: WITHIN }, { config: BEYOND }, "config.base_prompt"],
    ["/routing-rules/evaluate", { config: WITHIN }, { config: BEYOND }, "config.base_prompt"],
    ["/runs", { prompt: "x", config: { ...SMALL, ...WITHIN } }, { config: LARGE }, "config"],
    ["/schedules", { ...SCHEDULE, agent_config: SMALL }, { agent_config: LARGE }, "agent_config"],
    ["/routing-rules", { name: "small", config: SMALL }, { config: LARGE }, "config"],
  ])("the operator's limits apply to objects created by %s: %j", async (path, body, longer, member) => {
    const [within, beyond] = [await ask(path, body), await ask(path, { ...body, ...longer })];

    expect([200, 201]).toContain(within.status);
    expect([beyond.status, beyond.body.issues]).toEqual([
      400,
      [
        {
          path: member,
          pointer: `/${member.replaceAll(".", "/")}`,
          message: expect.stringMatching(/^must have at most (7 characters|(16|32) bytes)$/),
        },
      ],
    ]);
  });

  test("the operator's limits apply to replaced objects", async () => {
    const answers = [
      await ask(schedule, { ...SCHEDULE, name: "Nightly!" }, "PUT"),
      await ask(schedule, { ...SCHEDULE, agent_config: BEYOND }, "PUT"),
      await ask(rule, { name: "rule", config: BEYOND }, "PUT"),
      await ask(schedule, { ...SCHEDULE, agent_config: LARGE }, "PUT"),
      await ask(rule, { name: "rule", config: LARGE }, "PUT"),
    ];

    expect(answers.map(({ body, status }) => [status, body.issues[0].path])).toEqual([
      [400, "name"],
      [400, "agent_config.base_prompt"],
      [400, "config.base_prompt"],
      [400, "agent_config"],
      [400, "config"],
    ]);
  });
});

test("the longest allowed title can be stored and used to sort a list", async () => {
  const harness = await startHarness({ limits: { titleLength: 600 } });
  // Random characters of four bytes each, so that compression does not shorten them.
  const characters = Array.from({ length: 600 }, () => String.fromCodePoint(randomInt(0x10000, 0x110000)));
  const body = { prompt: "x", title: characters.join("") };

  const created = await call(harness, `${AGENT}/runs`, { body });
  const { runs } = (await call(harness, `${AGENT}/runs?sort_by=title`)).body;
  await harness.close();

  expect(created.status, created.text).toBe(200);
  expect(runs).toMatchObject([{ title: body.title }]);
});
