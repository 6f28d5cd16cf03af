import { describe } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { describeAgentRunner } from "../../contract/agent-runner-contract.ts";
import { BARE_RUNNER } from "../../support/agent-harness.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";

const skipped = await reasonToSkipBubblewrap();

describe.skipIf(skipped !== undefined)(
  `bubblewrap${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    describeAgentRunner("ACP (demo agent, bubblewrap)", (dataDir) =>
      createAcpRunner({ ...BARE_RUNNER, catalogue: createCatalogue(), sandbox: bubblewrapIn(dataDir) }),
    );
  },
);
