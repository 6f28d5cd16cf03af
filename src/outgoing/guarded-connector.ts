import { lookup as resolveBySystem } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { type Destinations, unbracketed } from "./destinations.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>;

export interface GuardOptions {
  readonly destinations: Pick<Destinations, "admits">;
  readonly connectMs: number;
  /** Default: the resolver of the machine. */
  readonly resolve?: Resolve;
}

export class ForbiddenDestination extends Error {
  override readonly name = "ForbiddenDestination";

  constructor() {
    // The error does not name the address, because callers must not be able to resolve names of the inside network.
    super(
      "The host has an address that is not public, or not reached by HTTPS, and its operator has not allowed it.",
    );
  }
}

/**
 * Connects for an HTTP client, but only where `destinations` allows. The checked address is the one that is connected
 * to: the name is resolved once, here, so that no second answer can lead elsewhere. One forbidden address among
 * several forbids all.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  const encrypted = connectorFor(options, true);
  const plain = connectorFor(options, false);
  return (target, callback) => {
    const isEncrypted = target.protocol === "https:";
    const address = unbracketed(target.hostname);
    // Only names are resolved, so an address in the URL is checked here.
    if (isIP(address) !== 0 && !options.destinations.admits({ host: address, address, isEncrypted })) {
      callback(new ForbiddenDestination(), null);
      return;
    }
    (isEncrypted ? encrypted : plain)(target, callback);
  };
}

function connectorFor(options: GuardOptions, isEncrypted: boolean): buildConnector.connector {
  return buildConnector({
    allowH2: false,
    timeout: options.connectMs,
    // Independent of the environment, because an unverified certificate would let others read along.
    rejectUnauthorized: true,
    lookup: guardedLookup(options, isEncrypted),
  });
}

function guardedLookup(
  { destinations, resolve = resolveAll }: GuardOptions,
  isEncrypted: boolean,
): LookupFunction {
  return (host, { all }, callback) => {
    const answer = (addresses: readonly ResolvedAddress[]): void => {
      const [first] = addresses;
      const isAllowed = addresses.every(({ address }) => destinations.admits({ host, address, isEncrypted }));
      if (first === undefined || !isAllowed) {
        callback(new ForbiddenDestination(), "");
      } else if (all === true) {
        callback(null, [...addresses]);
      } else {
        callback(null, first.address, first.family);
      }
    };
    // The check fails when no file can be opened, because it reads the machine's own addresses each time.
    resolve(host)
      .then(answer)
      .catch((error) => callback(error, ""));
  };
}

function resolveAll(name: string): Promise<readonly ResolvedAddress[]> {
  return resolveBySystem(name, { all: true });
}
