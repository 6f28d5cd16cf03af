import { type RunItem, withHiddenShown } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Icon, type IconName } from "../parts/icon.tsx";
import { problemText } from "../parts/problem.tsx";
import { STATES, stateWord } from "../parts/state.tsx";
import { useRunActions } from "../run/run-actions.ts";
import { runQuery } from "../server/queries.ts";
import { useRights } from "../server/rights.ts";
import { useFoundRuns } from "./found-runs.ts";
import { CONFIGURE, isOffered, OPERATE, type Place } from "./places.ts";

interface Command {
  readonly id: string;
  readonly name: string;
  readonly icon: IconName;
  /** The colour of the icon, and what it says to readers of the screen. */
  readonly tone?: string;
  readonly word?: string;
  /** Stands at the end: a repository, a key. */
  readonly note?: string | undefined;
  readonly staysOpen?: boolean;
  readonly perform: () => void;
}

interface Group {
  readonly name: string;
  readonly commands: readonly Command[];
}

interface CommandDeps {
  readonly onDone: () => void;
  readonly onShare: (run: RunItem) => void;
}

/** The commands: what can be done with the run that is open or has the focus, the pages, and the runs. */
export function CommandList({ runId, ...deps }: CommandDeps & { readonly runId: string | undefined }) {
  const { data: run } = useQuery({ ...runQuery(runId ?? ""), enabled: runId !== undefined });
  return run === undefined ? <Commands onDone={deps.onDone} /> : <CommandsOfRun run={run} {...deps} />;
}

function CommandsOfRun({ run, onDone, onShare }: CommandDeps & { readonly run: RunItem }) {
  const actions = useRunActions(run, run.state, () => onShare(run));
  const commands = actions.map(({ icon, id, key, name, perform }) => ({
    ...{ id, icon, name, note: key?.toUpperCase(), perform },
    // The dialog with the links stands in place of this one.
    staysOpen: id === "share",
  }));
  return <Commands about={{ name: `“${withHiddenShown(run.title)}”`, commands }} onDone={onDone} />;
}

/** The places that the user may go to. */
function usePlaces(): readonly Command[] {
  const navigate = useNavigate();
  const has = useRights();
  const places: readonly Place[] = [
    { name: "New run", path: "/new", icon: "plus" },
    { name: "All runs", path: "/", icon: "all" },
    ...CONFIGURE,
    ...OPERATE,
    { name: "Set up", path: "/setup", icon: "rules", needs: "operator" },
    { name: "Your account", path: "/account", icon: "person" },
  ];
  return places
    .filter((place) => isOffered(place, has))
    .map(({ icon, name, path }) => ({ id: path, icon, name, perform: () => void navigate({ to: path }) }));
}

/** The commands that have the text in their names, and what is to be said below them. */
function useGroups(text: string, about: Group | undefined): readonly [readonly Group[], string | false] {
  const navigate = useNavigate();
  const { error, isSearching, runs } = useFoundRuns(text);
  const isNamed = ({ name }: Command) => name.toLowerCase().includes(text.trim().toLowerCase());
  const ofRun = { name: about?.name ?? "", commands: about?.commands.filter(isNamed) ?? [] };
  const places = { name: "Go to", commands: usePlaces().filter(isNamed) };
  const found = {
    name: text === "" ? "Recent runs" : "Runs",
    commands: runs.map((run) => ({
      ...{ id: run.run_id, name: withHiddenShown(run.title), note: run.agent_config?.repository },
      ...{ icon: STATES[run.state].icon, tone: STATES[run.state].tone, word: stateWord(run.state, run) },
      perform: () => void navigate({ to: "/runs/$id", params: { id: run.run_id } }),
    })),
  };
  // What is found later stands last, so that nothing moves below the hand of the user.
  const groups = text === "" ? [ofRun, found, places] : [ofRun, places, found];
  if (error !== null) {
    return [groups, problemText(error).message];
  }
  const isEmpty = groups.every(({ commands }) => commands.length === 0);
  return [groups, isSearching ? "Searching the runs…" : isEmpty && "No run, action or page has these words."];
}

function Commands({ about, onDone }: { readonly about?: Group; readonly onDone: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string>();
  const [groups, status] = useGroups(text, about);
  const commands = groups.flatMap((group) => group.commands);
  const place = commands.findIndex(({ id }) => id === chosen);
  // Enter in an empty field does nothing: the first command may be one that stops a run.
  const index = place === -1 && text.trim() !== "" ? 0 : place;
  const current = commands[index];
  const perform = (command: Command) => {
    if (command.staysOpen !== true) {
      onDone();
    }
    command.perform();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen(commands[Math.max(0, Math.min(commands.length - 1, index + step))]?.id);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing && current !== undefined) {
      perform(current);
    }
  };
  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: The user has just opened this dialog in order to type.
        autoFocus
        className="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={current && `command-${current.id}`}
        aria-label="Command"
        placeholder="Find a run, an action or a page"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="commands" className="commands" role="listbox" aria-label="Commands">
        {groups.map((group) => (
          <GroupView key={group.name} group={group} current={current} onPerform={perform} />
        ))}
      </div>
      <p className="hint" role="status">
        {status}
      </p>
    </>
  );
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

function GroupView({
  group: { commands, name },
  current,
  onPerform,
}: {
  readonly group: Group;
  readonly current: Command | undefined;
  readonly onPerform: (command: Command) => void;
}) {
  const id = useId();
  return commands.length === 0 ? null : (
    // biome-ignore lint/a11y/useSemanticElements: A list box has no other groups.
    <div role="group" aria-labelledby={id}>
      <p className="label one" id={id} dir="auto">
        {name}
      </p>
      {commands.map((command) => (
        <Option
          key={command.id}
          command={command}
          isCurrent={command.id === current?.id}
          onPerform={onPerform}
        />
      ))}
    </div>
  );
}

function Option({
  command,
  isCurrent,
  onPerform,
}: {
  readonly command: Command;
  readonly isCurrent: boolean;
  readonly onPerform: (command: Command) => void;
}) {
  const { icon, id, name, note, tone = "", word } = command;
  const option = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isCurrent) {
      option.current?.scrollIntoView({ block: "nearest" });
    }
  }, [isCurrent]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: The text field above handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: The focus stays in the text field.
    <div
      ref={option}
      id={`command-${id}`}
      role="option"
      aria-selected={isCurrent}
      className="option"
      data-focused={isCurrent || undefined}
      onClick={() => onPerform(command)}
    >
      <span className={`state ${tone}`}>
        <Icon name={icon} />
        {word && <span className="sr">{word}: </span>}
      </span>
      <span className="one grow" dir="auto">
        {name}
      </span>
      {note && <span className="faint xs one">{note}</span>}
    </div>
  );
}
