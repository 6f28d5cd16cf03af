import { AppError, StartupError } from "../core/basics/errors.ts";

/** Runs a command of the operator. An expected failure is one line on standard error. Returns the exit code. */
export async function operatorCommand(work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (!(error instanceof AppError || error instanceof StartupError)) {
      throw error;
    }
    const remedy = error instanceof AppError ? error.options.remedy : undefined;
    process.stderr.write(`${[error.message, remedy].filter(Boolean).join(" ")}\n`);
    return 1;
  }
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
