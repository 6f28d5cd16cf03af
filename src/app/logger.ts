import { type Logger, pino, stdSerializers } from "pino";
import type { Log } from "../core/basics/log.ts";

export type { Logger } from "pino";

/** Writes JSON lines to standard error. Standard output is for the start-up message to the user. */
export function createLogger(
  level: string,
  redact: (text: string) => string,
  write: (line: string) => unknown = (line) => process.stderr.write(line),
): Logger {
  const error = (cause: unknown) => (cause instanceof Error ? stdSerializers.err(cause) : cause);
  const destination = { write: (line: string) => write(redact(line)) };
  return pino({ level, base: null, serializers: { error } }, destination);
}

/** The log as the core and the storage use it: the message comes first. */
export function plainLog(logger: Logger): Log {
  return {
    info: (message, facts = {}) => logger.info(facts, message),
    warn: (message, facts = {}) => logger.warn(facts, message),
    error: (message, facts = {}) => logger.error(facts, message),
  };
}
