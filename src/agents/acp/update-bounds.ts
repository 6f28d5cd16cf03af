import type { AgentUpdate } from "../../core/ports/agent-runner.ts";

/** What nobody but a program reads is shown for as long as it is of a size to be looked at. */
const MAX_RAW_CHARS = 65_536;

/** The update without the raw parts that are too large to be kept: some agents put whole files there, several times over. */
export function boundedUpdate(update: AgentUpdate): AgentUpdate {
  if (update.kind === "agent.other") return { ...update, data: boundedData(update.data) };
  if (update.kind !== "agent.tool_call") return update;
  const { rawInput, rawOutput } = update;
  return {
    ...update,
    ...(rawInput === undefined ? {} : { rawInput: boundedData(rawInput) }),
    ...(rawOutput === undefined ? {} : { rawOutput: boundedData(rawOutput) }),
  };
}

function boundedData(data: unknown): unknown {
  const { length } = JSON.stringify(data) ?? "";
  return length <= MAX_RAW_CHARS ? data : { leftOut: `${length} characters` };
}
