import { type Config, readConfig } from "../config/config.ts";
import { StartupError } from "../core/basics/errors.ts";
import type { Log } from "../core/basics/log.ts";
import type { ObjectStore } from "../core/ports/object-store.ts";
import { parseS3Address } from "../object-storage/s3-address.ts";
import { createPrismaBlobStore } from "../storage/blob-store.ts";
import { Database } from "../storage/database.ts";
import { moveBlobs } from "../storage/move-blobs.ts";
import { createObjectBlobStore } from "../storage/object-blob-store.ts";
import { openObjects } from "./compose-stores.ts";
import { operatorCommand, say } from "./operator-command.ts";
import { reasonOf, systemClock } from "./system.ts";

const USAGE =
  "Usage: npm run blobs:move -- FROM TO, where each is database or an address such as s3://bucket/prefix?region=eu-central-1";
/** A large blob takes longer than an ordinary statement. */
const LINK = { maxConnections: 2, statementMs: 60_000 } as const;
const LOG: Log = { info: () => undefined, warn: warnOf, error: warnOf };

/** Moves the files of runs between the database and object stores while the service runs. Returns the exit code. */
export async function moveStoredBlobs(
  names: readonly string[],
  environment: Parameters<typeof readConfig>[0],
): Promise<number> {
  return operatorCommand(async () => {
    const { databaseUrl: url, blobs: configured } = readConfig(environment);
    const [from, to] = names;
    if (names.length !== 2 || from === undefined || to === undefined || from === to) {
      throw new StartupError(USAGE);
    }
    if (url === undefined) {
      throw new StartupError(
        "DATABASE_URL is missing. Files move only in and out of a database of your own.",
      );
    }
    await using undo = new AsyncDisposableStack();
    const open = async (name: string) => {
      const objects = await openStore(name, configured?.credentials);
      undo.defer(() => objects?.close());
      return objects;
    };
    const database = new Database({ url, ...LINK, log: LOG });
    undo.defer(() => database.close());
    await move(database, await open(from), await open(to));
  });
}

async function move(
  database: Database,
  from: ObjectStore | undefined,
  to: ObjectStore | undefined,
): Promise<void> {
  const rows = createPrismaBlobStore(database, systemClock);
  const blobs =
    from === undefined ? rows : createObjectBlobStore({ database, objects: from, rows, clock: systemClock });
  let moved = 0;
  for await (moved of moveBlobs({ database, blobs, from, to })) {
    say(`${moved} files moved`);
  }
}

type Credentials = NonNullable<Config["blobs"]>["credentials"];

async function openStore(name: string, credentials: Credentials): Promise<ObjectStore | undefined> {
  if (name === "database") {
    return undefined;
  }
  try {
    return await openObjects({ address: parseS3Address(name), credentials }, LOG);
  } catch (error) {
    throw new StartupError(`${name} ${reasonOf(error)}. ${USAGE}`);
  }
}

function warnOf(message: string, facts?: Record<string, unknown>): void {
  process.stderr.write(`${message} ${JSON.stringify(facts ?? {})}\n`);
}
