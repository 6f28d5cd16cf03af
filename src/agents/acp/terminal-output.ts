import type { AgentUpdate, ToolContent } from "../../core/agents/agent-runner.ts";

/** Only the end of a longer output is kept, because that is where a command reports its result. */
const MAX_OUTPUT_CHARS = 65_536;

/**
 * The output of a terminal arrives in pieces, but the content of a tool call replaces the previous content. This
 * class joins the pieces, so that each update has the whole output.
 */
export class TerminalOutput {
  readonly #outputs = new Map<string, string>();

  joined(update: AgentUpdate): AgentUpdate {
    if (update.kind !== "agent.tool_call" || update.content === undefined) {
      return update;
    }
    const joined = { ...update, content: update.content.map((content) => this.#join(content)) };
    if (update.status === "completed" || update.status === "failed") {
      this.#forget(update.content);
    }
    return joined;
  }

  #join(content: ToolContent): ToolContent {
    if (content.type !== "terminal" || content.output === undefined) {
      return content;
    }
    const output = ((this.#outputs.get(content.terminalId) ?? "") + content.output).slice(-MAX_OUTPUT_CHARS);
    this.#outputs.set(content.terminalId, output);
    return { ...content, output };
  }

  #forget(contents: readonly ToolContent[]): void {
    for (const content of contents) {
      if (content.type === "terminal") {
        this.#outputs.delete(content.terminalId);
      }
    }
  }
}
