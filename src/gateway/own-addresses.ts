import { networkInterfaces } from "node:os";

/** All by which this machine is reached; they change while it runs. */
export function ownAddresses(): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return new Set(addresses.map(({ address }) => address));
}
