import { cleaned } from "../../basics/clean-text.ts";
import type { Clock, Stop } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import type { ToolCallUpdate, ToolContent } from "../../model/runs/agent-update.ts";
import type { Redactor } from "../../ports/redactor.ts";
import { addedText, CappedOutput, capped } from "./capped-output.ts";

/** The output of running calls is stored this often. */
const OUTPUT_MS = 250;
/** What one call may store again and again, because its agent replaces its content, before only its end is stored. */
const REPLACED_LENGTH_MAX = 256 * 1_024;
/** A shorter text is not worth a reference to its first place. */
const REPEATED_LENGTH_MIN = 200;
const REPEATED = "[the same text as in the content]";
const REPEATED_DEPTH = 5;
/** Beyond this number the oldest call counts as ended. */
const OPEN_CALLS_MAX = 100;

export interface ToolCallLogDeps {
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly store: (update: ToolCallUpdate) => void;
}

/**
 * Stores what the updates of tool calls add. Agents repeat members that did not change, and many send the whole output
 * of a command with every piece of it. Of such updates only the further output is stored, a few times a second.
 */
export class ToolCallLog {
  readonly #deps: ToolCallLogDeps;
  readonly #open = new Map<string, OpenCall>();
  #timer: Stop | undefined;

  constructor(deps: ToolCallLogDeps) {
    this.#deps = deps;
  }

  add(update: ToolCallUpdate): void {
    const { toolCallId, status } = update;
    const call = this.#open.get(toolCallId) ?? this.#begin(toolCallId);
    const isNews = call.take(update);
    if (status === "completed" || status === "failed") {
      this.#end(call);
    } else if (isNews) {
      this.#store(call.piece());
    } else {
      this.#timer ??= this.#deps.clock.after(OUTPUT_MS, () => this.#storePieces());
    }
  }

  /** Stores everything. Nothing is known of any call afterwards, because another turn may begin. */
  flush(): void {
    this.#stopTimer();
    for (const call of this.#open.values()) {
      this.#end(call);
    }
  }

  #begin(toolCallId: string): OpenCall {
    const [oldest] = this.#open.values();
    if (oldest !== undefined && this.#open.size >= OPEN_CALLS_MAX) {
      this.#end(oldest);
    }
    const call = new OpenCall(toolCallId, this.#deps.redactor);
    this.#open.set(toolCallId, call);
    return call;
  }

  #end(call: OpenCall): void {
    this.#open.delete(call.toolCallId);
    this.#store(call.rest());
  }

  #storePieces(): void {
    this.#stopTimer();
    for (const call of this.#open.values()) {
      this.#store(call.piece());
    }
  }

  #store(update: ToolCallUpdate | undefined): void {
    if (update !== undefined) {
      this.#deps.store(update);
    }
  }

  #stopTimer(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}

type Head = Omit<ToolCallUpdate, "kind" | "toolCallId" | "content" | "output" | "rawOutput">;

/** A tool call that has not ended. */
class OpenCall {
  readonly toolCallId: string;
  readonly #redactor: Redactor;
  /** The members that were taken, as JSON, by name. */
  readonly #known = new Map<string, string>();
  #head: Head = {};
  /** As the agent sent it last. */
  #content: readonly ToolContent[] | undefined;
  /** Content that is not stored yet. It replaces the content and the output before it. */
  #replacement: readonly ToolContent[] | undefined;
  #replacedLength = 0;
  #rawOutput: unknown;
  #output: CappedOutput;

  constructor(toolCallId: string, redactor: Redactor) {
    this.toolCallId = toolCallId;
    this.#redactor = redactor;
    this.#output = new CappedOutput(redactor);
  }

  /** True when there is more than further output, so that readers should learn of it at once. */
  take({ kind: _, toolCallId: __, content, output, rawOutput, ...head }: ToolCallUpdate): boolean {
    const isFirst = this.#known.size === 0 && this.#content === undefined;
    this.#head = { ...this.#head, ...this.#changedOf(head) };
    if (content !== undefined) {
      this.#takeContent(content);
    }
    if (output !== undefined) {
      this.#output.add(output);
    }
    if (rawOutput !== undefined) {
      this.#rawOutput = rawOutput;
    }
    return isFirst || Object.keys(this.#head).length > 0;
  }

  /** What can be stored while the call continues. */
  piece(): ToolCallUpdate | undefined {
    if (this.#replacement !== undefined && this.#replacedLength > REPLACED_LENGTH_MAX) {
      return this.#update({});
    }
    const content = this.#beginning();
    const output = this.#output.take();
    return this.#update(defined({ content, output: output === "" ? undefined : output }));
  }

  /** Everything that is not stored yet. The call ends with it. */
  rest(): ToolCallUpdate | undefined {
    const content = this.#replacement?.map((part) => this.#capped(part));
    const output = this.#output.end();
    const rawOutput = withoutRepeated(this.#rawOutput, (this.#content ?? []).map(textOf));
    return this.#update(
      defined({
        content,
        output: output === "" ? undefined : output,
        rawOutput,
      }),
    );
  }

  #takeContent(content: readonly ToolContent[]): void {
    const added = addedOutput(this.#content, content);
    this.#content = content;
    if (added === undefined) {
      this.#replacement = content;
      this.#output = new CappedOutput(this.#redactor);
    } else if (this.#replacement === undefined) {
      this.#output.add(added);
    } else {
      this.#replacement = content;
    }
  }

  /** The waiting content, of which the last text is only as long as it can be stored now. The output continues it. */
  #beginning(): readonly ToolContent[] | undefined {
    const content = this.#replacement;
    const last = content?.at(-1);
    this.#replacement = undefined;
    if (content === undefined || last === undefined) {
      return content;
    }
    this.#output.add(textOf(last));
    const stored = [
      ...content.slice(0, -1).map((part) => this.#capped(part)),
      withText(last, this.#output.take()),
    ];
    this.#replacedLength += stored.reduce((sum, part) => sum + textOf(part).length, 0);
    return stored;
  }

  #capped(content: ToolContent): ToolContent {
    return withText(content, capped(this.#redactor.redact(textOf(content))));
  }

  #update(body: Pick<ToolCallUpdate, "content" | "output" | "rawOutput">): ToolCallUpdate | undefined {
    const members = { ...this.#head, ...body };
    this.#head = {};
    return Object.keys(members).length === 0
      ? undefined
      : { kind: "agent.tool_call", toolCallId: this.toolCallId, ...members };
  }

  #changedOf(head: Head): Head {
    const changed = Object.entries(head).filter(([name, value]) => {
      const json = JSON.stringify(cleaned(value, (text) => text));
      const isNew = this.#known.get(name) !== json;
      this.#known.set(name, json);
      return isNew;
    });
    return Object.fromEntries(changed);
  }
}

/** What `after` adds to the last text of `before`; undefined: it differs in another way. */
function addedOutput(
  before: readonly ToolContent[] | undefined,
  after: readonly ToolContent[],
): string | undefined {
  const [last, next] = [before?.at(-1), after.at(-1)];
  if (before === undefined || last === undefined || next === undefined || before.length !== after.length) {
    return undefined;
  }
  const others = (content: readonly ToolContent[], end: ToolContent) =>
    JSON.stringify(cleaned([...content.slice(0, -1), withText(end, "")], (text) => text));
  return others(before, last) === others(after, next) ? addedText(textOf(last), textOf(next)) : undefined;
}

function textOf(content: ToolContent): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "terminal":
      return content.output ?? "";
    case "diff":
    case "other":
      return "";
    default:
      return content satisfies never;
  }
}

function withText(content: ToolContent, text: string): ToolContent {
  switch (content.type) {
    case "text":
      return { ...content, text };
    case "terminal":
      return text === ""
        ? { type: "terminal", terminalId: content.terminalId }
        : { ...content, output: text };
    case "diff":
    case "other":
      return content;
    default:
      return content satisfies never;
  }
}

/** Raw output often repeats the content, sometimes twice. */
function withoutRepeated(value: unknown, texts: readonly string[], depth = 0): unknown {
  if (typeof value === "string") {
    const isRepeated =
      value.length >= REPEATED_LENGTH_MIN &&
      texts.some((text) => text.includes(value) || addedText(text, value) === "");
    return isRepeated ? REPEATED : value;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth === REPEATED_DEPTH) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutRepeated(member, texts, depth + 1)]),
  );
}
