import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/secrets/redaction.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";

const KEY = "canary-key-of-the-operator-0123456789";

let mock: LLMock;
beforeAll(async () => {
  mock = new LLMock({ port: 0 });
  mock.on(
    { predicate: ({ model }) => model.startsWith("broken") },
    { error: { message: "Quota is gone", type: "insufficient_quota" }, status: 429 },
  );
  mock.on(
    { predicate: () => true },
    {
      content: "Hello from the model.",
      usage: {
        input_tokens: 11,
        output_tokens: 5,
        prompt_tokens: 11,
        completion_tokens: 5,
        total_tokens: 16,
      },
    },
  );
  await mock.start();
});
afterAll(() => mock.stop());

async function withHarness(work: (harness: GatewayHarness) => Promise<void>): Promise<void> {
  const openai = { key: KEY, baseUrl: `${mock.url}/v1` };
  const other = { key: KEY, baseUrl: mock.url };
  const harness = await openGateway({
    models: { openai, anthropic: other, gemini: other },
    redact: createRedactor([KEY]).redact,
  });
  try {
    await work(harness);
    expect(JSON.stringify([harness.logged, harness.gateway.traffic])).not.toContain(KEY);
  } finally {
    await harness.close();
  }
}

const hello = [{ role: "user", content: "Hello" }];
const requestsFor = (model: string) =>
  [
    ["/openai/chat/completions", { model, messages: hello }],
    ["/openai/chat/completions", { model, messages: hello, stream: true }],
    ["/openai/responses", { model, input: hello }],
    ["/openai/responses", { model, input: hello, stream: true }],
    ["/anthropic/v1/messages", { model, max_tokens: 9, messages: hello }],
    ["/anthropic/v1/messages", { model, max_tokens: 9, messages: hello, stream: true }],
    [
      `/gemini/v1beta/models/${model}:generateContent`,
      { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    ],
    [
      `/gemini/v1beta/models/${model}:streamGenerateContent?alt=sse`,
      { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    ],
  ] as const;

function send({ gateway }: GatewayHarness, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: "Bearer placeholder" };
  return fetch(`${gateway.address}/models${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

/**
 * The model server is a third-party library, so that the dialects are tested against an independent implementation.
 */
describe("the gateway in front of a model server that speaks all dialects", () => {
  test.each(requestsFor("m-1"))("a request to %s is answered and its tokens are counted: %j", (path, body) =>
    withHarness(async (harness) => {
      const answer = await send(harness, path, body);

      expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
      const { calls, inputTokens, outputTokens, totalTokens } = harness.gateway.traffic.models;
      expect([calls, inputTokens, outputTokens, totalTokens]).toEqual([1, 11, 5, 16]);
    }),
  );

  test.each(requestsFor("broken-1"))(
    "a failed request to %s is recorded as a model failure: %j",
    (path, body) =>
      withHarness(async (harness) => {
        expect((await send(harness, path, body)).status).toBe(429);
        expect(harness.gateway.traffic.modelFailure).toEqual({ status: 429, message: "Quota is gone" });
      }),
  );
});
