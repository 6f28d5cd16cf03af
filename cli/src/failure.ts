import {
  APIError,
  APIUserAbortError,
  BadRequestError,
  PermissionDeniedError,
  type RunItem,
} from "@errand/client";

/** What the exit codes of the program mean. */
export const EXIT = {
  ok: 0,
  /** The run FAILED or ended with ERROR, or the command failed. */
  failed: 1,
  usage: 2,
  cancelled: 3,
  /** Not signed in, or not allowed. */
  notAllowed: 4,
  /** The run waits for a person. */
  waits: 5,
  /** The run succeeded, but not all of its work was handed over: the push, the pull request or files are missing. */
  refused: 6,
  timedOut: 124,
  interrupted: 130,
  /** As if ended by SIGPIPE, which Node ignores. */
  outputClosed: 141,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error with what the user can do about it. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly remedy: string | undefined;
  readonly requestId: string | undefined;

  constructor(message: string, remedy?: string, exitCode: ExitCode = EXIT.failed, requestId?: string) {
    super(message);
    this.remedy = remedy;
    this.exitCode = exitCode;
    this.requestId = requestId;
  }
}

/** The command was written in a way that is not possible. */
export class UsageError extends CliError {
  constructor(message: string, remedy?: string) {
    super(message, remedy, EXIT.usage);
  }
}

/** Ends the program without a message, because everything has been said. */
export class Exit extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** An error as lines for people: what is wrong, what to do, the id of the request. */
export interface Failure {
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly requestId?: string | undefined;
  readonly exitCode: ExitCode;
}

const CHANGED = "It was changed meanwhile by another caller. Nothing was changed by this command.";
const CHANGED_REMEDY = "Look at it with get, and repeat the command if it is still right.";

export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) {
    const { exitCode, message, remedy, requestId } = error;
    return { message, remedy, requestId, exitCode };
  }
  if (error instanceof APIError) {
    const { issues = [], message, requestId } = error;
    // The message may name the first one.
    const others = issues
      .filter((issue) => !message.includes(issue.path) || !message.includes(issue.message))
      .map((issue) => `${issue.path}: ${issue.message}`);
    if (error.status === 412) {
      return { message: CHANGED, remedy: CHANGED_REMEDY, requestId, exitCode: EXIT.failed };
    }
    const exitCode = exitCodeOf(error);
    return { message: [message, ...others].join("; "), remedy: remedyOf(error), requestId, exitCode };
  }
  if (error instanceof APIUserAbortError) {
    return { message: "The command was stopped.", exitCode: EXIT.interrupted };
  }
  return { message: error instanceof Error ? error.message : String(error), exitCode: EXIT.failed };
}

/** Some remedies are for programs that send requests themselves. */
function remedyOf({ headers, remedy = "" }: APIError): string | undefined {
  const seconds = headers.get("retry-after");
  if (seconds !== null) {
    return `Try again in ${seconds} seconds.`;
  }
  return /`issues`|Retry-After|Authorization/.test(remedy) ? undefined : remedy || undefined;
}

function exitCodeOf(error: APIError): ExitCode {
  if (error instanceof PermissionDeniedError) {
    return EXIT.notAllowed;
  }
  return error instanceof BadRequestError ? EXIT.usage : EXIT.failed;
}

/** The exit code for a run as it is now. */
export function exitCodeOfRun({ outcome, state }: Pick<RunItem, "outcome" | "state">): ExitCode {
  switch (state) {
    case "SUCCEEDED":
      return (outcome?.refused ?? []).length === 0 ? EXIT.ok : EXIT.refused;
    case "CANCELLED":
      return EXIT.cancelled;
    case "BLOCKED":
      return EXIT.waits;
    case "FAILED":
    case "ERROR":
      return EXIT.failed;
    default:
      return EXIT.ok;
  }
}
