import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeLiveEvents } from "./resources/live-events.ts";
import { describePeople } from "./resources/people.ts";
import { openResourcesFixture, type ResourcesFixture } from "./resources/resources-fixture.ts";
import { describeRuns } from "./resources/runs.ts";
import { describeServer } from "./resources/server.ts";
import { describeSettings } from "./resources/settings.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const DOCUMENT = resolve(import.meta.dirname, "../../../docs/openapi.json");
/** Aliases of other operations, addresses that are given by the server, and what `asResponse` follows. */
const WITHOUT_METHOD = [
  "runAgent",
  "listTasks",
  "getTask",
  "cancelTask",
  "downloadRunTranscript",
  "downloadArtifactFile",
  "downloadRunArtifact",
  "downloadRunChanges",
];

let fixture: ResourcesFixture;
beforeAll(async () => {
  fixture = await openResourcesFixture();
});
afterAll(() => fixture.close());

describeRuns(() => fixture);
describeLiveEvents(() => fixture);
describeSettings(() => fixture);
describePeople(() => fixture);
describeServer(() => fixture);

/** Runs last, because it looks at the requests of all tests before. */
test("every operation of the API has been called by a method of the client", async () => {
  const { paths } = JSON.parse(await readFile(DOCUMENT, "utf8")) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  };
  const missing = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => {
        const pattern = path.replace("/api/v1", "").replaceAll(/\{\w+\}/g, "[^/]+");
        return !fixture.requests.some((request) =>
          new RegExp(`^${method.toUpperCase()} ${pattern}$`).test(request),
        );
      })
      .map(([, { operationId }]) => operationId),
  );

  expect(missing.toSorted()).toEqual(WITHOUT_METHOD.toSorted());
});
