import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Problem } from "./problem.tsx";

/** A button for what cannot be undone. A dialog asks first and shows why the action failed. */
export function ConfirmedButton({
  question,
  consequence,
  verb,
  action,
  children,
}: {
  readonly question: string;
  readonly consequence: string;
  /** The text of the button that acts: `Delete policy`. */
  readonly verb: string;
  readonly action: () => Promise<unknown>;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: action,
    onSuccess: () => setOpen(false),
  });
  const show = (open: boolean) => {
    reset();
    setOpen(open);
  };
  return (
    <>
      <button type="button" className="btn danger" onClick={() => show(true)}>
        {children}
      </button>
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
    </>
  );
}
