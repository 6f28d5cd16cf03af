import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { Filter } from "./filter.tsx";
import { FILTERS, type FilterPlace } from "./filter-options.ts";
import type { RunsSearch } from "./runs-search.ts";

type Change = { readonly [Key in keyof RunsSearch]?: string | undefined };

/** The search, and one button per filter. Both stand in the address. */
export function Filters({ search }: { readonly search: RunsSearch }) {
  const navigate = useNavigate({ from: "/" });
  const [isOpen, setOpen] = useState(false);
  const rest = useId();
  const set = (change: Change, replace = false) => {
    const changed = Object.fromEntries(
      Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined && value !== ""),
    ) as RunsSearch;
    void navigate({ search: changed, replace });
  };
  const isActive = ({ key }: FilterPlace) => search[key] !== undefined;
  // The view "Mine" has its person.
  const filters = FILTERS.filter(({ key }) => key !== "person" || search.view !== "mine");
  const filterOf = ({ key, name, useOptions }: FilterPlace) => (
    <Filter
      key={key}
      name={name}
      value={search[key]}
      useOptions={useOptions}
      onChange={(value) => set({ [key]: value })}
    />
  );
  const common = filters.filter((place) => place.isRare !== true && !isActive(place) && place.key !== "sort");
  const sort = filters.filter(({ key }) => key === "sort");
  return (
    <search className="filters">
      <SearchField text={search.q ?? ""} onChange={(q) => set({ q }, true)} />
      {filters.filter((place) => isActive(place) && place.key !== "sort").map(filterOf)}
      {common.map(filterOf)}
      <button
        type="button"
        className="pick"
        aria-expanded={isOpen}
        aria-controls={rest}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="key">More filters</span>
        <Icon name="chevronDown" />
      </button>
      {sort.map(filterOf)}
      <div id={rest} className="filters-more" hidden={!isOpen}>
        {filters.filter((place) => place.isRare === true && !isActive(place)).map(filterOf)}
      </div>
    </search>
  );
}

function SearchField({
  text: given,
  onChange,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: Only typing starts the timer.
  useEffect(() => {
    const timer = setTimeout(() => text !== given && onChange(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="search">
      <Icon name="search" />
      <input
        className="input"
        type="search"
        aria-label="Search runs"
        placeholder="Search title, prompt, skill"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <kbd className="desk-only">/</kbd>
    </div>
  );
}
