import { describe, expect, it } from "vitest";
import { chooseSandbox } from "../../../src/sandboxes/choose-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";

const DEMO = { name: "demo", isDemo: true };
const REAL = { name: "codex", isDemo: false };

describe("auto", () => {
  it("takes bubblewrap where it can be used", async () => {
    expect((await chooseSandbox("auto", REAL, choices(undefined))).name).toBe("bubblewrap");
    expect((await chooseSandbox("auto", DEMO, choices(undefined))).name).toBe("bubblewrap");
  });

  it("runs the demo agent, and it alone, without a sandbox where there is none", async () => {
    expect((await chooseSandbox("auto", DEMO, choices("not installed"))).name).toBe("local");
    await expect(chooseSandbox("auto", REAL, choices("not installed"))).rejects.toMatchObject({
      code: "environment_setup_failed",
      message: expect.stringContaining("not installed"),
      options: { remedy: expect.stringContaining("ERRAND_SANDBOX=local") },
    });
  });
});

describe("by name", () => {
  it("local is given to a real agent too", async () => {
    expect((await chooseSandbox("local", REAL, choices(undefined))).name).toBe("local");
  });

  it("bubblewrap is refused where it cannot be used, also for the demo agent", async () => {
    await expect(chooseSandbox("bubblewrap", DEMO, choices("no namespaces"))).rejects.toMatchObject({
      code: "environment_setup_failed",
      message: expect.stringContaining("no namespaces"),
    });
  });

  it("docker is refused with what to set instead", async () => {
    await expect(chooseSandbox("docker", DEMO, choices(undefined))).rejects.toMatchObject({
      code: "environment_setup_failed",
      options: { remedy: expect.stringContaining("bubblewrap") },
    });
  });
});

function choices(problem: string | undefined): { bubblewrap: Sandbox; local: Sandbox } {
  return { bubblewrap: aSandbox("bubblewrap", problem), local: aSandbox("local", undefined) };
}

function aSandbox(name: string, problem: string | undefined): Sandbox {
  return {
    name,
    isolated: name !== "local",
    unavailable: async () => problem,
    spawn: () => {
      throw new Error("not to be used");
    },
  };
}
