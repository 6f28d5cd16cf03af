import { z } from "zod";
import { AppError } from "../../../core/basics/errors.ts";
import { parseJson } from "../../../core/basics/parse-json.ts";
import type { InboxEvent } from "../../../core/ports/thread-adapter.ts";
import type { GithubClient } from "../client.ts";
import { MovedError } from "../errors.ts";
import type { RepositoryNames } from "../repositories.ts";
import type { CallRepository, Repository } from "../routes.ts";
import { BYTES_MAX, type ErrandFileSettings, parseErrandFile, unreadableFile } from "./parse.ts";

/** A push to the default branch ends it earlier in the process that reads the event. */
const LIFE_MS = 60_000;
const FILES_MAX = 1_000;

const fileAnswer = z.union([
  z.object({ type: z.literal("file"), size: z.int(), content: z.string() }),
  z.unknown().transform(() => undefined),
]);
const pushSchema = z.object({
  ref: z.string(),
  repository: z.object({ full_name: z.string(), default_branch: z.string() }),
});

interface Known {
  readonly settings: Promise<ErrandFileSettings | undefined>;
  readonly untilMs: number;
}

/**
 * What the files of repositories say, from their default branches: a pull request does not choose its own settings. An
 * answer is used for a minute.
 */
export class ErrandFiles {
  readonly #known = new Map<string, Known>();
  readonly #now: () => number;

  /** `now` returns milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined: the repository has no such file. Throws if GitHub gives no answer now. */
  read(repository: Repository, call: CallRepository): Promise<ErrandFileSettings | undefined> {
    const name = nameOf(repository);
    const known = this.#known.get(name);
    if (known !== undefined && known.untilMs > this.#now()) {
      return known.settings;
    }
    const reading = { settings: readFile(call), untilMs: this.#now() + LIFE_MS };
    // The newest is the last, and the oldest is forgotten first.
    this.#known.delete(name);
    this.#known.set(name, reading);
    const [oldest] = this.#known.keys();
    if (this.#known.size > FILES_MAX && oldest !== undefined) {
      this.#known.delete(oldest);
    }
    reading.settings.catch(() => this.#known.get(name) === reading && this.#known.delete(name));
    return reading.settings;
  }

  /** The file may have changed if the event is a push to the default branch. */
  learn({ body, name }: Pick<InboxEvent, "body" | "name">): void {
    const { data } = pushSchema.safeParse(name === "push" ? parseJson(body) : undefined);
    const { default_branch: branch = "", full_name: fullName = "" } = data?.repository ?? {};
    if (data?.ref === `refs/heads/${branch}`) {
      this.#known.delete(fullName.toLowerCase());
    }
  }
}

export interface ErrandFileDeps {
  readonly client: Pick<GithubClient, "callIn">;
  readonly files: Pick<ErrandFiles, "read">;
  readonly names: Pick<RepositoryNames, "use">;
}

/** Does something in a repository as its file wants it. */
export function withErrandFile<Value>(
  { id, installation }: { readonly id: number; readonly installation: string },
  { client, files, names }: ErrandFileDeps,
  use: (settings: ErrandFileSettings | undefined, call: CallRepository, owner: string) => Promise<Value>,
): Promise<Value> {
  return names.use(installation, id, async (named) => {
    const call: CallRepository = (request) => client.callIn(installation, named, request);
    return use(await files.read(named, call), call, named.owner);
  });
}

function nameOf({ owner, repo }: Repository): string {
  return `${owner}/${repo}`.toLowerCase();
}

async function readFile(call: CallRepository): Promise<ErrandFileSettings | undefined> {
  try {
    const route = "GET /repos/{owner}/{repo}/contents/.github/errand.yml";
    return settingsIn(await call({ route, parameters: {}, answer: fileAnswer }));
  } catch (error) {
    // An App without the permission to read files cannot push either.
    const isMissing =
      error instanceof AppError && (error.code === "resource_not_found" || error.code === "not_authorized");
    if (!isMissing || error.retryable || error instanceof MovedError) {
      throw error;
    }
    return undefined;
  }
}

function settingsIn(file: z.output<typeof fileAnswer>): ErrandFileSettings {
  if (file === undefined) {
    return unreadableFile("is no file.");
  }
  if (file.size > BYTES_MAX) {
    return unreadableFile(`is larger than ${BYTES_MAX / 1024} KiB.`);
  }
  const text = textIn(Buffer.from(file.content, "base64"));
  return text === undefined ? unreadableFile("is not UTF-8 text.") : parseErrandFile(text);
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
