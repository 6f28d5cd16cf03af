import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Whether this machine is reached there, however the address is written. Its addresses change while it runs. */
export function isOwnAddress(address: string, interfaces = networkInterfaces()): boolean {
  const wanted = canonical(address);
  return Object.values(interfaces).some((all) => all?.some((own) => canonical(own.address) === wanted));
}

/** One address has many spellings: an IPv4 address written as IPv6, zeros that are told or left out. */
function canonical(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : address;
}
