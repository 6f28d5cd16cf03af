import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { PeopleCaller } from "./people-caller.ts";

let harness: ApiHarness;
const people = new PeopleCaller(() => harness);
const { ask } = people;
let environment: string;
let agent: string;

beforeAll(async () => {
  harness = await startHarness();
  const config = { name: "Site", secrets: listOf("OF_ENVIRONMENT") };
  environment = (await ask("/environments", { body: { config } })).body.uid;
  agent = (await ask("/identities", { body: { name: "Builder", secrets: listOf("A", "B") } })).body.uid;
});
afterAll(() => harness.close());

function listOf(...names: readonly string[]): { name: string }[] {
  return names.map((name) => ({ name }));
}

function start(body: object, key = harness.key): Promise<Answer> {
  return ask("/runs", { body: { prompt: "x", ...body }, key });
}

/** The secrets that a run gets, what its configuration shows, and the layer that decided. */
async function secretsOf({ body }: Answer): Promise<unknown> {
  const run = await harness.storage.runs.find({ id: body.run_id });
  const { agent_config, provenance } = (await ask(`/runs/${body.run_id}`)).body;
  const shown = agent_config?.secrets?.map(({ name }: { name: string }) => name);
  expect(shown).toEqual(run?.secretNames);
  return [run?.secretNames, provenance.config_layers.secrets];
}

test.each<[string, (places: { environment: string; agent: string }) => object, unknown]>([
  ["no list", () => ({}), [undefined, undefined]],
  ["an empty list", () => ({ config: { secrets: [] } }), [undefined, undefined]],
  [
    "that of the environment",
    (places) => ({ config: { environment_id: places.environment } }),
    [["OF_ENVIRONMENT"], "default"],
  ],
  [
    "that of the named agent before that of the environment",
    (places) => ({
      config: { environment_id: places.environment, secrets: [] },
      agent_identity_uid: places.agent,
    }),
    [["A", "B"], "agent"],
  ],
  [
    "that of the request before that of the named agent",
    (places) => ({ config: { secrets: [{ name: "B" }] }, agent_identity_uid: places.agent }),
    [["B"], "request"],
  ],
  [
    "that of the request before that of the environment",
    (places) => ({ config: { environment_id: places.environment, secrets: [{ name: "OTHER" }] } }),
    [["OTHER"], "request"],
  ],
])("a run gets %s", async (_what, body, expected) => {
  expect(await secretsOf(await start(body({ environment, agent })))).toEqual(expected);
});

test("a request cannot name a secret that the named agent does not have, also with the agent's own key", async () => {
  const config = { secrets: listOf("A", "OTHER") };
  const { key } = await people.aKey({ principal_uid: agent, scopes: ["runs:write"] });

  const answers = [await start({ config, agent_identity_uid: agent }), await start({ config }, key)];

  for (const { body, status } of answers) {
    expect([status, body.detail]).toEqual([403, "The agent of this run may not use the secret OTHER."]);
    expect(body.issues).toMatchObject([{ path: "config.secrets.1.name" }]);
  }
});

test("a schedule cannot name a secret that its named agent does not have", async () => {
  const schedule = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "x", agent_uid: agent };

  const refused = await ask("/schedules", { body: { ...schedule, agent_config: { secrets: listOf("C") } } });
  const stored = await ask("/schedules", { body: { ...schedule, agent_config: { secrets: listOf("A") } } });

  expect([refused.status, refused.body.issues?.[0].path]).toEqual([403, "agent_config.secrets.0.name"]);
  expect(stored.body.agent_config.secrets).toEqual(listOf("A"));
});

test("a list of a lower layer does not widen that of a named agent", async () => {
  const match = { sources: ["API"] };
  const rule = { name: "All", position: 1, match, config: { secrets: listOf("OF_RULE") } };
  const { body } = await ask("/routing-rules", { body: rule });
  try {
    expect(await secretsOf(await start({ agent_identity_uid: agent }))).toEqual([["A", "B"], "agent"]);
    expect(await secretsOf(await start({}))).toEqual([["OF_RULE"], "routing_rule"]);
  } finally {
    await people.remove(`/routing-rules/${body.id}`);
  }
});

test("a conversation keeps the list of its request, but not that of a named agent", async () => {
  const own = (await start({ config: { secrets: listOf("OWN") } })).body.run_id;
  const ofAgent = (await start({ agent_identity_uid: agent })).body.run_id;
  const continued = async (id: string) => {
    const { conversation_id } = (await ask(`/runs/${id}`)).body;
    return secretsOf(await start({ conversation_id }));
  };

  expect(await continued(own)).toEqual([["OWN"], "conversation"]);
  expect(await continued(ofAgent)).toEqual([undefined, undefined]);
});

test("a retry keeps its list, and follows that of its named agent", async () => {
  const own = (await start({ config: { secrets: listOf("OWN") } })).body.run_id;
  const { uid } = (await ask("/identities", { body: { name: "Brief", secrets: listOf("A", "B") } })).body;
  const ofAgent = (await start({ agent_identity_uid: uid })).body.run_id;
  await ask(`/identities/${uid}`, { method: "PUT", body: { secrets: listOf("A") } });

  const retry = async (id: string) => secretsOf(await ask(`/runs/${id}/retry`, { method: "POST" }));

  expect(await retry(own)).toEqual([["OWN"], "request"]);
  expect(await retry(ofAgent)).toEqual([["A"], "agent"]);
});
