import { useQuery } from "@tanstack/react-query";
import { AgentFields } from "../parts/agent-fields.tsx";
import { CheckField, Field, FieldGroup, SelectField } from "../parts/field.tsx";
import { environmentsQuery } from "../server/queries.ts";
import { type Draft, type DraftProblems, IN_REPOSITORY } from "./draft.ts";

interface Choices {
  readonly draft: Draft;
  readonly problems: DraftProblems;
  readonly onChange: (change: Partial<Draft>) => void;
}

/** Where the agent works, which one, how, and how much it may spend. */
export function RunChoices(choices: Choices) {
  return (
    <>
      <div className="grid-2">
        <PlaceFields {...choices} />
        <AgentFields {...choices.draft} problems={choices.problems} onChange={choices.onChange} />
      </div>
      <WayFields {...choices} />
      <LimitFields {...choices} />
    </>
  );
}

function PlaceFields({ draft, problems, onChange }: Choices) {
  const { data } = useQuery(environmentsQuery);
  return (
    <>
      <SelectField
        label="Where"
        name="place"
        hint="Without a choice, a routing rule or the default of the team decides."
        problem={problems.place}
        value={draft.place}
        options={[
          { value: "", name: "Team default" },
          { value: IN_REPOSITORY, name: "A repository …" },
          ...(data?.environments ?? []).map(({ uid, config }) => ({ value: uid, name: config.name })),
        ]}
        onChange={(place) => onChange({ place })}
      />
      {draft.place === IN_REPOSITORY ? (
        <div className="grid-2">
          <Field label="Repository" problem={problems.repository}>
            {(control) => (
              <input
                {...control}
                name="repository"
                className="input"
                placeholder="acme/web"
                value={draft.repository}
                onChange={(event) => onChange({ repository: event.target.value })}
              />
            )}
          </Field>
          <Field label="Branch or tag" problem={problems.ref}>
            {(control) => (
              <input
                {...control}
                name="ref"
                className="input"
                placeholder="its default branch"
                value={draft.ref}
                onChange={(event) => onChange({ ref: event.target.value })}
              />
            )}
          </Field>
        </div>
      ) : (
        <div className="desk-only" />
      )}
    </>
  );
}

function WayFields({ draft, onChange }: Choices) {
  return (
    <FieldGroup label="How it works">
      <CheckField
        label="Ask me before commands and changes"
        hint="The run waits until you answer on its page."
        checked={draft.asksFirst}
        onChange={(asksFirst) => onChange({ asksFirst })}
      />
      <CheckField
        label="Plan first"
        hint="The agent writes a plan and changes nothing."
        checked={draft.plansFirst}
        onChange={(plansFirst) => onChange({ plansFirst })}
      />
      <CheckField
        label="Open a pull request when there are changes"
        checked={draft.pullRequest}
        onChange={(pullRequest) => onChange({ pullRequest })}
      />
    </FieldGroup>
  );
}

const LIMITS = [
  { name: "maxCost", label: "Spend at most, in dollars", inputMode: "decimal" },
  { name: "maxMinutes", label: "Work at most, in minutes", inputMode: "decimal" },
  { name: "maxTurns", label: "Turns at most", inputMode: "numeric" },
] as const;

const PRIORITIES = [
  { value: "", name: "Default: Normal" },
  { value: "low", name: "Low" },
  { value: "normal", name: "Normal" },
  { value: "high", name: "High" },
] as const;

/** How urgent the run is, and what it may use. */
function LimitFields({ draft, problems, onChange }: Choices) {
  return (
    <div className="grid-2">
      <SelectField
        label="Priority"
        name="priority"
        hint="Which of the waiting runs of your team start first."
        problem={problems.priority}
        value={draft.priority}
        options={PRIORITIES}
        onChange={(value) =>
          onChange({ priority: PRIORITIES.find((each) => each.value === value)?.value ?? "" })
        }
      />
      {LIMITS.map(({ name, label, inputMode }) => (
        <Field key={name} label={label} problem={problems[name]}>
          {(control) => (
            <input
              {...control}
              name={name}
              className="input"
              inputMode={inputMode}
              value={draft[name]}
              onChange={(event) => onChange({ [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}
