import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError, type ErrorCode, Misconfigured } from "../../core/basics/errors.ts";

/** The wait that GitHub advises for a secondary limit without a time. */
const SECONDARY_LIMIT_WAIT_MS = 60_000;

interface Failure {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** GitHub's own words. */
  readonly said: string | undefined;
}

const refusalBody = z.object({
  message: z.string(),
  errors: z
    .array(
      z.union([z.string(), z.object({ field: z.string(), code: z.string(), message: z.string() }).partial()]),
    )
    .optional()
    .catch(undefined),
});

/** Wraps what Octokit threw for a call of `route`, which contains placeholders and no secrets. */
export function toAppError(error: unknown, route: string): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const failure = failureOf(error);
  if (!failure) {
    const plain = "GitHub could not be reached.";
    return new AppError("resource_unavailable", `GitHub could not be reached for ${route}.`, {
      cause: error,
      plain,
    });
  }
  const { said, status } = failure;
  const [line] = said?.split("\n") ?? [];
  const plain = `GitHub answered ${status}${line === undefined ? "." : `: ${line}`}`;
  const words = defined({ plain, said });
  const message = `GitHub answered ${status} to ${route}: ${failure.message}`;
  const retryAfterMs = waitOf(failure);
  if (status >= 500 || (BUSY.has(status) && !EMPTY.test(failure.message)) || retryAfterMs !== undefined) {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return new AppError("resource_unavailable", message, { cause: error, ...wait, ...words });
  }
  // The key is being replaced, or a token was revoked. An operator can repair it before the retry.
  if (status === 401) {
    return new Misconfigured("authentication_required", message, { cause: error, plain, remedy: KEY_REMEDY });
  }
  const { code, isOfPlace, remedy } = refusalOf(failure);
  const options = { cause: error, retryable: false, ...defined({ remedy }), ...words };
  return isOfPlace ? new PlaceRefused(code, message, options) : new AppError(code, message, options);
}

/** GitHub takes nothing at this place, whatever is posted, until a person changes that: it is locked, or gone. */
export class PlaceRefused extends AppError {}

/** A redirect that was not followed: an issue that was transferred, a repository that was just renamed. */
export class MovedError extends AppError {
  /** The repository to which GitHub redirects, in which everything has its former address. */
  readonly repositoryId: number | undefined;

  constructor(status: number, route: string, location = "") {
    const isForGood = status === 301 || status === 308;
    super("resource_not_found", `GitHub answered ${status} to ${route}: it has moved.`, {
      retryable: !isForGood,
      plain: "It has moved on GitHub.",
      remedy: "Ask again in its new place, if the App is installed there.",
    });
    const [, id] = /\/repositories\/(\d{1,15})(?:\/|$)/.exec(location) ?? [];
    this.repositoryId = id === undefined ? undefined : Number(id);
  }
}

interface Refusal {
  readonly status: number;
  /** Words of GitHub's. Absent: all others with this status. */
  readonly words?: RegExp;
  readonly code: ErrorCode;
  /** What a person can do about it. */
  readonly remedy?: string;
  /** As `PlaceRefused`. */
  readonly isOfPlace?: true;
}

const MISSING_PERMISSION: Refusal = {
  status: 403,
  words: /not accessible by integration/i,
  code: "not_authorized",
  remedy: "Add the permission in the App's settings. Then the owner of the account accepts it.",
};

/** Answers that a later call gets as well, until a person changes something. The first that matches counts. */
const REFUSALS: readonly Refusal[] = [
  {
    status: 403,
    words: /suspended/i,
    code: "not_authorized",
    remedy: "The owner of the account resumes the App under Settings → GitHub Apps.",
  },
  {
    status: 403,
    words: /archived/i,
    code: "not_authorized",
    remedy: "Unarchive the repository.",
    isOfPlace: true,
  },
  {
    status: 403,
    words: /\b(?:locked|unlock)\b/i,
    code: "not_authorized",
    remedy: "Unlock the conversation, or ask in another one.",
    isOfPlace: true,
  },
  {
    status: 403,
    words: /\bblocked\b|interaction limit|limited (?:to|the ability)/i,
    code: "not_authorized",
    remedy:
      "The owner of the repository unblocks the App, or ends the limit of interactions under Settings → Moderation.",
    isOfPlace: true,
  },
  MISSING_PERMISSION,
  { status: 403, code: "not_authorized" },
  {
    status: 404,
    code: "resource_not_found",
    remedy: "See that it exists, and that the App is installed in its repository.",
  },
  {
    status: 410,
    code: "resource_not_found",
    remedy:
      "The issue was deleted, or the repository has no issues. Switch them on, or ask in another place.",
    isOfPlace: true,
  },
  {
    status: 451,
    code: "not_authorized",
    remedy: "GitHub blocks the repository for legal reasons. Ask its owner.",
    isOfPlace: true,
  },
];

function refusalOf({ headers, message, status }: Failure): Omit<Refusal, "status" | "words"> {
  const found = REFUSALS.find((one) => one.status === status && (one.words?.test(message) ?? true));
  const wanted = headers["x-accepted-github-permissions"];
  if (found === MISSING_PERMISSION && typeof wanted === "string" && wanted !== "") {
    const remedy = `Add ${wordsOf(wanted)} in the App's settings. Then the owner of the account accepts it.`;
    return { ...found, remedy };
  }
  return found ?? { code: "invalid_request" };
}

/** `issues=write,metadata=read; pull_requests=write` names two sets of permissions, of which one is enough. */
function wordsOf(permissions: string): string {
  const sets = permissions.split(";").map((set) => set.trim().replaceAll("=", ": ").replaceAll(",", " and "));
  return `the permission ${sets.join(", or ")}`;
}

const BUSY: ReadonlySet<number> = new Set([408, 409, 429]);
/** It stays so until the first push. */
const EMPTY = /repository is empty/i;
const KEY_REMEDY =
  "Check the App's id and private key (for a team's own token: GITHUB_TOKEN), and the clock of the server.";

/** https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately */
function waitOf({ status, message, headers }: Failure): number | undefined {
  const retryAfter = Number(headers["retry-after"]);
  if (headers["retry-after"] !== undefined && Number.isFinite(retryAfter)) {
    return retryAfter * 1000;
  }
  if (status !== 403 && status !== 429) {
    return undefined;
  }
  const reset = Number(headers["x-ratelimit-reset"]);
  if (headers["x-ratelimit-remaining"] === "0" && Number.isFinite(reset)) {
    return Math.max(reset * 1000 - Date.now(), 1000);
  }
  return /rate limit|abuse detection/i.test(message) ? SECONDARY_LIMIT_WAIT_MS : undefined;
}

/** The answer in an error of Octokit; undefined if GitHub gave none. */
function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !("response" in error) || !("status" in error)) {
    return undefined;
  }
  const { response, status, message } = error;
  if (typeof status !== "number" || typeof response !== "object" || response === null) {
    return undefined;
  }
  const headers = "headers" in response && typeof response.headers === "object" ? response.headers : null;
  return { status, message, headers: { ...headers }, said: wordsOfBody("data" in response && response.data) };
}

function wordsOfBody(body: unknown): string | undefined {
  const { data } = refusalBody.safeParse(body);
  const details = (data?.errors ?? []).map((detail) =>
    typeof detail === "string"
      ? detail
      : (detail.message ?? [detail.field, detail.code].filter(Boolean).join(": ")),
  );
  return data && [data.message, ...details].join("\n");
}
