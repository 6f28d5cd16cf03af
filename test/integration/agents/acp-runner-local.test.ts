import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { describeAgentRunner } from "../../contract/agent-runner-contract.ts";
import { BARE_RUNNER } from "../../support/agent-harness.ts";

describeAgentRunner("ACP (demo agent, local)", (dataDir) =>
  createAcpRunner({ ...BARE_RUNNER, catalogue: createCatalogue(), sandbox: createLocalSandbox(dataDir) }),
);
