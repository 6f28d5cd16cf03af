import { useQuery } from "@tanstack/react-query";
import { Icon } from "../parts/icon.tsx";
import { platformName } from "../parts/source.ts";
import { threadsQuery } from "../server/queries.ts";
import { heldText } from "./held-text.ts";
import { useRun } from "./run-context.tsx";

const REFETCH_MS = 30_000;

/** Says why the threads of the run do not show yet what this page shows. */
export function HeldMessages() {
  const { isGuest, runId } = useRun();
  const query = { ...threadsQuery(runId), enabled: !isGuest, refetchInterval: REFETCH_MS };
  const threads = useQuery(query).data?.threads ?? [];
  const texts = threads.flatMap(({ held, integration }) =>
    held === undefined ? [] : [heldText(platformName(integration), held)],
  );
  return [...new Set(texts)].map((text) => (
    <p className="system-line inset" key={text} role="status">
      <Icon name="clock" /> {text}
    </p>
  ));
}
