import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { describeSandbox } from "../../contract/sandbox-contract.ts";
import { describePortForward } from "../../contract/sandbox-port-forward-contract.ts";
import { describeSandboxSweep } from "../../contract/sandbox-sweep-contract.ts";
import { SandboxHarness } from "../../support/sandbox-harness.ts";

describeSandbox("local", createLocalSandbox);
describePortForward("local", createLocalSandbox);
describeSandboxSweep("local", {
  makeSandbox: createLocalSandbox,
  worker: () => ({ kind: "local" }),
  endsWithWorker: false,
});

describe("the local sandbox", () => {
  test("the local sandbox reports that it isolates nothing", async () => {
    expect(createLocalSandbox("/nowhere").isolated).toBe(false);
    expect(await createLocalSandbox("/nowhere").weaknesses()).toEqual([
      expect.stringMatching(/every run can read.*secret key/),
    ]);
  });

  test("a port forward reports a port that is already in use", async () => {
    const harness = await SandboxHarness.open(createLocalSandbox);
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;

    const exit = await harness.shell("true", { portForward: { socketPath: join(harness.root, "s"), port } })
      .exited;
    await new Promise((resolve) => server.close(resolve));
    await harness.close();

    expect(exit).toMatchObject({ code: 127, reason: expect.stringMatching(/EADDRINUSE/) });
  });
});
