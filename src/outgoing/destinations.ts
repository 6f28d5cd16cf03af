import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type Address, type AllowList, isInNetwork, sameHost } from "./allow-list.ts";
import { isOwnAddress } from "./own-addresses.ts";

/** A place to connect to, after its name was resolved. */
export interface Destination {
  /** As the URL names it. */
  readonly host: string;
  readonly address: string;
  readonly isEncrypted: boolean;
}

const NOT_PUBLIC = "must not lead into the server's own network; its operator can allow that";
const HTTPS_ONLY = "must begin with https://; the server's operator can allow http:// for an address";

/**
 * Decides where the server may connect on behalf of callers, who may try to reach addresses that they cannot reach
 * themselves: public addresses of other machines by HTTPS, and what the operator allows.
 */
export class Destinations {
  readonly #allowed: AllowList;
  readonly #isOwn: (address: string) => boolean;

  /** `isOwn` tells whether this machine has the address. Its other services may listen there, also on a public one. */
  constructor(allowed: AllowList, isOwn: (address: string) => boolean = isOwnAddress) {
    this.#allowed = allowed;
    this.#isOwn = isOwn;
  }

  /**
   * What is wrong with a URL as text, or undefined. It is only a hint, because the address is known when connecting;
   * then `admits` decides.
   */
  problemOf(text: string): string | undefined {
    const url = URL.parse(text);
    if (url === null) {
      return "must be a URL";
    }
    const { hostname, password, protocol, username } = url;
    if (protocol !== "https:" && protocol !== "http:") {
      return HTTPS_ONLY;
    }
    if (username !== "" || password !== "") {
      return "must not hold a user name or a password";
    }
    return this.#problemOfHost(unbracketed(hostname), protocol === "https:");
  }

  /** Whether the server may connect there. Must be called with the address that is then connected to. */
  admits({ host, address, isEncrypted }: Destination): boolean {
    if (this.#allowed.hosts.has(sameHost(host))) {
      return true;
    }
    const parsed = parse(address);
    if (parsed === undefined) {
      return false;
    }
    if (this.#allowed.networks.some((network) => isInNetwork(parsed, network))) {
      return true;
    }
    return isEncrypted && isPublic(parsed) && !this.#isOwn(address);
  }

  #problemOfHost(host: string, isEncrypted: boolean): string | undefined {
    if (isIP(host) !== 0) {
      if (this.admits({ host, address: host, isEncrypted })) {
        return undefined;
      }
      return this.admits({ host, address: host, isEncrypted: true }) ? HTTPS_ONLY : NOT_PUBLIC;
    }
    if (this.#allowed.hosts.has(sameHost(host))) {
      return undefined;
    }
    // Its name may still resolve into one of the allowed networks.
    if (this.#allowed.networks.length > 0) {
      return undefined;
    }
    if (!isEncrypted) {
      return HTTPS_ONLY;
    }
    return LOCAL_NAME.test(host) ? NOT_PUBLIC : undefined;
  }
}

const LOCAL_NAME = /(^|\.)localhost\.?$/i;

export function unbracketed(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

function parse(address: string): Address | undefined {
  // `process` turns an IPv4 address written as IPv6 into IPv4.
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

/** Only global unicast IPv6 addresses: other ranges contain forms that embed an IPv4 address. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

function isPublic(address: Address): boolean {
  if (address.range() !== "unicast") {
    return false;
  }
  return address.kind() === "ipv4" || isInNetwork(address, GLOBAL_IPV6);
}
