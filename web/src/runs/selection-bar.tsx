import { type CancelStatus, type RunItem, withHiddenShown } from "@errand/client";
import { lazy, Suspense, useState } from "react";
import { plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { say } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { load } from "../server/load.ts";
import { queries } from "../server/queries.ts";
import type { Selection } from "./use-selection.ts";

const ConfirmDialog = lazy(async () => ({
  default: (await load(() => import("../parts/confirmed-button.tsx"))).ConfirmDialog,
}));

/** So many runs can be stopped with one request. */
const BATCH = 100;

const REFUSALS: Readonly<Record<Exclude<CancelStatus, "cancelled" | "already_cancelled">, string>> = {
  ended: "it had ended before.",
  not_found: "it does not exist any more, or you cannot see it.",
  not_authorized: "a policy does not let you stop it.",
};

interface Refusal {
  readonly title: string;
  readonly why: string;
}

/** What can be done with the selected runs, and which of them the server did not stop. */
export function SelectionBar({ selection }: { readonly selection: Selection }) {
  const { clear, isAsking, runs, setAsking } = selection;
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const what = plural(runs.length, "run");
  const stop = async () => {
    setRefusals([]);
    setRefusals(await stopRuns(runs));
    clear();
  };
  return (
    <div className={runs.length + refusals.length === 0 ? "selection" : "selection on"}>
      <div role="status">{runs.length > 0 && `${what} selected`}</div>
      {refusals.length > 0 && <Refusals refusals={refusals} onClose={() => setRefusals([])} />}
      {runs.length > 0 && (
        <>
          <button type="button" className="btn ghost end" onClick={clear}>
            Clear
          </button>
          <button type="button" className="btn danger" onClick={() => setAsking(true)}>
            <Icon name="stateStopped" /> Stop {what}
          </button>
        </>
      )}
      {isAsking && runs.length > 0 && (
        <Suspense fallback={null}>
          <ConfirmDialog
            question={`Stop ${what}?`}
            consequence="Their agents end now. What they have done so far stays."
            verb={`Stop ${what}`}
            action={stop}
            isOpen
            onOpenChange={setAsking}
          />
        </Suspense>
      )}
    </div>
  );
}

function Refusals({
  refusals,
  onClose,
}: {
  readonly refusals: readonly Refusal[];
  readonly onClose: () => void;
}) {
  return (
    <div className="note fail" role="alert">
      <Icon name="warning" />
      <ul className="grow">
        {refusals.map(({ title, why }) => (
          <li key={title + why} dir="auto">
            “{title}” was not stopped: {why}
          </li>
        ))}
      </ul>
      <IconButton icon="close" name="Close" onClick={onClose} />
    </div>
  );
}

async function stopRuns(runs: readonly RunItem[]): Promise<readonly Refusal[]> {
  const refusals: Refusal[] = [];
  const titles = new Map(runs.map(({ run_id: id, title }) => [id, withHiddenShown(title)]));
  const ids = [...titles.keys()];
  for (let at = 0; at < ids.length; at += BATCH) {
    const { results } = await client.runs.cancelMany(ids.slice(at, at + BATCH));
    for (const { run_id: id, status } of results) {
      if (status !== "cancelled" && status !== "already_cancelled") {
        refusals.push({ title: titles.get(id) ?? id, why: REFUSALS[status] });
      }
    }
  }
  void queries.invalidateQueries({ queryKey: ["runs"] });
  const stopped = ids.length - refusals.length;
  if (stopped > 0) {
    say(`${plural(stopped, "run")} stopped.`);
  }
  return refusals;
}
