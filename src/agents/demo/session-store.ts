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

/** Only ids that this agent made itself: the id comes from outside and becomes a file's name. */
const SESSION_ID = /^demo-[0-9a-f-]{36}$/;

/** The demo agent's sessions, kept below its HOME as real agents keep theirs. */
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

  /** By rename, so that an agent killed here leaves the session as it was. */
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
