import { closeSync, openSync, readSync } from "node:fs";
import type { Env } from "./secret-values.ts";

const SUFFIX = "_FILE";
const BYTES_MAX = 64 * 1024;

export interface WithFiles {
  readonly env: Env;
  readonly problems: readonly string[];
}

/**
 * Replaces each variable `NAME_FILE` by `NAME` with the content of the file, for variables that hold secrets. Container
 * platforms mount secrets as files. Line breaks at the end are left out, because editors add them.
 */
export function withFiles(environment: Env, secretNames: readonly string[]): WithFiles {
  const env: Record<string, string | undefined> = { ...environment };
  const problems: string[] = [];
  for (const name of secretNames) {
    const file = env[name + SUFFIX];
    delete env[name + SUFFIX];
    if (file === undefined) {
      continue;
    }
    if (env[name] !== undefined) {
      problems.push(`${name} and ${name}${SUFFIX} are both set: remove one of them.`);
      continue;
    }
    try {
      env[name] = contentOf(file);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push(`${name}${SUFFIX}: the file ${file} cannot be used: ${reason}.`);
    }
  }
  return { env, problems };
}

/** Reads a little, because the file may be a device without an end. */
function contentOf(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(BYTES_MAX + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    if (length > BYTES_MAX) {
      throw new Error(`it has more than ${BYTES_MAX / 1024} KiB`);
    }
    const text = bytes.toString("utf8", 0, length).replace(/[\r\n]+$/, "");
    if (text.trim() === "") {
      throw new Error("it is empty");
    }
    return text;
  } finally {
    closeSync(descriptor);
  }
}
