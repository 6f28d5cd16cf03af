import { closeSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { programStarts } from "./program-starts.ts";

/** A process that starts a program when it has no file descriptor left, and prints the resulting error. */
const start = programStarts("/bin/true", "/bin")[process.argv[2] ?? ""];
const taken = takeAll();
// One descriptor is freed: reading a file is possible, which some starts do first, but a pipe needs two.
closeSync(taken.pop() ?? 0);
const told = await Promise.try(() => start?.()).then(String, String);
// By then an unhandled error would have ended the process.
await setImmediate();
for (const descriptor of taken) {
  closeSync(descriptor);
}
process.stdout.write(told);

function takeAll(): number[] {
  const descriptors: number[] = [];
  try {
    for (;;) {
      descriptors.push(openSync("/dev/null", "r"));
    }
  } catch {
    return descriptors;
  }
}
