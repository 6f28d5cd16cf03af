import { createAcpRunner } from "../../../src/agents/acp/acp-runner.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { describeAgentRunner } from "../../contract/agent-runner-contract.ts";

const log = { debug: () => {}, warn: () => {} };

describeAgentRunner("ACP (demo agent, local)", (dataDir) =>
  createAcpRunner({ catalogue: createCatalogue(), sandbox: createLocalSandbox(dataDir), log }),
);
