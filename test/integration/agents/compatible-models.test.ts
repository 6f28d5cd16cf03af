import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import { OPENAI_MODELS } from "../../../src/agents/known-models.ts";
import type { PlacedModel } from "../../../src/agents/models.ts";
import { composeAgents, findModelNote } from "../../../src/app/compose-agents.ts";
import { readConfig } from "../../../src/config/config.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { AgentHarness, aScriptedAgent, BARE_RUNNER } from "../../support/agent-harness.ts";
import { type AnsweringServer, answerJson, startAnsweringServer } from "../../support/answering-server.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { startService } from "../../support/service.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const RUDE_AGENT = join(import.meta.dirname, "../../fixtures/agents/rude-agent.mjs");
const KEY = "the-key-of-the-model-server";
const [{ id: USUAL } = { id: "" }] = OPENAI_MODELS;
const MANY = Array.from({ length: 25 }, (_, number) => `m${number}`);

let server: AnsweringServer;
let harness: AgentHarness | undefined;
beforeAll(async () => {
  server = await startAnsweringServer();
});
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});
afterAll(() => server.stop());

const list = (...ids: readonly string[]) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model" })),
});

function answerWith(body: unknown, status = 200): void {
  server.requests.length = 0;
  server.answer = (response) => answerJson(response, body, status);
}

/** The model that an agent of OpenAI's models starts with, for a run that names none or this one. */
async function modelOf(options: { readonly modelId?: string; readonly defaultModel?: string } = {}) {
  const { modelId, ...more } = options;
  let model: PlacedModel | undefined;
  const scripted = aScriptedAgent("agent", [process.execPath, RUDE_AGENT, "polite", "heard"]);
  const agent = { ...scripted, providers: ["openai"] as const, models: OPENAI_MODELS };
  harness = await AgentHarness.open((dataDir) =>
    createAcpRunner({
      ...BARE_RUNNER,
      ...more,
      servers: { openai: { isCompatible: true } },
      compatibleServer: { baseUrl: `${server.url}/v1`, key: KEY },
      catalogue: new Map([
        [
          "agent",
          {
            ...agent,
            launch: (request: Parameters<typeof agent.launch>[0]) => {
              model = request.model;
              return agent.launch(request);
            },
          },
        ],
      ]),
      sandbox: createLocalSandbox(dataDir),
    }),
  );
  await harness.start({ agent: "agent", ...(modelId === undefined ? {} : { modelId }) });
  return model?.id;
}

describe("the model of a run that names none, where another company's server speaks OpenAI's API", () => {
  test("it is the only model of the server, which is asked with its key", async () => {
    answerWith(list("qwen3"));

    expect(await modelOf()).toBe("qwen3");
    expect(server.requests.map(({ headers, url }) => [url, headers.authorization])).toEqual([
      ["/v1/models", `Bearer ${KEY}`],
    ]);
  });

  test.each([
    ["lists it among others", list("a", USUAL), 200],
    ["has no list", { error: "not found" }, 404],
    ["answers with something else", { models: [] }, 200],
    ["has no model", list(), 200],
  ])("it is the default of the agent if the server %s", async (_what, body, status) => {
    answerWith(body, status);

    expect(await modelOf()).toBe(USUAL);
  });

  test.each([
    [["qwen3", "llama4"], "qwen3, llama4."],
    [MANY, "m18, m19 and 5 more."],
  ])("the run fails with the list if the server has several others: %j", async (ids, words) => {
    answerWith(list(...ids));

    await expect(modelOf()).rejects.toMatchObject({
      code: "integration_not_configured",
      message: expect.stringContaining(words),
      options: { remedy: expect.stringContaining("ERRAND_MODEL") },
    });
  });

  test.each([
    ["the run", { modelId: "llama4" }],
    ["the operator", { defaultModel: "llama4" }],
  ])("the server is not asked if %s names a model", async (_who, options) => {
    answerWith(list("qwen3", "mistral"));

    expect(await modelOf(options)).toBe("llama4");
    expect(server.requests).toEqual([]);
  });
});

const VARIABLES = () => ({ OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: KEY });

test.each([
  ["its only model", list("qwen3"), {}, /^Runs that name no model use qwen3, /],
  ["its models", list("qwen3", "llama4"), {}, /has several: qwen3, llama4\. Set ERRAND_MODEL/],
  ["that it has no list", {}, {}, /did not list its models\. .* Set ERRAND_MODEL/],
  ["nothing if ERRAND_MODEL is set", list("qwen3", "llama4"), { ERRAND_MODEL: "qwen3" }, undefined],
  ["nothing if it is OpenAI's own", list("qwen3", "llama4"), { OPENAI_BASE_URL: "" }, undefined],
  ["nothing if another agent does the runs", list("a", "b"), { ERRAND_AGENT: "claude" }, undefined],
])("the operator reads of the server %s", async (_what, body, more, words) => {
  answerWith(body);
  const config = readConfig({ ...VARIABLES(), ...more });

  const note = await findModelNote(config, composeAgents(config));

  expect(note).toEqual(words === undefined ? undefined : expect.stringMatching(words));
});

test("the start says that the server has several models, and starts", async () => {
  answerWith(list("qwen3", "llama4"));
  const database = await createTestDatabase();
  const service = await startService(join(await makeTemporaryFolder(), "data"), {
    ...VARIABLES(),
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
  });
  try {
    await waitFor(() => service.output().includes("Errand is ready"), { what: "the message of the start" });

    expect(service.output()).toContain("has several: qwen3, llama4. Set ERRAND_MODEL");
    expect(service.output()).not.toContain(KEY);
  } finally {
    await service.end("SIGTERM");
    await database.drop();
  }
});
