import { describe } from "vitest";
import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { createBubblewrapSandbox } from "../../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import { describeAgentRunner } from "../../contract/agent-runner-contract.ts";
import { reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";

const skipped = await reasonToSkipBubblewrap();
const log = { debug: () => {}, warn: () => {} };

describe.skipIf(skipped !== undefined)(
  `bubblewrap${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    describeAgentRunner("ACP (demo agent, bubblewrap)", () =>
      createAcpRunner({ catalogue: createCatalogue(), sandbox: createBubblewrapSandbox(), log }),
    );
  },
);
