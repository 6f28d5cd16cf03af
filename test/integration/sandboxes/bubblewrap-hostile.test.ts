import { describe, expect, test } from "vitest";
import { describeHostileAgent } from "../../contract/hostile-agent-contract.ts";
import { bubblewrapIn, reasonToSkipBubblewrap, reasonToSkipCgroups } from "../../support/bubblewrap.ts";
import { SandboxHarness } from "../../support/sandbox-harness.ts";

const skipped = await reasonToSkipBubblewrap();
const unlimited = skipped ?? (await reasonToSkipCgroups());

describe.skipIf(skipped !== undefined)(
  `bubblewrap${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    describeHostileAgent("bubblewrap", bubblewrapIn, { unlimited });

    test("a hostile agent finds none of bubblewrap's own channels", async () => {
      const harness = await SandboxHarness.open(bubblewrapIn);

      const { out } = await harness.run('for each in /proc/[0-9]*/fd/*; do readlink "$each"; done');

      await harness.close();
      const own = /^(socket:|\/proc\/|\/dev\/null$)/;
      const streams = new Set(out.split("\n").filter((target) => target.startsWith("socket:")));
      expect(streams.size).toBe(3);
      // The kernel lets no other process open an event descriptor.
      expect(out.split("\n").filter((target) => !own.test(target))).toEqual(["anon_inode:[eventfd]", ""]);
    });
  },
);
