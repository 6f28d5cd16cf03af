import ipaddr from "ipaddr.js";

/** The holder of one IPv6 address usually has a whole network of this size. */
const OWN_IPV6_BITS = 64;

/** Identifies callers without a key: by their IPv4 address or by the network of their IPv6 address. */
export function callerNetwork(address: string): string {
  if (!ipaddr.isValid(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") {
    return parsed.toString();
  }
  return ipaddr.IPv6.networkAddressFromCIDR(
    `${parsed.toNormalizedString().replace(/%.*/, "")}/${OWN_IPV6_BITS}`,
  ).toString();
}
