import { describe, expect, test } from "vitest";
import { parseAllowList } from "../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";

const none = new Destinations(parseAllowList(""));

const admits = (destinations: Destinations, address: string, isEncrypted = true): boolean =>
  destinations.admits({ host: "receiver.example.com", address, isEncrypted });

describe("resolved addresses", () => {
  test.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.127.255.255",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::a00:1",
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "::ffff:169.254.169.254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "64:ff9b::a00:1",
    "64:ff9b:1::a00:1",
    "2001::a00:1",
    "2002:a00:1::1",
    "2001:db8::1",
    "4000::1",
    "not an address",
    "",
  ])("the address %s is refused as not public", (address) => {
    expect(admits(none, address)).toBe(false);
  });

  test.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "::ffff:8.8.8.8", "2606:4700::1111"])(
    "the address %s is permitted with HTTPS only",
    (address) => {
      expect(admits(none, address)).toBe(true);
      expect(admits(none, address, false)).toBe(false);
    },
  );
});

describe("the operator's allow list", () => {
  const some = new Destinations(parseAllowList(" 10.1.0.0/16, 127.0.0.1,fd00::/8 ,Receiver.internal.,"));

  test.each(["10.1.2.3", "127.0.0.1", "::ffff:10.1.2.3", "fd12::1"])(
    "the allow list permits the address %s, also without TLS",
    (address) => {
      expect(admits(some, address, false)).toBe(true);
    },
  );

  test.each(["10.2.0.1", "127.0.0.2", "fc00::1", "169.254.169.254"])(
    "the allow list does not permit the address %s",
    (address) => {
      expect(admits(some, address)).toBe(false);
    },
  );

  test("an allowed host name is permitted whatever it resolves to", () => {
    const destination = { address: "192.168.0.7", isEncrypted: false };

    expect(some.admits({ ...destination, host: "receiver.INTERNAL" })).toBe(true);
    expect(some.admits({ ...destination, host: "other.internal" })).toBe(false);
  });

  test.each([
    "10.0.0.256",
    "10.0.0.0/33",
    "10.0.0.0/",
    "https://a.example",
    "a b",
    "2130706433",
    "*.example",
  ])("the allow list entry %s is rejected", (entry) => {
    expect(() => parseAllowList(`10.0.0.1,${entry}`)).toThrow(entry);
  });
});

describe("URLs before their host name is resolved", () => {
  test.each([
    "https://127.0.0.1/hook",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[::10.0.0.1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/",
    "https://localhost./",
    "https://LOCALHOST/",
    "https://hook.localhost/",
  ])("the URL %s is refused because it leads into the own network", (url) => {
    expect(none.problemOf(url)).toMatch(/own network/);
  });

  test.each([
    "https://user:pass@example.com/",
    "https://user@example.com/",
    "http://example.com/",
    "http://8.8.8.8/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "example.com",
    "https://",
    "https://example.com:99999/",
    "",
  ])("the URL %s is refused with the reason", (url) => {
    expect(none.problemOf(url)).toMatch(/^must /);
  });

  test.each(["https://example.com/hook?token=1", "https://8.8.8.8:8443/", "https://[2606:4700::1111]/"])(
    "the URL %s is accepted",
    (url) => {
      expect(none.problemOf(url)).toBeUndefined();
    },
  );

  test("a URL is accepted if the allow list may permit it", () => {
    const networks = new Destinations(parseAllowList("10.1.0.0/16"));
    const names = new Destinations(parseAllowList("receiver.internal,localhost"));

    expect(networks.problemOf("http://10.1.2.3/")).toBeUndefined();
    expect(networks.problemOf("http://may-resolve-to-it.internal/")).toBeUndefined();
    expect(networks.problemOf("http://10.2.0.1/")).toMatch(/own network/);
    expect(names.problemOf("http://receiver.internal:8080/")).toBeUndefined();
    expect(names.problemOf("http://localhost:8080/")).toBeUndefined();
    expect(names.problemOf("http://other.internal/")).toMatch(/https/);
  });
});

test("the addresses of this machine are refused, also public ones, unless the operator allows them", () => {
  const own = new Set(["93.184.216.34", "2606:2800:220:1::1"]);
  const isOwn = (address: string) => own.has(address);
  const [none, some] = ["", "93.184.216.34"].map(
    (allowed) => new Destinations(parseAllowList(allowed), isOwn),
  );
  const admits = (destinations: Destinations | undefined, address: string) =>
    destinations?.admits({ host: "receiver.example", address, isEncrypted: true });

  expect([...own].map((address) => admits(none, address))).toEqual([false, false]);
  expect(none?.problemOf("https://93.184.216.34/hook")).toContain("the server's own network");
  expect([...own].map((address) => admits(some, address))).toEqual([true, false]);
  expect(admits(none, "93.184.216.35")).toBe(true);
});
