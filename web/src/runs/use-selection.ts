import type { RunItem } from "@errand/client";
import { useMemo, useRef, useState } from "react";

/** The runs that the user selects in order to stop them. */
export interface Selection {
  readonly runs: readonly RunItem[];
  readonly isAsking: boolean;
  has(id: string): boolean;
  /** `isRange`: all runs from the last one that was selected to this one. */
  toggle(id: string, isRange: boolean): void;
  /** Asks whether to stop the selected runs, or this one if none is selected. */
  askToStop(id?: string): void;
  setAsking(isAsking: boolean): void;
  clear(): void;
}

/** `offered`: the runs that can be selected, as they stand in the list. One that ends is no longer selected. */
export function useSelection(offered: readonly RunItem[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [isAsking, setAsking] = useState(false);
  const last = useRef<string>(undefined);
  return useMemo(() => {
    const runs = offered.filter(({ run_id: id }) => ids.has(id));
    const isOffered = (id: string) => offered.some(({ run_id: each }) => each === id);
    return {
      runs,
      isAsking,
      setAsking,
      has: (id) => ids.has(id),
      toggle: (id, isRange) => {
        if (isOffered(id)) {
          setIds(isRange ? withRange(ids, offered, last.current ?? id, id) : toggled(ids, id));
          last.current = id;
        }
      },
      askToStop: (id) => {
        if (runs.length === 0 && id !== undefined && isOffered(id)) {
          setIds(new Set([id]));
          setAsking(true);
        }
        setAsking((is) => is || runs.length > 0);
      },
      clear: () => setIds(new Set()),
    };
  }, [ids, isAsking, offered]);
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return ids.has(id) ? new Set([...ids].filter((each) => each !== id)) : new Set([...ids, id]);
}

function withRange(
  ids: ReadonlySet<string>,
  offered: readonly RunItem[],
  from: string,
  to: string,
): ReadonlySet<string> {
  const order = offered.map(({ run_id: id }) => id);
  const ends = [order.indexOf(from), order.indexOf(to)].filter((index) => index >= 0);
  return new Set([...ids, ...order.slice(Math.min(...ends), Math.max(...ends) + 1)]);
}
