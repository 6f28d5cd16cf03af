import { beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import type { Rule } from "../../../../../src/core/model/policies/rule.ts";
import { RuleCache } from "../../../../../src/core/team/policies/run-rules.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../../../support/memory/in-memory-pubsub.ts";
import { aPolicy } from "../../../../support/rule-builders.ts";

let clock: ManualClock;
let pubsub: InMemoryPubSub;
let stored: readonly Rule[];
let reads: TeamId[];
let failure: Error | undefined;
let cache: RuleCache<Rule>;
beforeEach(() => {
  [clock, pubsub, stored, reads, failure] = [new ManualClock(), new InMemoryPubSub(), [], [], undefined];
  const list = async (teamId: TeamId) => {
    reads.push(teamId);
    if (failure !== undefined) {
      throw failure;
    }
    return stored;
  };
  cache = new RuleCache({ records: { list }, channel: "rules", pubsub, clock });
});

describe("the rules of a team", () => {
  test("rules are sorted by priority and then by age, and disabled rules are left out", async () => {
    const at = (time: string) => new Date(`2026-03-01T${time}:00.000Z`);
    stored = [
      aPolicy({ name: "c", priority: 2, createdAt: at("10:00") }),
      aPolicy({ name: "b", priority: 1, createdAt: at("12:00") }),
      aPolicy({ name: "off", priority: 0, enabled: false }),
      aPolicy({ name: "a", priority: 1, createdAt: at("11:00") }),
    ];

    expect((await cache.of(FIRST_TEAM)).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  test("rules are read once for all requests, separately for each team", async () => {
    await Promise.all([cache.of(FIRST_TEAM), cache.of(FIRST_TEAM)]);
    await cache.of(FIRST_TEAM);
    await cache.of("other" as TeamId);

    expect(reads).toEqual([FIRST_TEAM, "other"]);
  });

  test("rules are read again when a change is published", async () => {
    await cache.of(FIRST_TEAM);
    stored = [aPolicy({ name: "new" })];

    pubsub.publish(["rules"]);

    await expect.poll(async () => (await cache.of(FIRST_TEAM)).map(({ name }) => name)).toEqual(["new"]);
  });

  test("rules are read again after five seconds if the notification is lost", async () => {
    await cache.of(FIRST_TEAM);
    stored = [aPolicy({ name: "new" })];

    await clock.advance(4_900);
    expect(await cache.of(FIRST_TEAM)).toEqual([]);
    await clock.advance(100);

    expect(await cache.of(FIRST_TEAM)).toMatchObject([{ name: "new" }]);
  });

  test("rules that could not be read are requested again", async () => {
    failure = new Error("away");
    await expect(cache.of(FIRST_TEAM)).rejects.toThrow("away");
    failure = undefined;

    expect(await cache.of(FIRST_TEAM)).toEqual([]);
  });
});
