import type { EnvironmentConfig } from "@errand/client";
import { type ComponentProps, useState } from "react";
import { EditForm } from "../edit/edit-form.tsx";
import { EditPage, type Guard } from "../edit/edit-page.tsx";
import { CheckField, Field, SelectField } from "../parts/field.tsx";
import { client } from "../server/client.ts";
import {
  type EnvironmentDraft,
  environmentConfigOf,
  environmentDraftOf,
  environmentIssuesOf,
  PULL_REQUEST_OPTIONS,
} from "./environment-draft.ts";

/** `/environments/new` and `/environments/{uid}`. */
export function EnvironmentPage({ id }: { readonly id: string }) {
  return (
    <EditPage
      what="environment"
      id={id}
      list="/environments"
      text="An environment is what an agent works in: repositories, image and setup. Changes apply to new runs."
      scope="settings:write"
      read={async (uid, signal) => {
        const { data, response } = await client.environments.retrieve(uid, { signal }).withResponse();
        return { data: data.config, response };
      }}
      remove={(uid, based) => client.environments.delete(uid, based)}
      consequence="Requests, schedules and routing rules that name it no longer find it."
    >
      {(config, guard) => <EnvironmentForm uid={id} config={config} guard={guard} />}
    </EditPage>
  );
}

/** `config`: the environment as the server has it, if it exists. */
function EnvironmentForm({
  uid,
  config,
  guard,
}: {
  readonly uid: string;
  readonly guard: Guard;
  readonly config: EnvironmentConfig | undefined;
}) {
  const [draft, setDraft] = useState(() => environmentDraftOf(config));
  const [isForTeam, setForTeam] = useState(true);
  const change = (part: Partial<EnvironmentDraft>) => setDraft((before) => ({ ...before, ...part }));
  const save = () => {
    const request = environmentConfigOf(draft, config);
    return config === undefined
      ? client.environments.create({ config: request, team: isForTeam })
      : guard((based) => client.environments.replace(uid, { config: request }, based));
  };
  return (
    <EditForm what="environment" list="/environments" check={() => environmentIssuesOf(draft)} save={save}>
      {(problemAt) => (
        <>
          <div className="grid-2">
            <Field label="Name" problem={problemAt("config.name")}>
              {(control) => (
                <input
                  {...control}
                  className="input"
                  placeholder="Web shop"
                  value={draft.name}
                  onChange={({ target }) => change({ name: target.value })}
                />
              )}
            </Field>
            <Field
              label="Image"
              hint="A container image. Workers need the docker sandbox for it."
              problem={problemAt("config.docker_image")}
            >
              {(control) => (
                <input
                  {...control}
                  className="input"
                  placeholder="node:24"
                  value={draft.image}
                  onChange={({ target }) => change({ image: target.value })}
                />
              )}
            </Field>
          </div>
          <Field label="Description" problem={problemAt("config.description")}>
            {(control) => (
              <input
                {...control}
                className="input"
                value={draft.description}
                onChange={({ target }) => change({ description: target.value })}
              />
            )}
          </Field>
          <div className="grid-2">
            <LinesField
              label="Repositories"
              hint="One on each line. A run begins with a clone of each."
              problem={problemAt("config.github_repos")}
              rows={4}
              placeholder="acme/web"
              value={draft.repositories}
              onChange={(repositories) => change({ repositories })}
            />
            <LinesField
              label="Setup commands"
              hint="One on each line. If one fails, the run ends."
              problem={problemAt("config.setup_commands")}
              rows={4}
              placeholder="npm ci"
              value={draft.commands}
              onChange={(commands) => change({ commands })}
            />
          </div>
          <LinesField
            label="Folders"
            hint="For large repositories, one on each line: the only folders that are checked out, with the files above them. The agent can add others. Empty: all."
            problem={problemAt("config.sparse")}
            rows={2}
            placeholder="services/api"
            value={draft.folders}
            onChange={(folders) => change({ folders })}
          />
          <LinesField
            label="Secrets"
            hint="One name on each line: the only secrets of the team that its runs get, unless a request or a named agent names others. Empty: all, and the personal ones of the person who starts the run."
            problem={problemAt("config.secrets")}
            rows={2}
            placeholder="NPM_TOKEN"
            value={draft.secrets}
            onChange={(secrets) => change({ secrets })}
          />
          <div>
            <CheckField
              label="Agents may reach public addresses"
              hint="Otherwise they reach only the model, the repositories of the run and its MCP servers."
              checked={draft.hasInternet}
              onChange={(hasInternet) => change({ hasInternet })}
            />
            <SelectField
              label="Changes"
              hint="What becomes of changes that the agent did not push. A request or a routing rule can say otherwise."
              value={draft.pullRequest}
              options={PULL_REQUEST_OPTIONS}
              onChange={(pullRequest) => change({ pullRequest })}
            />
            {config === undefined && (
              <CheckField
                label="For the team"
                hint="Otherwise only you and administrators see and use it."
                checked={isForTeam}
                onChange={setForTeam}
              />
            )}
          </div>
        </>
      )}
    </EditForm>
  );
}

interface LinesFieldProps extends Pick<ComponentProps<typeof Field>, "hint" | "label" | "problem"> {
  readonly rows: number;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A list with one entry on each line. */
function LinesField({ onChange, placeholder, rows, value, ...field }: LinesFieldProps) {
  return (
    <Field {...field}>
      {(control) => (
        <textarea
          {...control}
          className="input mono"
          rows={rows}
          placeholder={placeholder}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
