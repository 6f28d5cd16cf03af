import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { CONFIGURE, OPERATE } from "./places.ts";

const KEYS_OFF = "errand.keys-off";

/** Whether single keys are switched off in this browser. */
export function areKeysOff(): boolean {
  return localStorage.getItem(KEYS_OFF) === "yes";
}

export function switchKeys(off: boolean): void {
  localStorage.setItem(KEYS_OFF, off ? "yes" : "no");
}

/** True while the user is typing, or with a key that belongs to the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return (
    event.metaKey ||
    event.ctrlKey ||
    event.altKey ||
    target?.isContentEditable === true ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target?.tagName ?? "") ||
    target?.closest("[role=dialog],[role=listbox],[role=menu]") !== null
  );
}

const LIST_OF_KEYS: readonly (readonly [keys: string, effect: string])[] = [
  ["Ctrl K", "Commands"],
  ["C", "New run"],
  ["/", "Search"],
  ["G then M, N, R, A", "Mine, Needs you, Running, All"],
  ["J, K", "Next and previous entry"],
  ["Enter", "Open"],
  ["Y, N", "Answer the question in view"],
  ["Q, F", "Next question, next failure"],
  ["O", "Open or close an entry"],
  ["L, M", "Copy a link, copy as Markdown"],
  ["1 to 5", "Tabs of a run"],
  ["Esc", "Leave the text field"],
  ["?", "This list"],
];

const VIEW_KEYS: Readonly<Record<string, "mine" | "needs" | "running" | undefined>> = {
  m: "mine",
  n: "needs",
  r: "running",
  a: undefined,
};

/** The keys that work on every page, the list of commands and the list of keys. */
export function Commands() {
  const navigate = useNavigate();
  const [shown, setShown] = useState<"commands" | "keys" | undefined>();
  const lastG = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setShown("commands");
        return;
      }
      if (isTyping(event) || areKeysOff()) {
        return;
      }
      const key = event.key.toLowerCase();
      if (Date.now() - lastG.current < 1_500 && key in VIEW_KEYS) {
        lastG.current = 0;
        const view = VIEW_KEYS[key];
        void navigate({ to: "/", search: view === undefined ? {} : { view } });
      } else if (key === "g") {
        lastG.current = Date.now();
      } else if (key === "c") {
        event.preventDefault();
        void navigate({ to: "/new" });
      } else if (key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
      } else if (key === "?") {
        setShown("keys");
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate]);
  return (
    <ModalOverlay
      className="overlay"
      isDismissable
      isOpen={shown !== undefined}
      onOpenChange={(open) => open || setShown(undefined)}
    >
      <Modal>
        <Dialog className="dialog" aria-label={shown === "keys" ? "Keys" : "Commands"}>
          {shown === "keys" ? <Keys /> : <CommandList onDone={() => setShown(undefined)} />}
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
  const commands = [
    { name: "New run", path: "/new" },
    { name: "All runs", path: "/" },
    ...CONFIGURE,
    ...OPERATE,
    { name: "Set up", path: "/setup" },
    { name: "Your account", path: "/account" },
  ].filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
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
