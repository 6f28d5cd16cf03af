import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/**
 * Whether the address belongs to this machine, in whatever spelling. The addresses of the machine may change while it
 * runs.
 */
export function isOwnAddress(address: string, interfaces = networkInterfaces()): boolean {
  const wanted = canonical(address);
  return Object.values(interfaces).some((all) => all?.some((own) => canonical(own.address) === wanted));
}

/** One address has many spellings: IPv4 written as IPv6, and zeros that are written or omitted. */
function canonical(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : address;
}
