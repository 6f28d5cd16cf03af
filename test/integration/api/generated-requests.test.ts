import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/errors.ts";
import { type ApiBench, startBench } from "./api-bench.ts";

let bench: ApiBench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.close());

const text = fc.string({ unit: "binary", maxLength: 40 });
const value = fc.oneof(
  text,
  fc.jsonValue(),
  fc.constantFrom(null, "", "demo", "oz", "plan", 0, -1, true, "0000"),
);
const config = fc.dictionary(
  fc.constantFrom(
    "name",
    "model_id",
    "harness",
    "mcp_servers",
    "budget",
    "idle_timeout_minutes",
    "constructor",
    "x",
  ),
  fc.oneof(value, fc.dictionary(text, value)),
);
const body = fc.record(
  {
    prompt: value,
    title: value,
    metadata: fc.dictionary(text, text),
    config,
    team: value,
    mode: value,
    images: value,
  },
  { requiredKeys: [] },
);
const query = fc.dictionary(
  fc.constantFrom(
    "limit",
    "state",
    "q",
    "name",
    "created_after",
    "creator",
    "ancestor_run_id",
    "metadata[a]",
    "cursor",
    "x",
  ),
  fc.oneof(
    text,
    fc.constantFrom("1", "QUEUED", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "%", "_", "\\"),
  ),
);

test("no request, however odd, is answered with a 5xx or outside of the one shape", async () => {
  const authorization = `Bearer ${bench.key}`;

  await fc.assert(
    fc.asyncProperty(body, query, async (members, filters) => {
      const headers = { authorization, "content-type": "application/json" };
      const payload = JSON.stringify(members);
      const created = await bench.server.inject({
        method: "POST",
        url: "/api/v1/agent/run",
        headers,
        payload,
      });
      const url = `/api/v1/agent/runs?${new URLSearchParams(filters)}`;
      const listed = await bench.server.inject({ method: "GET", url, headers: { authorization } });
      for (const answer of [created, listed]) {
        expect(answer.statusCode).toBeLessThan(500);
        if (answer.statusCode !== 200) expect(ERROR_CODES).toContain(answer.json().code);
      }
    }),
    { numRuns: 300 },
  );
});
