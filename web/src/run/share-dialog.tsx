import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { copy } from "../parts/copy.ts";
import { exactTime } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";

const ACCESS = [
  ["VIEWER", "See the run"],
  ["EDITOR", "See it and send messages"],
] as const;

/** Creates links that open a run without an account, and takes them back. */
export function ShareDialog({
  runId,
  title,
  onClose,
}: {
  readonly runId: string;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const [access, setAccess] = useState<"VIEWER" | "EDITOR">("VIEWER");
  const queryKey = ["run", runId, "share-links"];
  const links = useQuery({ queryKey, queryFn: ({ signal }) => client.runs.shareLinks(runId, { signal }) });
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey }) };
  const create = useMutation({ mutationFn: () => client.runs.share(runId, { access }), ...settled });
  const remove = useMutation({ mutationFn: (id: string) => client.runs.unshare(runId, id), ...settled });
  const now = Date.now();
  const open = links.data?.share_links.filter(({ expires_at: at }) => Date.parse(at) > now) ?? [];
  const error = create.error ?? remove.error ?? links.error;
  return (
    <ModalOverlay className="overlay" isDismissable isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      <Modal>
        <Dialog className="dialog">
          <Heading slot="title">Share “{title}”</Heading>
          <p className="sm muted">Everyone who has the link sees the conversation for seven days.</p>
          <fieldset className="share-access">
            <legend className="label">People with the link may</legend>
            {ACCESS.map(([value, name]) => (
              <label className="check" key={value}>
                <input
                  type="radio"
                  name="access"
                  checked={access === value}
                  onChange={() => setAccess(value)}
                />
                {name}
              </label>
            ))}
          </fieldset>
          {error && <Problem error={error} />}
          {create.data && (
            <div className="row">
              <input className="input" readOnly value={create.data.url} aria-label="The link" />
              <button type="button" className="btn" onClick={() => copy(create.data.url, "Link")}>
                <Icon name="copy" /> Copy
              </button>
            </div>
          )}
          {create.data && <p className="hint">The link is shown only now.</p>}
          {open.length > 0 && (
            <ul className="share-links">
              {open.map(({ access: may, expires_at: expires, id }) => (
                <li className="row sm" key={id}>
                  <span className="grow">
                    {may === "EDITOR" ? "See and send messages" : "See"}
                    <span className="faint"> until {exactTime(expires)}</span>
                  </span>
                  <button type="button" className="btn ghost" onClick={() => remove.mutate(id)}>
                    Delete
                  </button>
                </li>
              ))}
            </ul>
          )}
          <div className="row">
            <button type="button" className="btn end" onClick={onClose}>
              Close
            </button>
            <button
              type="button"
              className="btn primary"
              disabled={create.isPending}
              onClick={() => create.mutate()}
            >
              {create.isPending ? "Creating…" : "Create a link"}
            </button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
