import { expect, test } from "vitest";
import { isOwnAddress } from "../../../src/outgoing/own-addresses.ts";

const INTERFACES = { eth0: [interfaceAt("93.184.216.34"), interfaceAt("2606:2800:220:1::1")] };

test.each([
  "93.184.216.34",
  "::ffff:93.184.216.34",
  "::ffff:5db8:d822",
  "2606:2800:220:1::1",
  "2606:2800:0220:0001::1",
  "2606:2800:220:1:0:0:0:1",
  "2606:2800:220:1::0001",
])("%s is recognized as an address of this machine", (address) => {
  expect(isOwnAddress(address, INTERFACES)).toBe(true);
});

test.each(["93.184.216.35", "2606:2800:220:1::2", "not an address"])(
  "%s is not an address of this machine",
  (address) => {
    expect(isOwnAddress(address, INTERFACES)).toBe(false);
  },
);

function interfaceAt(address: string) {
  const family = address.includes(":") ? ("IPv6" as const) : ("IPv4" as const);
  return { address, family, scopeid: 0, netmask: "", mac: "", internal: false, cidr: null };
}
