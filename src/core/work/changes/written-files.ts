import type { ToolCallUpdate } from "../../model/runs/agent-update.ts";

/** More are not looked at. */
const PATHS_MAX = 200;
const LINE_END = /[\0\r\n]/;

/** Collects the files that the agent's tools for writing name. A command can write files without naming them. */
export class WrittenFiles {
  readonly #calls = new Set<string>();
  readonly #paths = new Set<string>();

  /** Each is a path as the agent sees it. */
  get paths(): readonly string[] {
    return [...this.#paths];
  }

  onToolCall({ content = [], locations = [], toolCallId, toolKind }: ToolCallUpdate): void {
    if (toolKind === "edit" || toolKind === "move") {
      this.#calls.add(toolCallId);
    }
    const located = this.#calls.has(toolCallId) ? locations.map(({ path }) => path) : [];
    const changed = content.flatMap((part) => (part.type === "diff" ? [part.path] : []));
    for (const path of [...located, ...changed]) {
      if (this.#paths.size < PATHS_MAX && !LINE_END.test(path)) {
        this.#paths.add(path);
      }
    }
  }
}
