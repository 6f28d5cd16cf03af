import { describe } from "vitest";
import { describeHostileAgent } from "../../contract/hostile-agent-contract.ts";
import { bubblewrapIn, reasonToSkipBubblewrap, reasonToSkipCgroups } from "../../support/bubblewrap.ts";

const skipped = await reasonToSkipBubblewrap();
const unlimited = skipped ?? (await reasonToSkipCgroups());

describe.skipIf(skipped !== undefined)(
  `bubblewrap${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => describeHostileAgent("bubblewrap", bubblewrapIn, unlimited),
);
