import ipaddr from "ipaddr.js";

/** Whoever has one IPv6 address has a network of them. */
const OWN_IPV6_BITS = 64;

/** By whom callers without a key are told apart: their IPv4 address, or the network of their IPv6 address. */
export function callerNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(
    `${parsed.toNormalizedString().replace(/%.*/, "")}/${OWN_IPV6_BITS}`,
  ).toString();
}
