import "./new-run.css";
import type { AmbientAgentConfig, RunAgentRequest, RunItem } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId, useRef, useState } from "react";
import { bytes } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { client } from "../server/client.ts";
import { catalogueQuery, environmentsQuery, queries } from "../server/queries.ts";

/** What the server accepts in one request. */
const FILES_MAX = 5;

interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly data: string;
}

/** What the user has chosen. Texts are as typed; an empty one means the default of the team. */
interface Draft {
  readonly prompt: string;
  readonly place: string;
  readonly repository: string;
  readonly ref: string;
  readonly agent: string;
  readonly model: string;
  readonly asksFirst: boolean;
  readonly plansFirst: boolean;
  readonly pullRequest: boolean;
  readonly maxCost: string;
  readonly maxMinutes: string;
  readonly maxTurns: string;
}

const EMPTY: Draft = {
  prompt: "",
  place: "",
  repository: "",
  ref: "",
  agent: "",
  model: "",
  asksFirst: false,
  plansFirst: false,
  pullRequest: true,
  maxCost: "",
  maxMinutes: "",
  maxTurns: "",
};

const IN_REPOSITORY = "repository";
const OWN_REPOSITORY = /^[\w.-]+\/[\w.-]+$/;

/** The choices of an earlier run. */
function draftOf(run: RunItem | undefined): Draft {
  if (run === undefined) {
    return EMPTY;
  }
  const { agent_config: config = {}, prompt } = run;
  const { budget = {} } = config;
  return {
    ...EMPTY,
    prompt,
    place: config.environment_id ?? (config.repository === undefined ? "" : IN_REPOSITORY),
    repository: config.repository ?? "",
    ref: config.ref ?? "",
    agent: config.harness?.type ?? "",
    model: config.model_id ?? "",
    asksFirst: config.permission_policy === "ask",
    pullRequest: config.pull_request !== "off",
    maxCost: budget.max_cost_usd?.toString() ?? "",
    maxMinutes: budget.max_minutes?.toString() ?? "",
    maxTurns: budget.max_turns?.toString() ?? "",
  };
}

type Problems = Partial<Record<keyof Draft, string>>;

function problemsOf(draft: Draft): Problems {
  const isNumber = (text: string) => text === "" || Number(text) > 0;
  return {
    ...(draft.prompt.trim() === "" ? { prompt: "Say what the agent should do." } : {}),
    ...(draft.place === IN_REPOSITORY && !OWN_REPOSITORY.test(draft.repository.trim())
      ? { repository: "Write the owner and the name, like acme/web." }
      : {}),
    ...(isNumber(draft.maxCost) ? {} : { maxCost: "Use a number above 0, or leave it empty." }),
    ...(isNumber(draft.maxMinutes) ? {} : { maxMinutes: "Use a number above 0, or leave it empty." }),
    ...(isNumber(draft.maxTurns) ? {} : { maxTurns: "Use 1 or more, or leave it empty." }),
  };
}

function requestOf(draft: Draft, files: readonly Attachment[]): RunAgentRequest {
  const budget = {
    ...(draft.maxCost === "" ? {} : { max_cost_usd: Number(draft.maxCost) }),
    ...(draft.maxMinutes === "" ? {} : { max_minutes: Number(draft.maxMinutes) }),
    ...(draft.maxTurns === "" ? {} : { max_turns: Number(draft.maxTurns) }),
  };
  const inRepository = draft.place === IN_REPOSITORY;
  const config: AmbientAgentConfig = {
    ...(draft.place === "" || inRepository ? {} : { environment_id: draft.place }),
    ...(inRepository ? { repository: draft.repository.trim() } : {}),
    ...(inRepository && draft.ref.trim() !== "" ? { ref: draft.ref.trim() } : {}),
    ...(draft.agent === "" ? {} : { harness: { type: draft.agent } }),
    ...(draft.model === "" ? {} : { model_id: draft.model }),
    ...(draft.asksFirst ? { permission_policy: "ask" as const } : {}),
    ...(draft.pullRequest ? {} : { pull_request: "off" as const }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  };
  return {
    prompt: draft.prompt,
    interactive: true,
    ...(draft.plansFirst ? { mode: "plan" as const } : {}),
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...(files.length === 0
      ? {}
      : { attachments: files.map(({ name, type, data }) => ({ file_name: name, mime_type: type, data })) }),
  };
}

/**
 * The form that starts a run. `compact`: with the prompt and the place only. `from`: an earlier run whose choices are
 * filled in.
 */
export function RunForm({ compact = false, from }: { readonly compact?: boolean; readonly from?: RunItem }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(() => draftOf(from));
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [problems, setProblems] = useState<Problems>({});
  const [state, setState] = useState<{ readonly isSending: boolean; readonly error?: unknown }>({
    isSending: false,
  });
  const { data: environments } = useQuery(environmentsQuery);
  const { data: catalogue } = useQuery(catalogueQuery);
  const form = useRef<HTMLFormElement>(null);
  // The same key for all tries of the same request, so that a lost answer does not start a second run.
  const attempt = useRef({ request: "", key: "" });
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const agents = catalogue?.agents.filter(({ usable }) => usable) ?? [];
  const models =
    (agents.find(({ name }) => name === draft.agent) ?? agents.find(({ is_default }) => is_default))
      ?.models ?? [];

  const start = async () => {
    const found = problemsOf(draft);
    setProblems(found);
    const [first] = Object.keys(found);
    if (first !== undefined) {
      form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
      return;
    }
    setState({ isSending: true });
    try {
      const request = requestOf(draft, files);
      const text = JSON.stringify(request);
      if (attempt.current.request !== text) {
        attempt.current = {
          request: text,
          key: `page-${Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("")}`,
        };
      }
      const { run_id } = await client.runs.create(request, { idempotencyKey: attempt.current.key });
      void queries.invalidateQueries({ queryKey: ["runs"] });
      await navigate({ to: "/runs/$id", params: { id: run_id } });
    } catch (error) {
      setState({ isSending: false, error });
    }
  };
  const add = async (added: Iterable<File>) => {
    const room = FILES_MAX - files.length;
    const read = await Promise.all([...added].slice(0, room).map(readFile));
    setFiles((before) => [...before, ...read]);
  };
  const places = (environments?.environments ?? []).map(({ uid, config }) => ({
    id: uid,
    name: config.name,
  }));
  return (
    <form
      ref={form}
      className="run-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          void start();
        }
      }}
    >
      <div className={problems.prompt === undefined ? "field" : "field bad"}>
        <label htmlFor="prompt" className={compact ? "sr" : ""}>
          What should be done?
        </label>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: Files can also be added with the button below. */}
        <div
          className="box"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void add(event.dataTransfer.files);
          }}
        >
          <textarea
            id="prompt"
            name="prompt"
            dir="auto"
            rows={compact ? 3 : 5}
            placeholder="Find out why the login test is flaky, and fix it."
            value={draft.prompt}
            aria-invalid={problems.prompt !== undefined}
            // biome-ignore lint/a11y/noAutofocus: The prompt is what the page is for.
            autoFocus={!compact}
            onChange={(event) => set({ prompt: event.target.value })}
            onPaste={(event) => event.clipboardData.files.length > 0 && void add(event.clipboardData.files)}
          />
          <div className="bar">
            <label className={files.length < FILES_MAX ? "btn ghost" : "btn ghost sr"}>
              <Icon name="attach" /> Attach
              <input
                className="sr"
                type="file"
                multiple
                onChange={(event) => {
                  void add(event.target.files ?? []);
                  event.target.value = "";
                }}
              />
            </label>
            {files.map(({ name, size }, index) => (
              <span className="chip" key={`${name}-${size}`}>
                <Icon name="file" />
                {name} <span className="faint">{bytes(size)}</span>
                <button
                  type="button"
                  className="chip-close"
                  aria-label={`Remove ${name}`}
                  onClick={() => setFiles(files.filter((_, at) => at !== index))}
                >
                  <Icon name="close" />
                </button>
              </span>
            ))}
            {compact && (
              <button type="submit" className="btn primary end" disabled={state.isSending}>
                {state.isSending ? "Starting…" : "Start run"}
              </button>
            )}
          </div>
        </div>
        {problems.prompt && <Message text={problems.prompt} />}
      </div>
      {!compact && (
        <>
          <div className="grid-2">
            <Field label="Where" hint="Nothing chosen: a routing rule or the default of the team decides.">
              {(id) => (
                <select
                  id={id}
                  name="place"
                  className="select"
                  value={draft.place}
                  onChange={(event) => set({ place: event.target.value })}
                >
                  <option value="">Team default</option>
                  <option value={IN_REPOSITORY}>A repository …</option>
                  {places.map(({ id: uid, name }) => (
                    <option key={uid} value={uid}>
                      {name}
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
                      onChange={(event) => set({ repository: event.target.value })}
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
                      onChange={(event) => set({ ref: event.target.value })}
                    />
                  )}
                </Field>
              </div>
            ) : (
              <div />
            )}
            <Field label="Agent">
              {(id) => (
                <select
                  id={id}
                  name="agent"
                  className="select"
                  value={draft.agent}
                  onChange={(event) => set({ agent: event.target.value, model: "" })}
                >
                  <option value="">
                    {agents.find(({ is_default }) => is_default)?.display_name ?? "Default"} (server default)
                  </option>
                  {agents
                    .filter(({ is_default }) => !is_default)
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
                  onChange={(event) => set({ model: event.target.value })}
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
          </div>
          <fieldset className="choices">
            <legend className="label">How it works</legend>
            <Check
              label="Ask me before commands and changes"
              hint="The run waits for your answer. You are told here and in the thread."
              checked={draft.asksFirst}
              onChange={(asksFirst) => set({ asksFirst })}
            />
            <Check
              label="Plan first"
              hint="The agent writes a plan and changes nothing."
              checked={draft.plansFirst}
              onChange={(plansFirst) => set({ plansFirst })}
            />
            <Check
              label="Open a pull request when there are changes"
              checked={draft.pullRequest}
              onChange={(pullRequest) => set({ pullRequest })}
            />
          </fieldset>
          <div className="grid-3">
            <Field label="Spend at most, in dollars" problem={problems.maxCost}>
              {(id) => (
                <input
                  id={id}
                  name="maxCost"
                  className="input"
                  inputMode="decimal"
                  value={draft.maxCost}
                  onChange={(event) => set({ maxCost: event.target.value })}
                />
              )}
            </Field>
            <Field label="Work at most, in minutes" problem={problems.maxMinutes}>
              {(id) => (
                <input
                  id={id}
                  name="maxMinutes"
                  className="input"
                  inputMode="decimal"
                  value={draft.maxMinutes}
                  onChange={(event) => set({ maxMinutes: event.target.value })}
                />
              )}
            </Field>
            <Field label="Turns at most" problem={problems.maxTurns}>
              {(id) => (
                <input
                  id={id}
                  name="maxTurns"
                  className="input"
                  inputMode="numeric"
                  value={draft.maxTurns}
                  onChange={(event) => set({ maxTurns: event.target.value })}
                />
              )}
            </Field>
          </div>
          <div className="row">
            <button type="submit" className="btn primary big" disabled={state.isSending}>
              {state.isSending ? "Starting…" : "Start run"} <kbd className="desk-only">Ctrl ↵</kbd>
            </button>
            <Link className="btn ghost big" to="/">
              Cancel
            </Link>
          </div>
        </>
      )}
      {state.error !== undefined && <Problem error={state.error} />}
    </form>
  );
}

function Field({
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
      {problem === undefined ? hint && <p className="hint">{hint}</p> : <Message text={problem} />}
    </div>
  );
}

function Message({ text }: { readonly text: string }) {
  return (
    <p className="message" role="alert">
      <Icon name="warning" />
      {text}
    </p>
  );
}

function Check({
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

function readFile(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => {
      const data = String(reader.result);
      resolve({
        name: file.name,
        type: file.type || "application/octet-stream",
        size: file.size,
        data: data.slice(data.indexOf(",") + 1),
      });
    };
    reader.readAsDataURL(file);
  });
}
