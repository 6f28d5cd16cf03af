import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Button, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { Icon } from "../parts/icon.tsx";
import { OFFERED_SOURCES, sourceOf } from "../parts/source.ts";
import { STATES } from "../parts/state.tsx";
import { environmentsQuery } from "../server/queries.ts";
import type { RunsSearch } from "./runs-search.ts";

const SINCE = { day: "Last day", week: "Last week", month: "Last month" } as const;

/** The search, and one button per filter. Both stand in the address. */
export function Filters({ search }: { readonly search: RunsSearch }) {
  const navigate = useNavigate({ from: "/" });
  const { data: environments } = useQuery(environmentsQuery);
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => setText(search.q ?? ""), [search.q]);
  const set = (
    change: { readonly [Key in keyof RunsSearch]?: RunsSearch[Key] | undefined },
    replace = false,
  ) => {
    const changed = Object.fromEntries(
      Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined && value !== ""),
    ) as RunsSearch;
    void navigate({ search: changed, replace });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: Only typing starts the timer.
  useEffect(() => {
    const timer = setTimeout(() => text !== (search.q ?? "") && set({ q: text }, true), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const filters = [
    <Filter
      key="state"
      name="State"
      value={search.state}
      options={Object.entries(STATES).map(([id, { word }]) => ({ id, name: word }))}
      onChange={(state) => set({ state: state as RunsSearch["state"] })}
    />,
    <Filter
      key="source"
      name="Source"
      value={search.source}
      options={OFFERED_SOURCES.map((id) => ({ id, name: sourceOf(id).name }))}
      onChange={(source) => set({ source: source as RunsSearch["source"] })}
    />,
    <Filter
      key="environment"
      name="Environment"
      value={search.environment}
      options={(environments?.environments ?? []).map(({ uid, config }) => ({ id: uid, name: config.name }))}
      onChange={(environment) => set({ environment })}
    />,
    <Filter
      key="since"
      name="Created"
      value={search.since}
      options={Object.entries(SINCE).map(([id, name]) => ({ id, name }))}
      onChange={(since) => set({ since: since as RunsSearch["since"] })}
    />,
  ];
  // Active filters stand first.
  const isActive = (key: string | null) => search[key as keyof RunsSearch] !== undefined;
  return (
    <search className="filters">
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
      {filters.toSorted((one, other) => Number(isActive(other.key)) - Number(isActive(one.key)))}
    </search>
  );
}

interface Option {
  readonly id: string;
  readonly name: string;
}

function Filter({
  name,
  value,
  options,
  onChange,
}: {
  readonly name: string;
  readonly value: string | undefined;
  readonly options: readonly Option[];
  readonly onChange: (value: string | undefined) => void;
}) {
  const chosen = options.find(({ id }) => id === value);
  return (
    <span className="filter">
      <Select
        aria-label={name}
        value={value ?? null}
        onChange={(key) => onChange(key === null ? undefined : String(key))}
      >
        <Button className={value === undefined ? "pick" : "pick on"}>
          <span className="key">{name}</span>
          {value !== undefined && (
            <SelectValue>
              <b>{chosen?.name ?? value}</b>
            </SelectValue>
          )}
          {value === undefined && <Icon name="chevronDown" />}
        </Button>
        <Popover className="popover">
          <ListBox items={options} renderEmptyState={() => <p className="hint pad">There is none.</p>}>
            {(option) => (
              <ListBoxItem className="option" id={option.id} textValue={option.name}>
                {option.name}
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </Select>
      {value !== undefined && (
        <button
          type="button"
          className="btn ghost only-icon"
          aria-label={`Remove the filter ${name}`}
          onClick={() => onChange(undefined)}
        >
          <Icon name="close" />
        </button>
      )}
    </span>
  );
}
