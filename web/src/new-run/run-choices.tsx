import { useQuery } from "@tanstack/react-query";
import { CheckField, Field } from "../parts/field.tsx";
import { catalogueQuery, environmentsQuery } from "../server/queries.ts";
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
        <AgentFields {...choices} />
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
      <Field label="Where" hint="Without a choice, a routing rule or the default of the team decides.">
        {(id) => (
          <select
            id={id}
            name="place"
            className="select"
            value={draft.place}
            onChange={(event) => onChange({ place: event.target.value })}
          >
            <option value="">Team default</option>
            <option value={IN_REPOSITORY}>A repository …</option>
            {data?.environments.map(({ uid, config }) => (
              <option key={uid} value={uid}>
                {config.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {draft.place === IN_REPOSITORY ? (
        <div className="grid-2">
          <Field label="Repository" problem={problems.repository}>
            {(id) => (
              <input
                id={id}
                name="repository"
                className="input"
                placeholder="acme/web"
                value={draft.repository}
                onChange={(event) => onChange({ repository: event.target.value })}
              />
            )}
          </Field>
          <Field label="Branch or tag">
            {(id) => (
              <input
                id={id}
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

function AgentFields({ draft, onChange }: Choices) {
  const { data } = useQuery(catalogueQuery);
  const agents = data?.agents.filter(({ usable }) => usable) ?? [];
  const standard = agents.find(({ is_default }) => is_default);
  const models = (agents.find(({ name }) => name === draft.agent) ?? standard)?.models ?? [];
  return (
    <>
      <Field label="Agent">
        {(id) => (
          <select
            id={id}
            name="agent"
            className="select"
            value={draft.agent}
            onChange={(event) => onChange({ agent: event.target.value, model: "" })}
          >
            <option value="">Default{standard && `: ${standard.display_name}`}</option>
            {agents
              .filter((agent) => agent !== standard)
              .map(({ name, display_name }) => (
                <option key={name} value={name}>
                  {display_name}
                </option>
              ))}
          </select>
        )}
      </Field>
      <Field label="Model">
        {(id) => (
          <select
            id={id}
            name="model"
            className="select"
            value={draft.model}
            onChange={(event) => onChange({ model: event.target.value })}
          >
            <option value="">Default of the agent</option>
            {models.map(({ id: model, display_name }) => (
              <option key={model} value={model}>
                {display_name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  );
}

function WayFields({ draft, onChange }: Choices) {
  return (
    <fieldset className="choices">
      <legend className="label">How it works</legend>
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
    </fieldset>
  );
}

const LIMITS = [
  { name: "maxCost", label: "Spend at most, in dollars", inputMode: "decimal" },
  { name: "maxMinutes", label: "Work at most, in minutes", inputMode: "decimal" },
  { name: "maxTurns", label: "Turns at most", inputMode: "numeric" },
] as const;

function LimitFields({ draft, problems, onChange }: Choices) {
  return (
    <div className="grid-3">
      {LIMITS.map(({ name, label, inputMode }) => (
        <Field key={name} label={label} problem={problems[name]}>
          {(id) => (
            <input
              id={id}
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
