import type { Log } from "../../src/core/basics/log.ts";

export const SILENT_LOG: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface RecordedLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly facts?: Record<string, unknown>;
}

/** A log that adds its lines to `lines`. */
export function recordingLog(lines: RecordedLine[]): Log {
  const at = (level: keyof Log) => (message: string, facts?: Record<string, unknown>) =>
    void lines.push({ level, message, ...(facts && { facts }) });
  return { info: at("info"), warn: at("warn"), error: at("error") };
}
