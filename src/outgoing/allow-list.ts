import ipaddr from "ipaddr.js";
import { butNot } from "../core/basics/errors.ts";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [Address, number];

/** Addresses that the server may connect to although they are not public. */
export interface AllowList {
  readonly networks: readonly Network[];
  /** Names are allowed whatever they resolve to, because the operator trusts them. */
  readonly hosts: ReadonlySet<string>;
}

const HOST_NAME = /^(?=.{1,253}$)[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?(\.[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?)*$/;

/** Comma-separated addresses, networks (`10.1.0.0/16`) and host names. Throws for any other text. */
export function parseAllowList(text: string): AllowList {
  const entries = text.split(",").map((entry) => entry.trim());
  const networks: Network[] = [];
  const hosts = new Set<string>();
  for (const entry of entries.filter((entry) => entry !== "")) {
    const network = networkIn(entry);
    const host = sameHost(entry);
    if (network !== undefined) {
      networks.push(network);
    }
    // A mistyped address must not count as a name.
    else if (HOST_NAME.test(host) && /[a-z]/.test(host)) {
      hosts.add(host);
    } else {
      throw new Error(`must contain addresses, networks such as 10.1.0.0/16 and host names${butNot(entry)}`);
    }
  }
  return { networks, hosts };
}

/** Names are compared in lower case and without the final dot. */
export function sameHost(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

export function isInNetwork(address: Address, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match([base, bits]);
}

function networkIn(entry: string): Network | undefined {
  if (ipaddr.isValidCIDR(entry)) {
    return ipaddr.parseCIDR(entry);
  }
  if (!ipaddr.isValid(entry) || !/[.:]/.test(entry)) {
    return undefined;
  }
  const address = ipaddr.process(entry);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
