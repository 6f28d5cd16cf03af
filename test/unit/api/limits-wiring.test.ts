import { expect, test } from "vitest";
import { withUnstartedServer } from "../../../scripts/openapi-document.ts";

const RUNS = "/api/v1/agent/runs";

test("what the operator sets is what the server keeps", async () => {
  const environment = { ERRAND_RATE_LIMIT: "2", ERRAND_MAX_BODY_MIB: "3" };

  await withUnstartedServer(environment, async (server) => {
    const answers = [await server.inject(RUNS), await server.inject(RUNS), await server.inject(RUNS)];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 429]);
    expect(server.initialConfig.bodyLimit).toBe(3 * 1_024 ** 2);
  });
});

test("what nobody sets is what is documented", async () => {
  await withUnstartedServer({}, async (server) => {
    const { headers } = await server.inject(RUNS);

    expect(headers["ratelimit-policy"]).toBe('"address";q=600;w=60');
    expect(server.initialConfig.bodyLimit).toBe(30 * 1_024 ** 2);
  });
});
