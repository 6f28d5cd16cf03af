import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Loading, Problem } from "../parts/problem.tsx";

export type Column<Item> = readonly [title: string, cell: (item: Item) => ReactNode];

/** A table of what the server lists. `none` stands in its place when there is nothing. */
export function ListTable<Item>({
  what,
  read,
  keyOf,
  columns,
  none,
}: {
  /** In words: `environments`. */
  readonly what: string;
  readonly read: (signal: AbortSignal) => Promise<readonly Item[]>;
  readonly keyOf: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
  readonly none: string;
}) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["list", what],
    queryFn: ({ signal }) => read(signal),
  });
  if (isPending) {
    return <Loading what={what} />;
  }
  if (error) {
    return <Problem error={error} onRetry={() => void refetch()} />;
  }
  if (data.length === 0) {
    return <p className="muted sm">{none}</p>;
  }
  return (
    <table className="table">
      <thead>
        <tr>
          {columns.map(([title]) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {data.map((item) => (
          <tr key={keyOf(item)}>
            {columns.map(([title, cell]) => (
              <td key={title} data-title={title} dir="auto">
                {cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The name of an item, with a text below it. With `to`, it leads to the page of the item. */
export function Named({
  name,
  text,
  to,
}: {
  readonly name: string;
  readonly text?: string | undefined;
  readonly to?: string;
}) {
  return (
    <>
      <b>{to === undefined ? name : <Link to={to}>{name}</Link>}</b>
      {text && <span className="muted block">{text}</span>}
    </>
  );
}
