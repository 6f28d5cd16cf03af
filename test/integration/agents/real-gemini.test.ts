import { describeRealAgentBriefly } from "../../contract/real-agent-contract.ts";

await describeRealAgentBriefly("gemini");
