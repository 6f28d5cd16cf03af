import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { atHarness, type Worker } from "./fault-harness.ts";

const WITHOUT_KEY = { ERRAND_ROLE: "api", ERRAND_API_KEY: "" };

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
  "of processes that start at once on a new database one keeps the key, and the other says so",
  {
    timeout: 90_000,
  },
  () =>
    atHarness(async (harness) => {
      const processes = await Promise.all([1, 2].map(() => harness.start(WITHOUT_KEY)));

      const kept = await Promise.all(processes.map(({ dataDir }) => keyIn(dataDir)));
      const [key = ""] = kept.filter((one) => one !== undefined);
      const first = processes[kept.indexOf(key)] ?? expect.fail("Nobody keeps a key.");

      expect(kept.filter((one) => one !== undefined)).toHaveLength(1);
      expect(await harness.rows("SELECT 1 FROM api_keys")).toHaveLength(1);
      expect(await Promise.all(processes.map((one) => opens(one, key)))).toEqual([200, 200]);
      const place = `Your API key is in ${first.dataDir}/api-key`;
      for (const one of processes) {
        await untilSaid(one, one === first ? place : "that one's data directory");
        expect(one.output()).not.toContain(key);
      }

      // Started again, under another secret key: the key in its file is the one that is set.
      await first.end("SIGTERM");
      const { ERRAND_SECRET_KEY: ERRAND_OLD_SECRET_KEYS = "" } = harness.environment();
      const changed = { ERRAND_SECRET_KEY: "canary-of-another-secret-key-51d7e0", ERRAND_OLD_SECRET_KEYS };
      const again = await harness.start({ ...WITHOUT_KEY, ...changed }, first.dataDir);

      await untilSaid(again, place);
      expect([await keyIn(first.dataDir), await opens(again, key)]).toEqual([key, 200]);
      for (const secret of Object.values(changed)) expect(again.output()).not.toContain(secret);
    }),
);
