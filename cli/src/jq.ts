import { readFile } from "node:fs/promises";
import { loadJq } from "jq-wasm";
import { UsageError } from "./failure.ts";

/** Applies a jq expression to a value. */
export interface JqFilter {
  /** Calls `write` with each result as compact JSON, and throws when the expression fails. */
  apply(value: unknown, write: (json: string) => void): void;
}

/** jq itself. The build puts it beside the program. */
const WASM_FILE = new URL("jq.wasm", import.meta.url);
/** WebAssembly has no environment of its own, so that `$ENV` and `env` are defined here. */
const WITH_ENVIRONMENT = "$__env as $ENV | def env: $ENV;\n";

/** Compiles the expression. Throws before anything is sent to the server when it is not valid. */
export async function compileJq(expression: string): Promise<JqFilter> {
  const jq = await loadJq({ wasmBinary: await readFile(WASM_FILE) });
  const program = WITH_ENVIRONMENT + (expression.trim() === "" ? "." : expression);
  const flags = ["-c", "--argjson", "__env", JSON.stringify(process.env), "--"];
  const apply = (text: string) => jq.raw(text, program, flags);
  // Without an input, jq only compiles.
  requireSuccess(apply(""));
  return {
    apply(value, write) {
      const result = apply(JSON.stringify(value) ?? "null");
      for (const line of result.stdout.split("\n").filter((text) => text !== "")) {
        write(line);
      }
      requireSuccess(result);
    },
  };
}

/** jq names places in the program that it was given, which is longer than what the user has written. */
function requireSuccess({ exitCode, stderr }: ReturnType<Awaited<ReturnType<typeof loadJq>>["raw"]>): void {
  if (exitCode !== 0) {
    const [first = ""] = stderr.split("\n");
    const reason = first.replace(/^jq: (error( \(at [^)]*\))?: )?/, "").replace(/ at <top-level>.*$/, "");
    throw new UsageError(`The jq expression failed: ${reason}`);
  }
}
