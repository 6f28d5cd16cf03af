import type { RunItem } from "@errand/client";
import { useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { ShareDialog } from "../run/share-dialog.tsx";
import { CommandList } from "./command-list.tsx";

const LIST_OF_KEYS: readonly (readonly [keys: string, effect: string])[] = [
  ["Ctrl K", "Commands"],
  ["C", "New run"],
  ["/", "Search runs, or in a run its whole log"],
  ["Enter, Shift Enter", "In a search: next and previous match"],
  ["G then M, N, R, A", "Mine, Needs you, Running, All"],
  ["J, K", "Next and previous entry"],
  ["←, →", "On the board: previous and next column"],
  ["Enter", "Open"],
  ["X", "In the list: select a run, with Shift all up to it"],
  ["A, E", "Answer the run, stop it. In the list: the run with the focus, or the selected ones"],
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

/** The dialog with the commands, or with the list of keys. `runId`: the run that the commands are about. */
export function CommandDialog({
  shown,
  runId,
  onClose,
}: {
  readonly shown: DialogName;
  readonly runId: string | undefined;
  readonly onClose: () => void;
}) {
  const [shared, setShared] = useState<RunItem>();
  if (shared !== undefined) {
    return <ShareDialog runId={shared.run_id} title={shared.title} onClose={onClose} />;
  }
  return (
    <ModalOverlay className="overlay top" isDismissable isOpen onOpenChange={(open) => open || onClose()}>
      <Modal>
        <Dialog className="dialog" aria-label={shown === "keys" ? "Keys" : "Commands"}>
          {shown === "keys" ? <Keys /> : <CommandList runId={runId} onDone={onClose} onShare={setShared} />}
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
