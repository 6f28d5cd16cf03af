import { expect, test } from "vitest";
import { withFaultHarness } from "./fault-harness.ts";

const TIMES = 50;

test("one idempotency key sent fifty times at once to two processes makes one run", { timeout: 60_000 }, () =>
  withFaultHarness(async (harness) => {
    const processes = await Promise.all([
      harness.start({ ERRAND_ROLE: "api" }),
      harness.start({ ERRAND_ROLE: "api" }),
    ]);
    // The first request of a process loads and compiles code, and those behind it would wait too long for a connection.
    for (const { api } of processes) {
      await api.call("POST", "/agent/runs", { prompt: "say hello", config: { environment_id: "none" } });
      await api.call("GET", "/agent/runs");
    }
    const headers = { "idempotency-key": "the-one-key" };
    const send = (at: number) =>
      processes[at % 2]?.api.call("POST", "/agent/runs", { prompt: "say hello" }, headers);

    const answers = await Promise.all(Array.from({ length: TIMES }, (_, index) => send(index)));
    const later = await send(1);

    const made = answers.filter((answer) => answer?.status === 200).map((answer) => answer?.body);
    expect(new Set(answers.map((answer) => answer?.status)).difference(new Set([200, 409]))).toEqual(
      new Set(),
    );
    expect(made.length).toBeGreaterThan(0);
    for (const body of made) {
      expect(body).toEqual(later?.body);
    }
    expect(later?.headers.get("idempotent-replay")).toBe("true");
    expect(await harness.rows("SELECT 1 FROM runs")).toHaveLength(1);
    await harness.check();
  }),
);
