import { type ReactNode, useId } from "react";
import { Icon } from "./icon.tsx";
import { type Option, withValues } from "./options.ts";

interface Notes {
  readonly hint?: string | undefined;
  /** It replaces the hint. */
  readonly problem?: string | undefined;
}

/** What connects a control with its label, its hint and its problem. */
interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string;
  readonly "aria-invalid": boolean;
}

/** A labelled control. `children` gets the attributes of the control. */
export function Field({
  label,
  children,
  ...notes
}: Notes & {
  readonly label: string;
  readonly children: (control: ControlProps) => ReactNode;
}) {
  const id = useId();
  const noteId = `${id}-note`;
  const isBad = notes.problem !== undefined;
  return (
    <div className={isBad ? "field bad" : "field"}>
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": noteId, "aria-invalid": isBad })}
      <div id={noteId}>
        <FieldNotes {...notes} />
      </div>
    </div>
  );
}

/** A choice. A value that is no longer offered, such as a deleted environment, stays until the user changes it. */
export function SelectField({
  label,
  name,
  value,
  options,
  onChange,
  ...notes
}: Notes & {
  readonly label: string;
  readonly name?: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <Field label={label} {...notes}>
      {(control) => (
        <select
          {...control}
          name={name}
          className="select"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        >
          {withValues(options, [value]).map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Several checkboxes or radio buttons with one label. `action` stands beside the label. */
export function FieldGroup({
  label,
  action,
  children,
  ...notes
}: Notes & {
  readonly label: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  const noteId = useId();
  return (
    <fieldset
      className={notes.problem === undefined ? "field group" : "field group bad"}
      aria-describedby={noteId}
    >
      <legend className="label">{label}</legend>
      {action}
      {children}
      <div id={noteId}>
        <FieldNotes {...notes} />
      </div>
    </fieldset>
  );
}

function FieldNotes({ hint, problem }: Notes) {
  return problem === undefined ? hint && <p className="hint">{hint}</p> : <FieldProblem text={problem} />;
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
