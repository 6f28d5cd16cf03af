import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { StartupError } from "../core/basics/errors.ts";
import type { Bootstrap } from "./compose.ts";
import { reasonOf } from "./system.ts";

export async function readTls({ tls }: Config): Promise<Bootstrap["tls"]> {
  if (tls === undefined) {
    return undefined;
  }
  try {
    const [cert, key] = await Promise.all([readFile(tls.certFile, "utf8"), readFile(tls.keyFile, "utf8")]);
    return { cert, key };
  } catch (error) {
    throw new StartupError(`ERRAND_TLS_CERT or ERRAND_TLS_KEY cannot be read: ${reasonOf(error)}`);
  }
}
