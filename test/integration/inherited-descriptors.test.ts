import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runWithInherited } from "../support/inherited-descriptors.ts";
import { HAS_PERL } from "../support/system-call-probe.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "test/support/inherited-descriptors-main.ts");
const seenByKind = z.record(z.string(), z.array(z.string()));

describe.skipIf(process.platform !== "linux" || !HAS_PERL)("a process that inherited descriptors", () => {
  test("none of the programs that it starts gets one of them", async () => {
    const { identities, stdout } = await runWithInherited([process.execPath, MAIN]);

    const seen = seenByKind.parse(JSON.parse(stdout));
    const inherited = Object.entries(seen).map(([kind, descriptors]) => [
      kind,
      descriptors.filter((each) => identities.includes(each)).length,
    ]);
    expect(identities).toHaveLength(12);
    expect(Object.fromEntries(inherited)).toEqual({
      // Node closes the lowest ones.
      unprotected: 8,
      bubblewrap: 0,
      "docker call": 0,
      "docker attach": 0,
      git: 0,
      local: 0,
      npm: 0,
      postgres: 0,
    });
  });

  test("the server does not start with a descriptor whose number is too high to replace", async () => {
    const script = 'ulimit -n 512 && exec 500</dev/null && exec "$@"';

    const start = run("bash", ["-c", script, "bash", process.execPath, join(ROOT, "src/main.js")]);

    await expect(start).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/above 448 \(500\).*exec 500>&-/),
    });
  });
});
