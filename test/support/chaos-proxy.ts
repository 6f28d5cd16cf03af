import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";

export type ChaosTarget =
  | number
  | { readonly host: string; readonly port: number }
  | { readonly path: string };

export interface ChaosProxy {
  readonly port: number;
  /** From now on no byte passes in either direction and nothing is closed, as if the peer had vanished. */
  blackHole(): void;
  /** Delivers the bytes that were held back and lets traffic pass again. */
  heal(): void;
  /** Existing connections stay silent for good and never learn of their end. New connections work. */
  strandAll(): void;
  resetAll(): void;
  /** Delays every chunk by this time. */
  delay(ms: number): void;
  /**
   * Lets the next PostgreSQL statement that commits reach the server, and closes its client connection before any
   * reply. Resolves when the server has committed, or has ended the connection instead. Both a COMMIT and the single
   * statement that creates a run commit.
   */
  cutAfterCommit(): Promise<void>;
  /** True while the statement to be cut has not arrived. */
  readonly awaitsCommit: boolean;
  stop(): Promise<void>;
}

// The end of a NUL-terminated statement in a simple Query message or in a Parse message. A length byte comes before
// it.
const COMMIT = /(?:^|[;\p{Cc}])\s*commit\s*;?\s*$|\binsert into runs\b/iu;

export async function startChaosProxy(target: ChaosTarget): Promise<ChaosProxy> {
  const proxy = new ChaoticLinks(typeof target === "number" ? { host: "127.0.0.1", port: target } : target);
  const server = createServer((client) => proxy.link(client)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    blackHole: () => proxy.hold(),
    heal: () => proxy.release(),
    strandAll: () => proxy.strandAll(),
    resetAll: () => proxy.resetAll(),
    delay: (ms) => proxy.setDelay(ms),
    cutAfterCommit: () => proxy.cutAfterCommit(),
    get awaitsCommit() {
      return proxy.awaitsCommit;
    },
    async stop() {
      const closed = once(server.close(), "close");
      proxy.closeAll();
      await closed;
    },
  };
}

class ChaoticLinks {
  readonly #target: NetConnectOpts;
  readonly #sockets = new Set<Socket>();
  readonly #stranded = new WeakSet<Socket>();
  #held: (() => void)[] | undefined;
  #delayMs = 0;
  #onCommit: (() => void) | undefined;

  constructor(target: NetConnectOpts) {
    this.#target = target;
  }

  link(client: Socket): void {
    const server = connect(this.#target);
    this.#pump(client, server, (chunk) => this.#isCommitToCut(chunk));
    this.#pump(server, client, () => false);
  }

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const deliver of held) {
      deliver();
    }
  }

  strandAll(): void {
    for (const socket of this.#sockets) {
      this.#stranded.add(socket);
    }
  }

  setDelay(ms: number): void {
    this.#delayMs = ms;
  }

  resetAll(): void {
    for (const socket of this.#sockets) {
      socket.resetAndDestroy();
    }
  }

  /** If the target is a path, there are no connections that could be reset. */
  closeAll(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  get awaitsCommit(): boolean {
    return this.#onCommit !== undefined;
  }

  cutAfterCommit(): Promise<void> {
    return new Promise((resolve) => {
      this.#onCommit = resolve;
    });
  }

  #pump(from: Socket, to: Socket, isCut: (chunk: Buffer) => boolean): void {
    this.#sockets.add(from);
    from.on("data", (chunk) => {
      if (isCut(chunk)) {
        this.#cut(from, to, chunk);
      } else {
        this.#deliver(from, () => to.writable && to.write(chunk));
      }
    });
    from.on("end", () => this.#deliver(from, () => to.end()));
    from.on("error", () => this.#stranded.has(from) || to.destroy());
    from.on("close", () => {
      this.#sockets.delete(from);
      this.#deliver(from, () => to.destroySoon());
    });
  }

  #isCommitToCut(chunk: Buffer): boolean {
    if (!this.#onCommit) {
      return false;
    }
    const strings = chunk.toString("latin1").split("\0");
    return strings.slice(0, -1).some((text) => COMMIT.test(text));
  }

  /**
   * The server's side stays open until it has answered, because only then the commit is certain. A server that has
   * just been stopped never answers, and has committed nothing.
   */
  #cut(client: Socket, server: Socket, chunk: Buffer): void {
    const done = this.#onCommit;
    this.#onCommit = undefined;
    client.removeAllListeners("close");
    this.#sockets.delete(client);
    client.destroy();
    const settle = (): void => {
      server.destroy();
      done?.();
    };
    server.once("data", settle).once("close", settle);
    if (server.destroyed) {
      settle();
    } else {
      server.write(chunk);
    }
  }

  #deliver(from: Socket, act: () => void): void {
    if (this.#stranded.has(from)) {
      return;
    }
    if (this.#held) {
      this.#held.push(act);
    } else if (this.#delayMs > 0) {
      setTimeout(act, this.#delayMs);
    } else {
      act();
    }
  }
}
