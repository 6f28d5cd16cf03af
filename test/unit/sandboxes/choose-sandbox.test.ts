import { describe, expect, test } from "vitest";
import { chooseSandbox, type SandboxChoices } from "../../../src/sandboxes/choose-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";

const DEMO = { name: "demo", isDemo: true };
const REAL = { name: "codex", isDemo: false };

describe("the sandbox choice auto", () => {
  test("auto chooses docker if docker is usable", async () => {
    const { notes, sandbox, warnings } = await chooseSandbox("auto", choices({}));

    expect(sandbox.name).toBe("docker");
    expect({ notes, warnings }).toEqual({ notes: [], warnings: [] });
  });

  test("auto chooses bubblewrap if docker is unusable, and reports the reason", async () => {
    const { notes, requireFor, sandbox } = await chooseSandbox(
      "auto",
      choices({ docker: "no daemon." }),
      "linux",
    );

    expect(sandbox.name).toBe("bubblewrap");
    expect(notes).toEqual([
      "The docker sandbox cannot be used here: no daemon. The bubblewrap sandbox is used instead.",
    ]);
    expect(() => requireFor(REAL)).not.toThrow();
  });

  test("auto chooses seatbelt on macOS if docker is unusable", async () => {
    const { sandbox } = await chooseSandbox("auto", choices({ docker: "no daemon." }), "darwin");

    expect(sandbox.name).toBe("seatbelt");
  });

  test("auto runs only the demo agent if no sandbox is usable", async () => {
    const none = { docker: "no daemon", bubblewrap: "not installed" };
    const { requireFor, sandbox, warnings } = await chooseSandbox("auto", choices(none), "linux");

    expect(sandbox.name).toBe("restricted");
    expect(warnings).toEqual(["restricted keeps nothing"]);
    expect(() => requireFor(DEMO)).not.toThrow();
    expect(() => requireFor(REAL)).toThrow(
      expect.objectContaining({
        code: "environment_setup_failed",
        message: expect.stringMatching(/codex.*no daemon.*not installed/),
        options: { remedy: expect.stringContaining("ERRAND_SANDBOX=local") },
      }),
    );
  });
});

describe("a sandbox chosen by name", () => {
  test("local also runs a real agent, and warns that it isolates nothing", async () => {
    const { requireFor, sandbox, warnings } = await chooseSandbox("local", choices({}));

    expect(sandbox.name).toBe("local");
    expect(warnings).toEqual(["local keeps nothing"]);
    expect(() => requireFor(REAL)).not.toThrow();
  });

  test.each(["docker", "bubblewrap", "seatbelt"] as const)(
    "choosing %s by name fails if it is unusable",
    async (name) => {
      expect((await chooseSandbox(name, choices({}))).sandbox.name).toBe(name);
      await expect(chooseSandbox(name, choices({ [name]: "not here" }))).rejects.toMatchObject({
        code: "environment_setup_failed",
        message: expect.stringContaining("not here"),
        options: { remedy: expect.stringContaining("ERRAND_SANDBOX") },
      });
    },
  );
});

test("the sweep covers every sandbox, not only the chosen one", async () => {
  const { sweep } = await chooseSandbox("bubblewrap", choices({ docker: "no daemon" }));

  expect(await sweep()).toBe(3);
});

function choices(problems: Partial<Record<keyof SandboxChoices, string>>): SandboxChoices {
  return {
    docker: aSandbox("docker", problems.docker),
    bubblewrap: aSandbox("bubblewrap", problems.bubblewrap),
    seatbelt: aSandbox("seatbelt", problems.seatbelt),
    local: aSandbox("local", undefined),
    restricted: aSandbox("restricted", undefined),
  };
}

function aSandbox(name: string, problem: string | undefined): Sandbox {
  return {
    name,
    isolated: name !== "local" && name !== "restricted",
    hasLoopback: name === "docker" || name === "bubblewrap",
    hasMounts: name === "docker" || name === "bubblewrap",
    hasImages: name === "docker",
    unavailable: async () => problem,
    weaknesses: async () => (["local", "restricted"].includes(name) ? [`${name} keeps nothing`] : []),
    spawn: () => {
      throw new Error("not to be used");
    },
    sweep: async () => 1,
  };
}
