import { expect, test } from "vitest";
import { GIBIBYTE } from "../../../../../src/core/basics/byte-units.ts";
import { sleep } from "../../../../../src/core/basics/clock.ts";
import type { WorkspaceProvider } from "../../../../../src/core/ports/workspace-provider.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";

test("a run whose workspace becomes too large fails with a reason and a remedy", async () => {
  const harness = new CoreHarness();
  await harness.start();
  harness.agents.scripts.push(() => new Promise(() => undefined));
  const { id } = await harness.create();
  await quiet();
  await harness.clock.advance(60_000);
  expect((await harness.run(id)).state).toBe("INPROGRESS");

  harness.workspaces.bytes = 20.5 * GIBIBYTE;
  await harness.clock.advance(9_000);

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

test("a workspace that takes long to measure is measured less often", async () => {
  const harness = new CoreHarness();
  const { clock, workspaces } = harness;
  let looks = 0;
  const size = async () => {
    looks += 1;
    await sleep(clock, 10_000);
    return 0;
  };
  await harness.start(harness.worker({ workspaces: withSize(workspaces, size) }));
  harness.agents.scripts.push(() => new Promise(() => undefined));
  await harness.create();
  await quiet();

  await clock.advance(120_000);

  expect(looks).toBe(3);
});

function withSize(workspaces: WorkspaceProvider, size: WorkspaceProvider["size"]): WorkspaceProvider {
  return new Proxy(workspaces, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      return name === "size" ? size : typeof member === "function" ? member.bind(target) : member;
    },
  });
}
