import type { WithResponse } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useState } from "react";
import { PageHead } from "../frame/page-head.tsx";
import { ConfirmedButton } from "../parts/confirmed-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { useMay, type WriteScope } from "../server/rights.ts";
import { type Based, ChangedMeanwhile, changesBetween, isOutdated } from "./changed-meanwhile.tsx";
import { useReturn } from "./edit-form.tsx";

/** In the address, the place of the id of an item that does not exist yet. */
const NEW = "new";

/** An item and the headers of its answer. */
type Answer<Item> = Pick<WithResponse<Item>, "data" | "response">;

/** Sends a write that is refused if another person has changed the item since the page was opened. */
export type Guard = <T>(write: (based: Based) => Promise<T>) => Promise<T>;

/** The page of one item: it creates the item, or changes or deletes it. `children` is the form. */
export function EditPage<Item extends { readonly name: string }>({
  what,
  id,
  list,
  text,
  scope,
  read,
  remove,
  consequence,
  children,
}: {
  /** In words: `policy`. */
  readonly what: string;
  readonly id: string;
  /** The address of the list. */
  readonly list: string;
  /** What such an item is for. */
  readonly text: string;
  readonly scope: WriteScope;
  readonly read: (id: string, signal?: AbortSignal) => Promise<Answer<Item>>;
  readonly remove: (id: string, based: Based) => Promise<unknown>;
  /** What happens when the item is deleted. */
  readonly consequence: string;
  readonly children: (item: Item | undefined, guard: Guard) => ReactNode;
}) {
  const isNew = id === NEW;
  const may = useMay(scope);
  const finish = useReturn(list);
  // The form starts with what the server has when the page is opened, and keeps what the user types.
  const { data: opened, error } = useQuery({
    queryKey: ["item", what, id],
    queryFn: ({ signal }) => read(id, signal),
    enabled: !isNew,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  // The version in the form, and the one that is there now if a write was refused.
  const [shown, setShown] = useState<Answer<Item>>();
  const [newest, setNewest] = useState<Answer<Item>>();
  const version = shown ?? opened;
  const item = version?.data;
  const guard: Guard = async (write) => {
    const tag = (newest ?? version)?.response.headers.get("etag");
    try {
      return await write(tag ? { ifMatch: tag } : {});
    } catch (refusal) {
      if (isOutdated(refusal)) {
        setNewest(await read(id));
      }
      throw refusal;
    }
  };
  return (
    <div className="page">
      <PageHead title={isNew ? `New ${what}` : (item?.name ?? "…")} text={text}>
        {item && may && (
          <ConfirmedButton
            question={`Delete “${item.name}”?`}
            consequence={consequence}
            verb={`Delete ${what}`}
            action={async () => {
              await guard((based) => remove(id, based));
              await finish(`The ${what} is deleted.`);
            }}
          >
            Delete
          </ConfirmedButton>
        )}
      </PageHead>
      {may === false && (
        <div className="note">
          <Icon name="secrets" />
          <p className="grow">You may not change this. Ask an administrator of your team.</p>
        </div>
      )}
      {error && <Problem error={error} />}
      {may === undefined || (!isNew && !item && !error) ? <Loading what={`the ${what}`} /> : null}
      {item && newest && (
        <ChangedMeanwhile
          changes={changesBetween(item, newest.data)}
          onUse={() => {
            setShown(newest);
            setNewest(undefined);
          }}
        />
      )}
      {may && (isNew || item) && (
        <Fragment key={version?.response.headers.get("etag")}>{children(item, guard)}</Fragment>
      )}
    </div>
  );
}
