import { withHiddenShown } from "@errand/client";
import type { ReactNode } from "react";
import { clockTime, duration, plural } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { PlainText } from "./content.tsx";
import type { Entry } from "./conversation/entries.ts";
import { useOpened } from "./run-context.tsx";

/** What the system did, in one line. Its steps are inside. */
export function SystemView({ entries, id }: { readonly entries: readonly Entry[]; readonly id: string }) {
  const hasFailed = entries.some((entry) => entry.kind === "step" && entry.status === "failed");
  const [isOpen, setOpen] = useOpened(id, hasFailed);
  const { icon, text } = headline(entries);
  const inside = entries.filter((entry) => entry.kind !== "line" || entry.name !== "ended");
  const head = (
    <>
      <Icon name={icon} className={icon === "stateWorking" ? "turning" : ""} />
      <span>{text}</span>
    </>
  );
  if (inside.length < 2) {
    return (
      <p className="system-line inset" id={id}>
        {head}
      </p>
    );
  }
  return (
    <div className="inset" id={id}>
      <button type="button" className="system-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {head}
        <Icon name="chevron" className="chevron" />
      </button>
      {isOpen && <ul className="system-steps">{inside.map((entry) => systemLine(entry))}</ul>}
    </div>
  );
}

function headline(entries: readonly Entry[]): { readonly icon: IconName; readonly text: string } {
  const lines = entries.filter((entry) => entry.kind === "line");
  const steps = entries.filter((entry) => entry.kind === "step");
  const ended = lines.find(({ name }) => name === "ended");
  if (ended !== undefined) {
    const stopped = ended.state === "CANCELLED" ? "Stopped" : "Ended";
    const turns = ended.turn === 0 ? "" : ` after ${plural(ended.turn, "turn")}`;
    const reason = ended.text === "" ? "" : `: ${withHiddenShown(ended.text)}`;
    return { icon: "clock", text: `${stopped} ${clockTime(ended.at)}${turns}${reason}` };
  }
  const failed = steps.find(({ status }) => status === "failed");
  if (failed !== undefined) {
    return { icon: "stateFailed", text: `${failed.title} failed` };
  }
  const ready = lines.find(({ name }) => name === "ready");
  const [first] = entries;
  if (ready !== undefined && first !== undefined) {
    const seconds = (Date.parse(ready.at) - Date.parse(first.at)) / 1_000;
    const counted = steps.length === 0 ? "" : `, ${plural(steps.length, "step")}`;
    return {
      icon: "check",
      text: `${ready.text}${seconds >= 1 ? ` in ${duration(seconds)}` : ""}${counted}`,
    };
  }
  const running = steps.findLast(({ status }) => status === "running");
  if (running !== undefined) {
    return { icon: "stateWorking", text: running.title };
  }
  const last = lines.findLast(({ name }) => name !== "turn") ?? steps.at(-1);
  return {
    icon: "system",
    text: withHiddenShown(
      last === undefined ? "The system did something" : last.kind === "line" ? last.text : last.title,
    ),
  };
}

function systemLine(entry: Entry): ReactNode {
  const time = <time className="faint end">{clockTime(entry.at)}</time>;
  switch (entry.kind) {
    case "step": {
      const seconds = (Date.parse(entry.lastAt) - Date.parse(entry.at)) / 1_000;
      return (
        <li key={entry.key}>
          <p className="row">
            <Icon
              name={
                entry.status === "failed"
                  ? "stateFailed"
                  : entry.status === "running"
                    ? "stateWorking"
                    : "check"
              }
              className={entry.status === "running" ? "turning" : ""}
            />
            <span className="one">{withHiddenShown(entry.title)}</span>
            <span className="faint end">{seconds >= 1 ? duration(seconds) : ""}</span>
          </p>
          {entry.output !== "" && <PlainText text={entry.output} label={entry.title} />}
        </li>
      );
    }
    case "other":
      return (
        <li key={entry.key}>
          <p className="row">
            <Icon name="code" />
            <span className="one">Other update: {withHiddenShown(entry.name)}</span>
          </p>
          <PlainText text={JSON.stringify(entry.data, null, 2) ?? ""} label="Content as JSON" />
        </li>
      );
    case "line":
      return (
        <li key={entry.key}>
          <p className="row">
            <Icon name={entry.name === "notice" ? "warning" : "system"} />
            <span className="grow">{withHiddenShown(entry.text)}</span>
            {time}
          </p>
        </li>
      );
    default:
      return null;
  }
}
