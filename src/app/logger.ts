import { type Logger, pino, stdSerializers } from "pino";
import type { Log } from "../core/ports/log.ts";

export type { Logger } from "pino";

/** JSON lines on standard error; standard output is for what a person is told at the start. */
export function createLogger(
  level: string,
  redact: (text: string) => string,
  write: (line: string) => unknown = (line) => process.stderr.write(line),
): Logger {
  const error = (cause: unknown) => (cause instanceof Error ? stdSerializers.err(cause) : cause);
  const destination = { write: (line: string) => write(redact(line)) };
  return pino({ level, base: null, serializers: { error } }, destination);
}

/** The log as the core and the storage want it: the message first. */
export function plainLog(logger: Logger): Log {
  return {
    info: (message, facts = {}) => logger.info(facts, message),
    warn: (message, facts = {}) => logger.warn(facts, message),
    error: (message, facts = {}) => logger.error(facts, message),
  };
}
