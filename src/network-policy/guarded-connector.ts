import { lookup as resolveBySystem } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { type Destinations, unbracketed } from "./destinations.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>;

export interface GuardOptions {
  readonly destinations: Pick<Destinations, "admits">;
  readonly connectMs: number;
  /** Default: as the machine resolves names. */
  readonly resolve?: Resolve;
}

export class ForbiddenDestination extends Error {
  override readonly name = "ForbiddenDestination";

  constructor() {
    // Not which address it is: a name of the inside network must not be resolved for whoever asks.
    super(
      "The host has an address that is not public, or not reached by HTTPS, and its operator has not allowed it.",
    );
  }
}

/**
 * Connects for an HTTP client, but only where `destinations` allows. What is checked is what is connected to: the name
 * is resolved once, here, so no second answer can lead elsewhere. One forbidden address among several forbids all.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  const encrypted = connectorFor(options, true);
  const plain = connectorFor(options, false);
  return (target, callback) => {
    const isEncrypted = target.protocol === "https:";
    const address = unbracketed(target.hostname);
    // Only names are looked up, so an address that stands in the URL itself is checked here.
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
    // Whatever the environment says: an unverified certificate would let anybody in between read along.
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
      if (first === undefined || !isAllowed) callback(new ForbiddenDestination(), "");
      else if (all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    // Judging fails where no file can be opened any more, as the machine's own addresses are read anew each time.
    resolve(host)
      .then(answer)
      .catch((error) => callback(error, ""));
  };
}

function resolveAll(name: string): Promise<readonly ResolvedAddress[]> {
  return resolveBySystem(name, { all: true });
}
