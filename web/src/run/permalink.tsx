import { clockTime, exactTime } from "../parts/format.ts";
import type { Entry } from "./conversation/entries.ts";

/** The time of an entry, which is the link to it. */
export function Permalink({ entry }: { readonly entry: Pick<Entry, "key" | "at"> }) {
  return (
    <a className="permalink end" href={`#${entry.key}`} title={exactTime(entry.at)}>
      <time dateTime={entry.at}>{clockTime(entry.at)}</time>
    </a>
  );
}
