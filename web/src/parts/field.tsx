import { type ReactNode, useId } from "react";
import { Icon } from "./icon.tsx";

/** A labelled control. `children` gets the id of the control. A problem replaces the hint. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly problem?: string | undefined;
  readonly children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div className={problem === undefined ? "field" : "field bad"}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {problem === undefined ? hint && <p className="hint">{hint}</p> : <FieldProblem text={problem} />}
    </div>
  );
}

export function FieldProblem({ text }: { readonly text: string }) {
  return (
    <p className="message" role="alert">
      <Icon name="warning" />
      {text}
    </p>
  );
}

/** A checkbox with its label, and a hint below the label. */
export function CheckField({
  label,
  hint,
  checked,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        {hint && <span className="hint block">{hint}</span>}
      </span>
    </label>
  );
}
