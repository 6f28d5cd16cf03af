import { type FrontOutcome, type FrontRequest, startFrontServer } from "../support/front-server.ts";

/**
 * Stands between the service and an emulator. A test can act when a write has happened and the service has no
 * response yet.
 */
export interface KeyedSemaphore {
  /** The address for the service, instead of the emulator's. */
  readonly url: string;
  /** Calls `act` once, before the answer to the next call that matches leaves the gate. */
  beforeAnswer(matches: (request: FrontRequest) => boolean, act: () => Promise<void>): void;
  stop(): Promise<void>;
}

/** The response headers that the client libraries read. */
const FORWARDED_HEADERS = ["content-type", "link", "location", "retry-after", "etag"];

export interface GateOptions {
  /** Serves the repositories, as a host of repositories does beside its API. */
  readonly gitUrl?: string;
}

const GIT = /\.git\//;

export async function startGate(target: string, { gitUrl }: GateOptions = {}): Promise<KeyedSemaphore> {
  let waiting: { matches(request: FrontRequest): boolean; act(): Promise<void> } | undefined;
  const { origin, pathname } = new URL(target);
  const front = await startFrontServer(async (request) => {
    const isGit = gitUrl !== undefined && GIT.test(request.path);
    const outcome = await forward(isGit ? gitUrl : origin, request);
    if (waiting?.matches(request)) {
      const { act } = waiting;
      waiting = undefined;
      await act();
    }
    return outcome;
  });
  return {
    url: `${front.url}${pathname.replace(/^\/$/, "")}`,
    beforeAnswer: (matches, act) => {
      waiting = { matches, act };
    },
    stop: front.stop,
  };
}

async function forward(
  origin: string,
  { method, path, search, headers, body }: FrontRequest,
): Promise<FrontOutcome> {
  const passed = new Headers(headers);
  for (const name of ["host", "connection", "content-length", "transfer-encoding"]) {
    passed.delete(name);
  }
  const content = method === "GET" || method === "HEAD" ? {} : { body: new Uint8Array(body) };
  try {
    const url = `${origin}${path}${search}`;
    const answer = await fetch(url, { method, headers: passed, redirect: "manual", ...content });
    const headers = FORWARDED_HEADERS.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, headers: Object.fromEntries(headers), body: bytes };
  } catch {
    // The emulator dropped the connection, so this one is dropped too.
    return "drop";
  }
}
