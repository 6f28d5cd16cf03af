import { expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { RunWorkerDeps } from "../../../../../src/core/work/attempts/run-worker.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { InMemoryImages } from "../../../../support/memory/in-memory-images.ts";

async function aWorkerWithImages(changes: Partial<RunWorkerDeps> = {}) {
  const harness = new CoreHarness();
  const images = new InMemoryImages();
  await harness.start(harness.worker({ images, ...changes }));
  const createIn = async (image: string) => {
    const environment = anEnvironment(image.padEnd(22, "x"));
    await harness.storage.environments.add({
      ...environment,
      config: { ...environment.config, image },
    });
    const { id } = await harness.create({ config: { environment_id: environment.id } });
    await quiet();
    return id;
  };
  const stateOf = async (id: RunId) => (await harness.run(id)).state;
  return { createIn, harness, images, stateOf };
}

test("a run waits for the pull of its image without a claim, and is worked on as soon as the pull ends", async () => {
  const { createIn, harness, images, stateOf } = await aWorkerWithImages();
  const id = await createIn("new");
  const waiting = await harness.run(id);

  images.finish("new", true);
  await quiet();

  expect(waiting).toMatchObject({ state: "QUEUED", attempt: 0, lostAttempts: 0 });
  expect(waiting.lease).toBeUndefined();
  expect(await stateOf(id)).toBe("SUCCEEDED");
  expect((await harness.run(id)).attempt).toBe(1);
  const bodies = (await harness.events(id)).map(({ body }) => body);
  expect(bodies.filter(({ kind }) => kind === "agent.notice")).toMatchObject([
    { text: "The worker pulls the image new first." },
  ]);
});

test("runs that wait for pulls leave all slots to others", async () => {
  const { createIn, harness, images, stateOf } = await aWorkerWithImages();
  const waiting = [];
  for (const image of ["a", "b", "c", "d", "e", "f"]) {
    waiting.push(await createIn(image));
  }

  const { id } = await harness.create();
  await quiet();

  expect(await stateOf(id)).toBe("SUCCEEDED");
  expect(await Promise.all(waiting.map(stateOf))).toEqual(waiting.map(() => "QUEUED"));
  expect(images.pulling).toHaveLength(6);
});

test("thirty cancelled runs end their pulls", async () => {
  const { createIn, harness, images, stateOf } = await aWorkerWithImages();
  const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => createIn(`image${index}`)));
  expect(images.pulling).toHaveLength(30);

  for (const id of ids) {
    await harness.cancel(id);
  }

  expect(images.pulling).toEqual([]);
  expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map(() => "CANCELLED"));
});

test("a cancel whose notification was lost ends the pull seconds later", async () => {
  const deaf = { publish: () => undefined, subscribe: () => () => undefined };
  const { createIn, harness, images } = await aWorkerWithImages({ pubsub: deaf });
  const id = await createIn("new");

  await harness.cancel(id);
  await harness.clock.advance(5_000);
  await quiet();

  expect(images.pulling).toEqual([]);
});

test("a run whose image could not be pulled is claimed, so that its attempt reports the reason", async () => {
  const { createIn, harness, images, stateOf } = await aWorkerWithImages();
  const id = await createIn("missing");

  images.finish("missing", false);
  await quiet();

  expect(images.pulling).toEqual([]);
  expect(harness.workspaces.preparations.at(-1)?.plan.image).toBe("missing");
  expect(await stateOf(id)).toBe("SUCCEEDED");
});

test("another worker takes the run when the worker that pulls is gone", async () => {
  const { createIn, harness, images, stateOf } = await aWorkerWithImages();
  const id = await createIn("new");
  images.present.add("new");

  await harness.clock.advance(60_000);
  await quiet();

  expect(await stateOf(id)).toBe("SUCCEEDED");
  await harness.clock.advance(5_000);
  expect(images.pulling).toEqual([]);
});
