import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Problem } from "./problem.tsx";

interface Question {
  readonly question: string;
  readonly consequence: string;
  /** The text of the button that acts: `Delete policy`. */
  readonly verb: string;
  readonly action: () => Promise<unknown>;
}

/** A button for what cannot be undone. A dialog asks first and shows why the action failed. */
export function ConfirmedButton({ children, ...question }: Question & { readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="btn danger" onClick={() => setOpen(true)}>
        {children}
      </button>
      <ConfirmDialog {...question} isOpen={isOpen} onOpenChange={setOpen} />
    </>
  );
}

/** The question before what cannot be undone. It closes after the action. */
export function ConfirmDialog({
  question,
  consequence,
  verb,
  action,
  isOpen,
  onOpenChange,
}: Question & { readonly isOpen: boolean; readonly onOpenChange: (isOpen: boolean) => void }) {
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: action,
    onSuccess: () => onOpenChange(false),
  });
  const show = (open: boolean) => {
    reset();
    onOpenChange(open);
  };
  return (
    <ModalOverlay className="overlay" isDismissable isOpen={isOpen} onOpenChange={show}>
      <Modal>
        <Dialog className="dialog" role="alertdialog">
          <Heading slot="title">{question}</Heading>
          <p className="sm muted">{consequence}</p>
          {error && <Problem error={error} />}
          <div className="row">
            <button type="button" className="btn end" onClick={() => show(false)}>
              Cancel
            </button>
            <button type="button" className="btn danger" disabled={isPending} onClick={() => mutate()}>
              {isPending ? `${verb}…` : verb}
            </button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
