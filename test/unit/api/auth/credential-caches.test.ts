import { expect, test } from "vitest";
import { ApiKeyCache } from "../../../../src/api/auth/credential-caches.ts";
import { holderOfKey, type KnownKey } from "../../../../src/core/model/people/api-key.ts";
import type { KeyStore } from "../../../../src/core/ports/stores/people-stores.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../../support/memory/in-memory-pubsub.ts";
import { aPrincipal } from "../../../support/run-builders.ts";

type Look = PromiseWithResolvers<KnownKey | undefined>;

/** A cache on a key store whose results the test provides. */
function aHarness() {
  const looks: Look[] = [];
  const findByHash = () => {
    const look = Promise.withResolvers<KnownKey | undefined>();
    looks.push(look);
    return look.promise;
  };
  const keys = { findByHash, touch: async () => undefined } as unknown as KeyStore;
  const known = new ApiKeyCache({
    keys,
    hashKey: (key) => key,
    formerHashers: [],
    pubsub: new InMemoryPubSub(),
    clock: new ManualClock(new Date("2026-03-01T12:00:00.000Z")),
    log: { warn: () => undefined },
  });
  return { known, looks };
}

function aKey(): KnownKey {
  const principal = aPrincipal();
  const key = {
    id: "key",
    principalId: principal.id,
    name: "x",
    hint: "x",
    scopes: [],
    createdAt: new Date(0),
  };
  return { key, principal };
}

test("concurrent and later requests with the same key share one query", async () => {
  const { known, looks } = aHarness();
  const holder = aKey();

  const finding = [known.findByKey("key"), known.findByKey("key"), known.findByKey("key")];
  looks[0]?.resolve(holder);
  const found = [...(await Promise.all(finding)), await known.findByKey("key")];

  expect(looks).toHaveLength(1);
  expect(found).toEqual(Array.from({ length: 4 }, () => holderOfKey(holder)));
});

test("a query from before a change of keys is not used after the change", async () => {
  const { known, looks } = aHarness();
  const [before, after] = [aKey(), undefined] as const;

  const early = known.findByKey("key");
  known.clear();
  const late = known.findByKey("key");
  looks[1]?.resolve(after);
  looks[0]?.resolve(before);
  const found = [await early, await late];
  void known.findByKey("key");

  expect(found).toEqual([holderOfKey(before), after]);
  expect(looks).toHaveLength(3);
});

test.each<[string, (look: Look | undefined) => void]>([
  ["a key that does not exist", (look) => look?.resolve(undefined)],
  ["a look that failed", (look) => look?.reject(new Error("The database is away."))],
])("the cache does not keep %s", async (_what, end) => {
  const { known, looks } = aHarness();

  const early = known.findByKey("key").catch(() => undefined);
  end(looks[0]);
  await early;
  void known.findByKey("key");

  expect(looks).toHaveLength(2);
});
