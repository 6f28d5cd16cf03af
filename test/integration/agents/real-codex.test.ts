import { describeRealAgent } from "../../contract/real-agent-contract.ts";

await describeRealAgent("codex");
