import { describe, expect, test } from "vitest";
import { PrincipalCache } from "../../../../src/api/auth/principal-cache.ts";
import type { PrincipalId, TeamId } from "../../../../src/core/basics/ids.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { aPrincipal } from "../../../support/run-builders.ts";

/** A cache on a store that records its queries. */
function aHarness(...people: Principal[]) {
  const stored = new Map(people.map((principal) => [principal.id, principal]));
  const asked: PrincipalId[][] = [];
  const listeners: (() => void)[] = [];
  const pubsub = {
    publish: () => undefined,
    subscribe: (_channel: string, listener: () => void) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const publishChange = () => {
    for (const listener of listeners) {
      listener();
    }
  };
  const clock = new ManualClock(new Date("2026-03-01T12:00:00.000Z"));
  let beforeAnswer: () => void = () => undefined;
  const getMany = async (ids: readonly PrincipalId[]) => {
    asked.push([...ids]);
    const found = ids.flatMap((id) => stored.get(id) ?? []);
    beforeAnswer();
    return found;
  };
  let lists = 0;
  const list = async (teamId: TeamId) => {
    lists += 1;
    return [...stored.values()].filter((principal) => principal.teamId === teamId);
  };
  const known = new PrincipalCache({ people: { getMany, list }, pubsub, clock });
  const nameOf = async (id: PrincipalId) => (await known.getMany(new Set([id]))).get(id)?.displayName;
  const rename = (principal: Principal, displayName: string) => {
    stored.set(principal.id, { ...principal, displayName });
  };
  const meanwhile = (work: () => void) => {
    beforeAnswer = work;
  };
  return { asked, countLists: () => lists, clock, known, meanwhile, nameOf, rename, publishChange };
}

describe("principal cache", () => {
  test("principals are read once, all missing ones in one query", async () => {
    const [ada, bob] = [aPrincipal(), aPrincipal()];
    const { asked, known } = aHarness(ada, bob);

    await known.getMany(new Set([ada.id]));
    const both = await known.getMany(new Set([ada.id, bob.id]));

    expect(asked).toEqual([[ada.id], [bob.id]]);
    expect(new Set(both.values())).toEqual(new Set([ada, bob]));
  });

  test("a changed name is shown at once after a notification, and after a short time without one", async () => {
    const ada = aPrincipal({ displayName: "Ada" });
    const { clock, nameOf, rename, publishChange } = aHarness(ada);
    await nameOf(ada.id);

    rename(ada, "Ada L.");
    expect(await nameOf(ada.id)).toBe("Ada");
    publishChange();
    expect(await nameOf(ada.id)).toBe("Ada L.");

    rename(ada, "Countess");
    await clock.advance(5_000);
    expect(await nameOf(ada.id)).toBe("Countess");
  });

  test("the members of a team are read once, and again after a notification or a short time", async () => {
    const ada = aPrincipal();
    const { clock, countLists, known, publishChange } = aHarness(ada);

    const [members] = await Promise.all([known.listTeam(ada.teamId), known.listTeam(ada.teamId)]);
    expect([members, countLists()]).toEqual([[ada], 1]);
    publishChange();
    await known.listTeam(ada.teamId);
    expect(countLists()).toBe(2);
    await clock.advance(5_000);
    await known.listTeam(ada.teamId);
    expect(countLists()).toBe(3);
  });

  test("principals are not cached if a notification arrives during the query", async () => {
    const ada = aPrincipal({ displayName: "Ada" });
    const { meanwhile, nameOf, rename, publishChange } = aHarness(ada);
    meanwhile(publishChange);
    expect(await nameOf(ada.id)).toBe("Ada");

    rename(ada, "Ada L.");

    expect(await nameOf(ada.id)).toBe("Ada L.");
  });

  test("principals that do not exist are left out", async () => {
    const { nameOf } = aHarness();

    expect(await nameOf(aPrincipal().id)).toBeUndefined();
  });
});
