import { describe, expect, it } from "vitest";
import type { ApiParts } from "../../../src/api/api-parts.ts";
import { SharedLooks } from "../../../src/api/events/shared-looks.ts";
import type { PrincipalId } from "../../../src/core/ids.ts";
import type { Run } from "../../../src/core/runs/run.ts";
import { aRun } from "../../support/run-builders.ts";

/** Looks that end when the test says so, each with what was there when it began. */
function aBench(run: Run) {
  let stored: Run | undefined = run;
  const ends: (() => void)[] = [];
  const look = <T>(found: T): Promise<T> => new Promise((resolve) => ends.push(() => resolve(found)));
  const storage = { runs: { find: () => look(stored) } } as unknown as ApiParts["storage"];
  const runs = { readEvents: (_id: unknown, after: number) => look([after]) } as unknown as ApiParts["runs"];
  const looks = new SharedLooks({ runs, storage });
  const store = (changes: Partial<Run>) => {
    stored = { ...run, ...changes };
  };
  const endAll = () => {
    for (const end of ends) end();
  };
  const viewer = { id: run.creatorId, teamId: run.teamId, administrator: false };
  return { endAll, ends, looks, store, viewer };
}

describe("looks at a run that many follow", () => {
  it("are one for all who look meanwhile", async () => {
    const run = aRun();
    const { endAll, ends, looks, viewer } = aBench(run);

    const seen = [looks.get(run.id, viewer), looks.get(run.id, viewer), looks.get(run.id, viewer)];
    endAll();

    expect(await Promise.all(seen)).toEqual([run, run, run]);
    expect(ends).toHaveLength(1);
  });

  it("begin anew when there was news, so that nobody is told what was before it", async () => {
    const run = aRun();
    const { endAll, looks, store, viewer } = aBench(run);
    const before = looks.get(run.id, viewer);
    store({ lastSeq: 7 });
    looks.forget(run.id);

    const behind = looks.get(run.id, viewer);
    endAll();

    expect((await before).lastSeq).toBe(run.lastSeq);
    expect((await behind).lastSeq).toBe(7);
  });

  it("begin anew when the one before has ended", async () => {
    const run = aRun();
    const { endAll, ends, looks, viewer } = aBench(run);
    const first = looks.get(run.id, viewer);
    endAll();
    await first;

    void looks.get(run.id, viewer);

    expect(ends).toHaveLength(2);
  });

  it("show the run to those alone who may see it", async () => {
    const run = aRun({ teamOwned: false });
    const { endAll, looks, viewer } = aBench(run);

    const own = looks.get(run.id, viewer);
    const strange = looks.get(run.id, { ...viewer, id: "another" as PrincipalId });
    endAll();

    expect(await own).toEqual(run);
    await expect(strange).rejects.toMatchObject({ code: "resource_not_found" });
  });

  it("at events are one for all who have seen the same", async () => {
    const run = aRun();
    const { endAll, ends, looks } = aBench(run);

    const read = [
      looks.readEvents(run.id, 1, 5),
      looks.readEvents(run.id, 1, 5),
      looks.readEvents(run.id, 2, 5),
    ];
    endAll();

    expect(await Promise.all(read)).toEqual([[1], [1], [2]]);
    expect(ends).toHaveLength(2);
  });
});
