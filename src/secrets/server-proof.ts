import { createHmac } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomSecret } from "./secret-files.ts";

const SERVER_FILE = "server.json";

/**
 * Lets programs of this user find the server, and tell it from another program on its port, before they send it a key.
 * The file `server.json` in the data directory contains the address and a secret of this start. Who can read it can
 * check that an answer comes from the process that wrote it.
 */
export class ServerProof {
  readonly #secret = randomSecret();
  #url: string | undefined;

  /** The HMAC of address and nonce. The address is part of it, so that a program on another port cannot pass it on. */
  prove(nonce: string): string | undefined {
    return this.#url === undefined
      ? undefined
      : createHmac("sha256", this.#secret).update(`${this.#url}\n${nonce}`).digest("hex");
  }

  /** Writes the file. Returns what removes it, unless another process has replaced it since. */
  async publish(dataDir: string, listeningOrigin: string): Promise<() => Promise<void>> {
    // A server that listens on all addresses is reached on loopback.
    this.#url = listeningOrigin.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
    const path = join(dataDir, SERVER_FILE);
    const text = `${JSON.stringify({ url: this.#url, secret: this.#secret })}\n`;
    const draft = `${path}.${process.pid}.partial`;
    await rm(draft, { force: true });
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
    return async () => {
      if ((await readFile(path, "utf8").catch(() => undefined)) === text) {
        await rm(path, { force: true });
      }
    };
  }
}
