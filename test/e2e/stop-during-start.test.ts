import { existsSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { type ServiceProcess, spawnService } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

/** The timeout is generous because other tests may run at the same time. */

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(() => removeFolder(folder));

const pidFile = () => `${folder}/data/postgres/postmaster.pid`;

const MOMENTS: readonly [string, (service: ServiceProcess) => boolean][] = [
  ["its database is being created", () => existsSync(`${folder}/data/postgres`)],
  ["its database has started", () => existsSync(pidFile())],
  ["migrations are applied", ({ output }) => output().includes("storage.migration.applied")],
];

test.each(MOMENTS)(
  "a signal that arrives while %s stops the server together with its database",
  async (_, isMoment) => {
    const service = spawnService(`${folder}/data`);
    const ended = new Promise<number | null>((resolve) =>
      service.child.once("exit", (code) => resolve(code)),
    );
    await waitFor(() => isMoment(service), { what: "the moment", everyMs: 1, timeoutMs: 30_000 });

    service.child.kill("SIGTERM");

    expect([await ended, service.output()]).toEqual([0, expect.not.stringContaining("Errand is ready")]);
    expect(service.output()).toContain("app.stopping");
    expect(service.output()).toContain("Errand stops as soon as it has started.");
    expect(existsSync(pidFile())).toBe(false);
  },
);
