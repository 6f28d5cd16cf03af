import { once } from "node:events";
import { createServer } from "node:net";
import { StartupError } from "../core/basics/errors.ts";
import { reasonOf } from "./system.ts";

interface Place {
  readonly host: string;
  readonly port: number;
}

/** A taken port would otherwise be found only when the database has been started and migrated. */
export async function requireFreePort(place: Place): Promise<void> {
  const server = createServer();
  try {
    server.listen(place.port, place.host);
    await once(server, "listening");
  } catch (error) {
    throw cannotListen(place, error);
  } finally {
    server.close();
  }
}

export function cannotListen({ host, port }: Place, error: unknown): StartupError {
  return new StartupError(`Cannot listen on ${host}:${port}: ${reasonOf(error)}`);
}
