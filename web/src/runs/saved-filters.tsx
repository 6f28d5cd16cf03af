import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { IconButton } from "../parts/icon-button.tsx";
import { type RunsSearch, runsSearch } from "./runs-search.ts";

const KEY = "errand.filters";

interface SavedFilter {
  readonly name: string;
  readonly search: RunsSearch;
}

/** The filters that the user has saved under a name, as links. They are kept in this browser. */
export function SavedFilters({ search }: { readonly search: RunsSearch }) {
  const [saved, setSaved] = useState(read);
  const [name, setName] = useState<string>();
  const write = (changed: readonly SavedFilter[]) => {
    localStorage.setItem(KEY, JSON.stringify(changed));
    setSaved(changed);
    setName(undefined);
  };
  const isSaved = saved.some((each) => isSame(each.search, search));
  const canSave = Object.keys(search).length > 0 && !isSaved;
  return saved.length === 0 && !canSave ? null : (
    <div className="saved-filters">
      {saved.map((each) => (
        <span className="filter" key={each.name}>
          <Link
            className={isSame(each.search, search) ? "pick on" : "pick"}
            to="/"
            search={each.search}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {each.name}
          </Link>
          <IconButton
            icon="close"
            name={`Delete the saved filters ${each.name}`}
            onClick={() => write(saved.filter((other) => other !== each))}
          />
        </span>
      ))}
      {canSave && name === undefined && (
        <button type="button" className="btn ghost" onClick={() => setName("")}>
          Save these filters
        </button>
      )}
      {canSave && name !== undefined && (
        <NameForm
          name={name}
          onChange={setName}
          onSave={(as) => write([...saved.filter((other) => other.name !== as), { name: as, search }])}
        />
      )}
    </div>
  );
}

function NameForm({
  name,
  onChange,
  onSave,
}: {
  readonly name: string;
  readonly onChange: (name: string | undefined) => void;
  readonly onSave: (name: string) => void;
}) {
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "") {
          onSave(name.trim());
        }
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: The user has just asked to type a name.
        autoFocus
        className="input"
        aria-label="Name of the filters"
        placeholder="Name"
        value={name}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={({ key }) => key === "Escape" && onChange(undefined)}
      />
      <button type="submit" className="btn">
        Save
      </button>
      <span className="hint">Kept in this browser.</span>
    </form>
  );
}

/** `runsSearch` writes the members in one order. */
function isSame(one: RunsSearch, other: RunsSearch): boolean {
  return JSON.stringify(runsSearch({ ...one })) === JSON.stringify(runsSearch({ ...other }));
}

/** What another version of the page, or a person, has written there may be anything. */
function read(): readonly SavedFilter[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored)
      ? stored.flatMap((each: unknown) => {
          const { name, search } = Object(each);
          return typeof name === "string" ? [{ name, search: runsSearch(Object(search)) }] : [];
        })
      : [];
  } catch {
    return [];
  }
}
