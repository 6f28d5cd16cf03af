import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const storedSession = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  basePrompt: z.string().optional(),
  turns: z.array(z.object({ prompt: z.string(), answer: z.string() })),
});
export type StoredSession = z.infer<typeof storedSession>;

/** Accepts only ids that this agent has made, because the id becomes the name of a file. */
const SESSION_ID = /^demo-[0-9a-f-]{36}$/;

/** Stores the sessions of the demo agent below its HOME, as real agents do. */
export class SessionStore {
  readonly #directory: string;

  constructor(home: string) {
    this.#directory = join(home, ".errand-demo", "sessions");
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
    try {
      return storedSession.parse(JSON.parse(await readFile(this.#file(sessionId), "utf8")));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") {
        return undefined;
      }
      throw error;
    }
  }

  /** Writes by rename, so that a killed agent leaves the session unchanged. */
  async save(session: StoredSession): Promise<void> {
    const file = this.#file(session.sessionId);
    await mkdir(this.#directory, { recursive: true });
    await writeFile(`${file}.new`, JSON.stringify(session));
    await rename(`${file}.new`, file);
  }

  #file(sessionId: string): string {
    return join(this.#directory, `${sessionId}.json`);
  }
}
