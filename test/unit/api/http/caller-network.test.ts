import { expect, test } from "vitest";
import { callerNetwork } from "../../../../src/api/http/rate-limit.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"],
  ["2001:0DB8:0001:0002::ffff", "2001:db8:1:2::"],
  ["fe80::1%eth0", "fe80::"],
  ["no address", "no address"],
])("who calls from %s is told apart by %s", (address, network) => {
  expect(callerNetwork(address)).toBe(network);
});
