import { expect, test } from "vitest";
import type { ThreadKey } from "../../../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { InboxHarness } from "./inbox-harness.ts";

const [HERE, THERE, WHOLE] = ["memory:T1:U1", "memory:T2:U1", "memory:E1:U1"] as const;

test("the next message of a person with two principals makes the runs of both theirs", async () => {
  const harness = new InboxHarness();
  await harness.start();
  const { identities, people, runs } = harness.storage;
  await harness.receive({ author: { subject: HERE } });
  const before = await harness.currentRun();
  await harness.clock.advance(1_000);
  await harness.receive({ author: { subject: THERE }, key: "thread-2" as ThreadKey });
  const [one, other] = [HERE, THERE].map((subject) => identities.find(FIRST_TEAM, subject));
  expect((await one)?.principalId).not.toBe((await other)?.principalId);

  await harness.receive({
    author: { subject: THERE, aliases: [WHOLE, HERE] },
    key: "thread-3" as ThreadKey,
  });

  const stays = before.creatorId;
  const all = await runs.list({
    viewer: { id: stays, teamId: FIRST_TEAM, administrator: false },
    filters: { creatorId: stays },
    sort: "created_at",
    order: "asc",
    limit: 10,
  });
  expect(all.runs).toHaveLength(3);
  const enabled = (await people.list(FIRST_TEAM)).filter(({ disabled }) => !disabled);
  expect(enabled.map(({ id }) => id)).toEqual([stays]);
});
