import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { useRights } from "../server/rights.ts";
import { CONFIGURE, isOffered, OPERATE, type Place } from "./places.ts";

const LIST_OF_KEYS: readonly (readonly [keys: string, effect: string])[] = [
  ["Ctrl K", "Commands"],
  ["C", "New run"],
  ["/", "Search runs, or in a run its whole log"],
  ["Enter, Shift Enter", "In a search: next and previous match"],
  ["G then M, N, R, A", "Mine, Needs you, Running, All"],
  ["J, K", "Next and previous entry"],
  ["Enter", "Open"],
  ["X", "In the list: select a run, with Shift all up to it"],
  ["A, E", "In the list: answer the run, stop the run or the selected ones"],
  ["Y, N", "Answer the question in view"],
  ["Q, F", "Next question, next failure"],
  ["O", "Open or close an entry"],
  ["L, M", "Copy a link, copy as Markdown"],
  ["1 to 5", "Tabs of a run"],
  ["J, K and N, P", "In changes: next and previous file, next and previous hunk"],
  ["V, U", "In changes: file viewed, one or two columns"],
  ["↑, ↓", "In changes: previous and next line, with Shift several lines"],
  ["C, S", "In changes: comment on the line, send the comments"],
  ["Esc", "Leave the text field"],
  ["?", "This list"],
];

export type DialogName = "commands" | "keys";

/** The dialog with the commands, or with the list of keys. */
export function CommandDialog({
  shown,
  onClose,
}: {
  readonly shown: DialogName;
  readonly onClose: () => void;
}) {
  return (
    <ModalOverlay className="overlay" isDismissable isOpen onOpenChange={(open) => open || onClose()}>
      <Modal>
        <Dialog className="dialog" aria-label={shown === "keys" ? "Keys" : "Commands"}>
          {shown === "keys" ? <Keys /> : <CommandList onDone={onClose} />}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Keys() {
  return (
    <>
      <h2>Keys</h2>
      <dl className="keys">
        {LIST_OF_KEYS.map(([keys, effect]) => (
          <div key={keys}>
            <dt>{effect}</dt>
            <dd>
              <kbd>{keys}</kbd>
            </dd>
          </div>
        ))}
      </dl>
      <p className="hint">Single keys can be switched off in your account.</p>
    </>
  );
}

function CommandList({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const has = useRights();
  const places: readonly Omit<Place, "icon">[] = [
    { name: "New run", path: "/new" },
    { name: "All runs", path: "/" },
    ...CONFIGURE,
    ...OPERATE,
    { name: "Set up", path: "/setup", needs: "operator" },
    { name: "Your account", path: "/account" },
  ];
  const commands = places.filter(
    (place) => isOffered(place, has) && place.name.toLowerCase().includes(text.toLowerCase()),
  );
  const index = Math.min(chosen, commands.length - 1);
  const run = (path: string | undefined) => {
    if (path !== undefined) {
      onDone();
      void navigate({ to: path });
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
        aria-activedescendant={index < 0 ? undefined : `command-${index}`}
        aria-label="Command"
        placeholder="Go to …"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            setChosen(
              Math.max(0, Math.min(commands.length - 1, index + (event.key === "ArrowDown" ? 1 : -1))),
            );
          } else if (event.key === "Enter") {
            run(commands[index]?.path);
          }
        }}
      />
      <div id="commands" role="listbox" aria-label="Commands">
        {commands.map(({ name, path }, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: The text field above handles the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: The focus stays in the text field.
          <div
            key={path}
            id={`command-${place}`}
            role="option"
            aria-selected={place === index}
            className="option"
            {...(place === index ? { "data-focused": true } : {})}
            onClick={() => run(path)}
          >
            {name}
          </div>
        ))}
        {commands.length === 0 && <p className="hint">No command has this name.</p>}
      </div>
    </>
  );
}
