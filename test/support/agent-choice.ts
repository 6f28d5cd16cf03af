import { AppError } from "../../src/core/basics/errors.ts";
import type { AgentChoice } from "../../src/core/requests/prepare/new-run.ts";

/** Any model will do; the first agent is the default one. */
export function agentChoice(defaultName: string, ...others: readonly string[]): AgentChoice {
  return {
    needsSandbox: () => false,
    choose: ({ harness }, member = "config") => {
      const name = harness?.type ?? "oz";
      if (name === "oz") {
        return defaultName;
      }
      if (name === defaultName || others.includes(name)) {
        return name;
      }
      throw new AppError("invalid_request", `There is no agent named "${name}" here.`, {
        issues: [{ path: `${member}.harness.type`, message: "is not known" }],
      });
    },
  };
}
