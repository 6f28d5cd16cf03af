import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type Worker, withFaultHarness } from "./fault-harness.ts";

const WITHOUT_KEY = { ERRAND_ROLE: "api", ERRAND_ADMIN_KEY: "" };

function keyIn(dataDir: string): Promise<string | undefined> {
  return readFile(join(dataDir, "api-key"), "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}

async function opens({ url }: Worker, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/api/v1/agent/whoami`, { headers })).status;
}

function untilSaid({ output }: Worker, words: string): Promise<unknown> {
  return waitFor(() => output().includes(words), { what: words });
}

test(
  "of two processes that start concurrently on a new database one creates the key, and the other logs that",
  {
    timeout: 90_000,
  },
  () =>
    withFaultHarness(async (harness) => {
      const processes = await Promise.all([1, 2].map(() => harness.start(WITHOUT_KEY)));

      const keyFiles = await Promise.all(processes.map(({ dataDir }) => keyIn(dataDir)));
      const [key = ""] = keyFiles.filter((one) => one !== undefined);
      const first = processes[keyFiles.indexOf(key)] ?? expect.fail("No process has a key file.");

      expect(keyFiles.filter((one) => one !== undefined)).toHaveLength(1);
      expect(await harness.rows("SELECT 1 FROM api_keys")).toHaveLength(1);
      expect(await Promise.all(processes.map((one) => opens(one, key)))).toEqual([200, 200]);
      const place = `Your API key is in ${first.dataDir}/api-key`;
      for (const one of processes) {
        await untilSaid(one, one === first ? place : "that one's data directory");
        expect(one.output()).not.toContain(key);
      }

      // The process starts again with another secret key. The key in its file is still the valid one.
      await first.end("SIGTERM");
      const { ERRAND_SECRET_KEY: ERRAND_OLD_SECRET_KEYS = "" } = harness.environment();
      const changed = { ERRAND_SECRET_KEY: "canary-of-another-secret-key-51d7e0", ERRAND_OLD_SECRET_KEYS };
      const again = await harness.start({ ...WITHOUT_KEY, ...changed }, first.dataDir);

      await untilSaid(again, place);
      expect([await keyIn(first.dataDir), await opens(again, key)]).toEqual([key, 200]);
      for (const secret of Object.values(changed)) {
        expect(again.output()).not.toContain(secret);
      }
    }),
);
