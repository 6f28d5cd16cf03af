import type { ProblemAt } from "../edit/issues.ts";
import { CheckField, Field } from "../parts/field.tsx";
import type { RuleDraft } from "./rule-draft.ts";

export function NameField({
  name,
  placeholder,
  problemAt,
  onChange,
}: {
  readonly name: string;
  readonly placeholder: string;
  readonly problemAt: ProblemAt;
  readonly onChange: (change: { readonly name: string }) => void;
}) {
  return (
    <Field label="Name" problem={problemAt("name")}>
      {(control) => (
        <input
          {...control}
          className="input"
          placeholder={placeholder}
          value={name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
      )}
    </Field>
  );
}

/** When the rule is evaluated, and whether it is. */
export function OrderFields({
  draft: { enabled, priority },
  problemAt,
  onChange,
}: {
  readonly draft: RuleDraft;
  readonly problemAt: ProblemAt;
  readonly onChange: (change: Partial<RuleDraft>) => void;
}) {
  return (
    <div className="grid-2">
      <Field
        label="Priority"
        hint="The rule with the lowest number is evaluated first. The first that applies decides."
        problem={problemAt("priority")}
      >
        {(control) => (
          <input
            {...control}
            className="input"
            inputMode="numeric"
            value={priority}
            onChange={({ target }) => onChange({ priority: target.value })}
          />
        )}
      </Field>
      <CheckField
        label="Active"
        hint="A rule that is not active is kept and decides nothing."
        checked={enabled}
        onChange={(checked) => onChange({ enabled: checked })}
      />
    </div>
  );
}
