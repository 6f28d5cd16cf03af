import { expect, test } from "vitest";
import { withUnstartedServer } from "../../../scripts/openapi-document.ts";
import { DESCRIPTION } from "../../../src/api/openapi/openapi-text.ts";
import { readConfig } from "../../../src/config/config.ts";

const RUNS = "/api/v1/agent/runs";

test("the server enforces the limits that the operator sets", async () => {
  const environment = { ERRAND_RATE_LIMIT: "2", ERRAND_MAX_BODY_MIB: "3" };

  await withUnstartedServer(environment, async (server) => {
    const answers = [await server.inject(RUNS), await server.inject(RUNS), await server.inject(RUNS)];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 429]);
    expect(server.initialConfig.bodyLimit).toBe(3 * 1_024 ** 2);
  });
});

test("the OpenAPI document states the default sizes", () => {
  const { limits } = readConfig({});
  const kibibytes = [limits.promptBytes, limits.basePromptBytes, limits.configBytes].map(
    (bytes) => bytes / 1_024,
  );
  const mebibytes = [limits.bodyBytes, limits.attachmentBytes, limits.attachmentsBytes].map(
    (bytes) => bytes / 1_024 ** 2,
  );
  const [, sizes = ""] = /\*\*Sizes\.\*\*(.*?)\n\n/s.exec(DESCRIPTION) ?? [];
  const told = (unit: RegExp) => Array.from(sizes.matchAll(unit), ([, number]) => Number(number));

  expect(told(/(\d+) KiB/g)).toEqual(kibibytes);
  expect(told(/(\d+) MiB/g)).toEqual(mebibytes);
  expect(told(/(\d+)\s+characters/g)).toEqual([limits.titleLength]);
});

test("the default limits are the documented ones", async () => {
  await withUnstartedServer({}, async (server) => {
    const { headers } = await server.inject(RUNS);

    expect(headers["ratelimit-policy"]).toBe('"address";q=600;w=60');
    expect(server.initialConfig.bodyLimit).toBe(30 * 1_024 ** 2);
  });
});
