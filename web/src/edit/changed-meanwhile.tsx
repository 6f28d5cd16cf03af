import { APIError } from "@errand/client";
import { Icon } from "../parts/icon.tsx";

/** What a request says about the version that it is based on. */
export interface Based {
  readonly ifMatch?: string;
}

interface Change {
  readonly member: string;
  readonly before: string;
  readonly now: string;
}

/** The server has another version than the one that the user began with. */
export function isOutdated(error: unknown): boolean {
  return error instanceof APIError && error.status === 412;
}

/** Members that follow from other changes, or change by themselves. */
const LEFT_OUT = /^(?:created_by|environment|history|last_|scope|updated_)/;

/** The members that differ, with their values as text. */
export function changesBetween(before: object, now: object): readonly Change[] {
  const [old, current] = [membersOf(before), membersOf(now)];
  return [...new Set([...old.keys(), ...current.keys()])]
    .map((member) => ({ member, before: old.get(member) ?? "", now: current.get(member) ?? "" }))
    .filter((change) => change.before !== change.now);
}

function membersOf(value: object, path = ""): Map<string, string> {
  const members = Object.entries(value).flatMap(([name, member]: [string, unknown]): [string, string][] => {
    const place = path === "" ? name : `${path}.${name}`;
    if (LEFT_OUT.test(place)) {
      return [];
    }
    return typeof member === "object" && member !== null && !Array.isArray(member)
      ? [...membersOf(member, place)]
      : [[place, textOf(member)]];
  });
  return new Map(members);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Says what another person has changed while the form was open. What the user typed stays. */
export function ChangedMeanwhile({
  changes,
  onUse,
}: {
  readonly changes: readonly Change[];
  /** Puts the version of the server into the form. */
  readonly onUse: () => void;
}) {
  return (
    <div className="note fail" role="alert">
      <Icon name="warning" />
      <div className="grow">
        <p>This was changed while you had it open. Nothing of yours is saved yet.</p>
        <ul>
          {changes.map(({ before, member, now }) => (
            <li key={member}>
              <code>{member}</code>: <del dir="auto">{before || "nothing"}</del> →{" "}
              <ins dir="auto">{now || "nothing"}</ins>
            </li>
          ))}
        </ul>
        <p className="muted">Saving again replaces this by what you have in the form.</p>
      </div>
      <button type="button" className="btn" onClick={onUse}>
        Show the new version
      </button>
    </div>
  );
}
