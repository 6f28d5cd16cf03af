import { expect, test } from "vitest";
import { GIBIBYTE } from "../../../../src/core/byte-units.ts";
import { CoreHarness } from "../../../support/core-harness.ts";
import { quiet } from "../../../support/manual-clock.ts";

test("a run whose workspace becomes too large fails with a reason and a remedy", async () => {
  const harness = new CoreHarness();
  await harness.start();
  harness.agents.scripts.push(() => new Promise(() => undefined));
  const { id } = await harness.create();
  await quiet();
  await harness.clock.advance(60_000);
  expect((await harness.run(id)).state).toBe("INPROGRESS");

  harness.workspaces.bytes = 20.5 * GIBIBYTE;
  await harness.clock.advance(60_000);

  expect(await harness.run(id)).toMatchObject({
    state: "FAILED",
    statusMessage: {
      errorCode: "budget_exceeded",
      message: "The workspace has more than 20 GiB, the largest size that is allowed here.",
      remedy: expect.stringContaining("ERRAND_MAX_WORKSPACE_GIB"),
      retryable: false,
    },
  });
  expect(harness.agents.open).toBe(0);
});
