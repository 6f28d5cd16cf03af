import type { RunFollowup } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ChangedMeanwhile, changesBetween, isOutdated } from "../edit/changed-meanwhile.tsx";
import { Avatar } from "../parts/avatar.tsx";
import { bytes } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { sourceOf } from "../parts/source.ts";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";
import { Markdown } from "./content.tsx";
import type { FollowUpEntry, PromptEntry } from "./conversation/entries.ts";
import { personName, safeUrl } from "./names.ts";
import { Permalink } from "./permalink.tsx";
import { useOpened, useRun } from "./run-context.tsx";

export function Prompt({ entry }: { readonly entry: PromptEntry }) {
  const { run } = useRun();
  const name = personName(run?.creator);
  const source = run === undefined ? undefined : sourceOf(run.source);
  const url = safeUrl(run?.trigger_url);
  return (
    <article className="said person" id={entry.key}>
      <Avatar name={name} large />
      <div>
        <div className="by">
          <b>{name}</b>
          {source && (
            <span className="faint xs">
              {url === undefined ? (
                `from ${source.name}`
              ) : (
                <>
                  in{" "}
                  <a className="plain" href={url} target="_blank" rel="noopener noreferrer">
                    {source.name}
                  </a>
                </>
              )}
            </span>
          )}
          <Permalink entry={entry} />
        </div>
        <PersonText
          id={entry.key}
          text={run?.prompt || (run?.agent_skill ? `Skill: ${run.agent_skill.name}` : "")}
        />
        <GivenFiles files={entry.files} />
      </div>
    </article>
  );
}

/** The files that came with a message, as the workspace has them. */
function GivenFiles({ files = [] }: { readonly files: PromptEntry["files"] | undefined }) {
  return files.length === 0 ? null : (
    <ul className="given-files">
      {files.map(({ path, size_bytes: size }) => (
        <li className="chip" key={path}>
          <Icon name="attach" />
          {path} <span className="faint">{bytes(size)}</span>
        </li>
      ))}
    </ul>
  );
}

const FOLLOW_UP_STATES: Readonly<Record<FollowUpEntry["state"], readonly [IconName, text: string]>> = {
  held: ["clock", "Waiting: given with the next turn"],
  given: ["check", "Read by the agent"],
  steered: ["check", "Read by the agent during its turn"],
  withdrawn: ["close", "Withdrawn"],
  refused: ["close", "Refused"],
};

export function FollowUp({ entry }: { readonly entry: FollowUpEntry }) {
  const { name, shown, known } = useAuthor(entry);
  const [icon, text] = FOLLOW_UP_STATES[entry.state];
  return (
    <article className="said person" id={entry.key}>
      <Avatar name={name} large />
      <div>
        <div className="by">
          <b>{shown}</b>
          {known && <span className="faint xs">from {sourceOf(known.source).name}</span>}
          <span className="chip">
            <Icon name={icon} />
            {text}
          </span>
          <Permalink entry={entry} />
        </div>
        <PersonText id={entry.key} text={entry.text ?? known?.message ?? "…"} />
        <GivenFiles files={entry.files} />
      </div>
    </article>
  );
}

/** A follow-up that the agent has not received: its author may still change or withdraw it. */
export function HeldFollowUp({ entry }: { readonly entry: FollowUpEntry }) {
  const { isGuest, runId } = useRun();
  const { shown, known } = useAuthor(entry);
  const text = entry.text ?? known?.message ?? "";
  const [draft, setDraft] = useState<string>();
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }) };
  const withdraw = useMutation({
    mutationFn: () => client.runs.withdrawFollowUp(runId, entry.followUpId),
    ...settled,
  });
  // The text that the change began with, and the one that is there now if the change was refused.
  const [begun, setBegun] = useState<Version>();
  const [newest, setNewest] = useState<Version>();
  const read = async (): Promise<Version> => {
    const { data, response } = await client.runs.retrieveFollowUp(runId, entry.followUpId).withResponse();
    return { message: data.message, ifMatch: response.headers.get("etag") ?? undefined };
  };
  const show = (version: Version | undefined) => {
    setBegun(version);
    setNewest(undefined);
    setDraft(version?.message);
  };
  const begin = useMutation({ mutationFn: read, onSuccess: show });
  const edit = useMutation({
    mutationFn: (message: string) =>
      client.runs.updateFollowUp(
        runId,
        entry.followUpId,
        { message },
        { ifMatch: (newest ?? begun)?.ifMatch },
      ),
    onSuccess: () => show(undefined),
    onError: async (refusal) => {
      if (isOutdated(refusal)) {
        setNewest(await read());
      }
    },
    ...settled,
  });
  const waiting = known?.status === "waiting_approval" ? "Waiting for approval" : FOLLOW_UP_STATES.held[1];
  const error = withdraw.error ?? begin.error ?? (isOutdated(edit.error) ? null : edit.error);
  return (
    <article className="held inset" id={entry.key}>
      <div className="by row wrap">
        <b>{shown}</b>
        <span className="chip">
          <Icon name="clock" />
          {waiting}
        </span>
        {!isGuest && draft === undefined && (
          <span className="end row">
            <button
              type="button"
              className="btn ghost"
              disabled={begin.isPending}
              onClick={() => begin.mutate()}
            >
              Edit
            </button>
            <button
              type="button"
              className="btn ghost"
              disabled={withdraw.isPending}
              onClick={() => withdraw.mutate()}
            >
              {withdraw.isPending ? "Withdrawing…" : "Withdraw"}
            </button>
          </span>
        )}
      </div>
      {draft === undefined ? (
        <>
          <PersonText id={entry.key} text={text} />
          <GivenFiles files={entry.files} />
        </>
      ) : (
        <form
          className="box"
          onSubmit={(event) => {
            event.preventDefault();
            edit.mutate(draft);
          }}
        >
          <textarea
            aria-label="Text of the follow-up"
            value={draft}
            rows={2}
            onChange={({ target }) => setDraft(target.value)}
          />
          <div className="bar">
            <button type="button" className="btn ghost end" onClick={() => show(undefined)}>
              Cancel
            </button>
            <button type="submit" className="btn primary" disabled={edit.isPending || draft.trim() === ""}>
              {edit.isPending ? "Saving…" : "Save"}
            </button>
          </div>
        </form>
      )}
      {begun && newest && (
        <ChangedMeanwhile
          changes={changesBetween({ message: begun.message }, { message: newest.message })}
          onUse={() => show(newest)}
        />
      )}
      {error && <Problem error={error} />}
    </article>
  );
}

interface Version {
  readonly message: string;
  readonly ifMatch: string | undefined;
}

/** A guest does not get the list of follow-ups, but knows the creator of the run. */
function useAuthor(entry: FollowUpEntry): {
  readonly name: string;
  readonly shown: string;
  readonly known: RunFollowup | undefined;
} {
  const { followUps, ownUid, run } = useRun();
  const known = followUps.get(entry.followUpId);
  const person = known?.author ?? (entry.authorId === run?.creator.uid ? run?.creator : undefined);
  const name = entry.isGuest ? "A guest" : person === undefined ? "A member" : personName(person);
  return { name, shown: person !== undefined && person.uid === ownUid ? "You" : name, known };
}

const FOLDED_LINES = 12;

/** What a person wrote. A long text is folded. */
function PersonText({ id, text }: { readonly id: string; readonly text: string }) {
  const isLong = text.split("\n").length > FOLDED_LINES || text.length > 1_500;
  const [isOpen, setOpen] = useOpened(id, false);
  return (
    <div className="person-text">
      <div className={isLong && !isOpen ? "folded" : ""}>
        <Markdown text={text} />
      </div>
      {isLong && (
        <button type="button" className="btn ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </button>
      )}
    </div>
  );
}
