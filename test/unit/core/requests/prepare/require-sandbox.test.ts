import { beforeEach, expect, test } from "vitest";
import type { Worker } from "../../../../../src/core/model/workers/worker.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  const plain = anEnvironment("plain");
  await harness.storage.environments.add(plain);
  await harness.storage.environments.add({
    ...{ ...plain, id: "imaged" },
    config: { ...plain.config, name: "imaged", image: "node:24" },
  });
});

async function workers(...all: readonly Partial<Worker>[]): Promise<void> {
  for (const [index, worker] of all.entries()) {
    const sandbox = { name: "bubblewrap", isolated: true };
    await harness.storage.workers.beat({ id: `w${index}`, slots: 1, sandbox, ...worker });
  }
}

const DOCKER = { sandbox: { name: "docker", isolated: true } };

function create(environmentId: string, workerHost?: string) {
  const host = workerHost === undefined ? {} : { worker_host: workerHost };
  return harness.create({ config: { environment_id: environmentId, ...host } });
}

test("a run in an environment with an image is refused while no worker has images", async () => {
  await workers({}, {});

  await expect(create("imaged")).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("wants the image node:24, and no worker"),
    options: {
      remedy: expect.stringContaining("ERRAND_SANDBOX=docker"),
      issues: [{ path: "config.environment_id" }],
    },
  });
});

test("a run in an environment with an image is refused if only workers of another host have images", async () => {
  await workers({ host: "plain-box" }, { host: "docker-box", ...DOCKER });

  await expect(create("imaged", "plain-box")).rejects.toMatchObject({ code: "invalid_request" });
  await expect(create("imaged", "docker-box")).resolves.toMatchObject({ state: "QUEUED" });
});

test("a run in an environment with an image is accepted if one worker has images", async () => {
  await workers({}, DOCKER);

  await expect(create("imaged")).resolves.toMatchObject({ state: "QUEUED" });
});

test("a run in an environment with an image is accepted without any live worker", async () => {
  await expect(create("imaged")).resolves.toMatchObject({ state: "QUEUED" });
});

test("a run in an environment without an image is accepted by workers without images", async () => {
  await workers({});

  await expect(create("plain")).resolves.toMatchObject({ state: "QUEUED" });
});
