import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { findText, writeText } from "./workspace-files.ts";

const storedSession = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  basePrompt: z.string().optional(),
  turns: z.array(z.object({ prompt: z.string(), answer: z.string() })),
});
export type StoredSession = z.infer<typeof storedSession>;

/** Accepts only ids that this agent has made, because the id becomes the name of a file. */
const SESSION_ID = /^demo-[0-9a-f-]{36}$/;

const DIRECTORY = join(".errand-demo", "sessions");

/** Stores the sessions of the demo agent below its HOME, as real agents do. No link in it can lead elsewhere. */
export class SessionStore {
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  async create(cwd: string, basePrompt: string | undefined): Promise<StoredSession> {
    const session = { sessionId: `demo-${crypto.randomUUID()}`, cwd, basePrompt, turns: [] };
    await this.save(session);
    return session;
  }

  async find(sessionId: string): Promise<StoredSession | undefined> {
    if (!SESSION_ID.test(sessionId)) {
      return undefined;
    }
    const text = await findText(this.#home, fileOf(sessionId));
    return text === undefined ? undefined : storedSession.parse(JSON.parse(text));
  }

  /** Writes by rename, so that a killed agent leaves the session unchanged. */
  async save(session: StoredSession): Promise<void> {
    await mkdir(this.#home, { recursive: true });
    const file = fileOf(session.sessionId);
    const written = await writeText(this.#home, `${file}.new`, JSON.stringify(session));
    await rename(written, written.slice(0, -".new".length));
  }
}

function fileOf(sessionId: string): string {
  return join(DIRECTORY, `${sessionId}.json`);
}
