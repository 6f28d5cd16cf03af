import { expect, test } from "vitest";
import { FIRST_TEAM } from "../../../../src/core/model/people/team.ts";
import type { LiveWorker } from "../../../../src/core/model/workers/worker.ts";
import { environmentImagesCheck } from "../../../../src/core/upkeep/image-check.ts";
import { anEnvironment } from "../../../support/environment-builders.ts";

function examine(sandbox: string, ...images: readonly string[]) {
  const environments = images.map((image, index) => {
    const environment = anEnvironment(String(index));
    return { ...environment, config: { ...environment.config, image } };
  });
  const times = { startedAt: new Date(0), lastSeenAt: new Date(0) };
  const worker: LiveWorker = { id: "w", slots: 1, sandbox: { name: sandbox, isolated: true }, ...times };
  const storage = {
    environments: { list: async () => environments },
    teams: { list: async () => [{ id: FIRST_TEAM }] },
    workers: { listLive: async () => [worker] },
  };
  return environmentImagesCheck(storage, ["docker.io"]).run();
}

test("environments with images of unlisted registries are named with the variable that lists them", async () => {
  const finding = await examine("docker", "node", "ghcr.io/a/b", "GHCR.io/a/c", "10.0.0.7:5000/x");

  expect(finding).toMatchObject({
    status: "warn",
    message: expect.stringMatching(/^3 environments .* than docker\.io: 10\.0\.0\.7:5000, ghcr\.io\./),
    remedy: expect.stringContaining("ERRAND_IMAGE_REGISTRIES"),
  });
});

test("listed images, and workers without images, need nothing", async () => {
  expect(await examine("docker", "node", "acme/app")).toMatchObject({ status: "ok" });
  expect(await examine("bubblewrap", "ghcr.io/a/b")).toMatchObject({ status: "ok" });
});
