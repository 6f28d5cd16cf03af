import type { Clock } from "../basics/clock.ts";
import { newId } from "../basics/ids.ts";
import { type Check, fail, ok } from "../ports/check.ts";
import type { ObjectStore } from "../ports/object-store.ts";

const PROBE = Buffer.from("Errand checks that it can store files here.");
const OWNER_REMEDY =
  "Set an ERRAND_BLOB_URL with a prefix of its own, and copy the objects there. If this database has replaced the other one, delete the object `owner`.";
const REMEDY =
  "Check ERRAND_BLOB_URL, its key, and that the key may list, get, put and delete objects below the prefix.";

/** Stores, reads, lists and deletes an object, as the work of runs does. */
export function objectStoreCheck(
  objects: ObjectStore,
  clock: Clock,
  findOtherOwner: () => Promise<string | undefined>,
): Check {
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
        const other = await findOtherOwner();
        if (other !== undefined) {
          const who = `${objects.location} belongs to another database (${other})`;
          return fail(`${who}, so files that are no longer needed stay.`, OWNER_REMEDY);
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
