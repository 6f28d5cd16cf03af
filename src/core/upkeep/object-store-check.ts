import type { Clock } from "../basics/clock.ts";
import { newId } from "../basics/ids.ts";
import { type Check, fail, ok } from "../ports/check.ts";
import type { ObjectStore } from "../ports/object-store.ts";

const PROBE = Buffer.from("Errand checks that it can store files here.");
const REMEDY =
  "Check ERRAND_BLOB_URL, its key, and that the key may list, get, put and delete objects below the prefix.";

/** Stores, reads, lists and deletes an object, as the work of runs does. */
export function objectStoreCheck(objects: ObjectStore, clock: Clock): Check {
  return {
    name: "object_store",
    async run() {
      const began = clock.elapsedMs();
      const id = newId(clock.now());
      try {
        await objects.put(id, PROBE);
        const read: Uint8Array[] = [];
        for await (const piece of objects.read(id, PROBE.length)) {
          read.push(piece);
        }
        await objects.list(id, id)[Symbol.asyncIterator]().next();
        await objects.remove(id);
        if (!Buffer.concat(read).equals(PROBE)) {
          return fail(`${objects.location} returned other bytes than were stored.`, REMEDY);
        }
        return ok(
          `${objects.location} stored and read a file in ${Math.round(clock.elapsedMs() - began)} ms.`,
        );
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return fail(`${objects.location}: ${reason}`, REMEDY);
      }
    },
  };
}
