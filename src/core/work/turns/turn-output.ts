import { cutText } from "../../basics/clean-text.ts";
import { AppError } from "../../basics/errors.ts";
import { OUTPUT_SCHEMA_BYTES_MAX, type OutputSchema } from "../../model/runs/output-schema.ts";
import type { Run } from "../../model/runs/run.ts";
import type { SchemaChecker } from "../../ports/schema-checker.ts";
import { type RunFailure, runFailureOf } from "../lease/attempt-abort.ts";

/** What an answer has for the output schema of its run. Empty if the run has none. */
interface ReadOutput {
  readonly data?: unknown;
  /** Set if the answer has no data that matches: how the run ends if it stays so. */
  readonly failure?: RunFailure;
  /** What the agent is told to write its answer again. Absent if another answer cannot help. */
  readonly repair?: string;
}

/** The largest data that is kept with a run. */
const DATA_BYTES_MAX = OUTPUT_SCHEMA_BYTES_MAX;
const NAMED_MAX = 10;
const NAMED_CHARS = 300;

/** The end of a prompt that says how the agent has to answer. */
export function outputRequest(schema: OutputSchema): string {
  return [
    "End your answer with one JSON value in a code block that begins with ```json, and write nothing after the block. The " +
      "value must match this JSON Schema (2020-12):",
    `\`\`\`json\n${JSON.stringify(schema)}\n\`\`\``,
  ].join("\n");
}

/** Reads the answers of a run with an output schema. An answer is read only once. */
export class TurnOutput {
  readonly #schemas: SchemaChecker;
  /** Removes secrets from the data, which an escape in the text may have hidden. */
  readonly #clean: (value: unknown) => unknown;
  #last: { readonly answer: string; readonly output: Promise<ReadOutput> } | undefined;

  constructor(schemas: SchemaChecker, clean: (value: unknown) => unknown) {
    this.#schemas = schemas;
    this.#clean = clean;
  }

  async read(
    { config: { output_schema: schema } }: Pick<Run, "config">,
    answer: string,
  ): Promise<ReadOutput> {
    if (schema === undefined) {
      return {};
    }
    if (this.#last?.answer !== answer) {
      this.#last = { answer, output: this.#read(schema, answer) };
    }
    return this.#last.output;
  }

  async #read(schema: OutputSchema, answer: string): Promise<ReadOutput> {
    const json = jsonIn(answer);
    if (json === undefined) {
      return unmatched(schema, ["It contains no JSON value."]);
    }
    if (new TextEncoder().encode(json.text).length > DATA_BYTES_MAX) {
      return unmatched(schema, [`Its JSON value has more than ${DATA_BYTES_MAX} bytes.`]);
    }
    const data = this.#clean(json.value);
    try {
      const problems = await this.#schemas.check(schema, data);
      return problems.length === 0 ? { data } : unmatched(schema, problems);
    } catch (error) {
      if (error instanceof AppError) {
        return { failure: runFailureOf(error) };
      }
      throw error;
    }
  }
}

function unmatched(schema: OutputSchema, problems: readonly string[]): ReadOutput {
  const named = problems.slice(0, NAMED_MAX).map((problem) => cutText(problem, NAMED_CHARS));
  const more = problems.length > NAMED_MAX ? [`And ${problems.length - NAMED_MAX} more.`] : [];
  const lines = [...named, ...more];
  return {
    failure: {
      message: `The answer of the agent does not match output_schema. ${lines.join(" ")}`,
      errorCode: "invalid_request",
      remedy: "Send a follow-up that says what is missing, or make output_schema simpler.",
    },
    repair: [
      "Your answer does not match the JSON Schema:",
      ...lines.map((line) => `- ${line}`),
      "",
      "Write the answer again. Do no other work.",
      "",
      outputRequest(schema),
    ].join("\n"),
  };
}

/** The JSON value that is the whole answer, or its last code block. */
function jsonIn(answer: string): { readonly text: string; readonly value: unknown } | undefined {
  return parsed(answer) ?? parsed(lastBlockOf(answer));
}

function parsed(text: string): { readonly text: string; readonly value: unknown } | undefined {
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function lastBlockOf(answer: string): string {
  const lines = answer.split("\n");
  const isFence = (line: string) => line.trimStart().startsWith("```");
  const end = lines.findLastIndex(isFence);
  const start = lines.slice(0, Math.max(0, end)).findLastIndex(isFence);
  return start === -1 ? "" : lines.slice(start + 1, end).join("\n");
}
