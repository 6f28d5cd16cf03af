import type { InstallationGuide } from "@errand/client";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";

type ManagedGuide = InstallationGuide & {
  readonly managed_app: NonNullable<InstallationGuide["managed_app"]>;
};

/** Creates the app with tokens of the operator, and updates it later with the stored ones. */
export function ManagedApp({ guide }: { readonly guide: ManagedGuide }) {
  const { created, link, text } = guide.managed_app;
  const heading = useId();
  const [token, setToken] = useState("");
  const [refreshToken, setRefreshToken] = useState("");
  const apply = useMutation({
    mutationFn: () =>
      client.installations.applyApp(
        guide.adapter,
        token && refreshToken ? { token, refresh_token: refreshToken } : {},
      ),
    onSuccess: () => {
      setToken("");
      setRefreshToken("");
      return queries.invalidateQueries();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply.mutate();
  };
  const verb = created ? "Update the app" : "Create the app";
  return (
    <section className="card" aria-labelledby={heading}>
      <h2 className="sm" id={heading}>
        {verb}
      </h2>
      <p className="muted sm">
        {text}{" "}
        <a href={link.url} target="_blank" rel="noreferrer">
          {link.title} <Icon name="external" />
        </a>
      </p>
      <form onSubmit={submit}>
        <TokenField
          label={`Configuration token${created ? " (empty: the stored one)" : ""}`}
          value={token}
          onChange={setToken}
        />
        <TokenField label="Its refresh token" value={refreshToken} onChange={setRefreshToken} />
        {apply.error && <Problem error={apply.error} />}
        {apply.data && <Applied app={apply.data} />}
        <button type="submit" className="btn primary" disabled={apply.isPending}>
          {apply.isPending ? `${verb}…` : verb}
        </button>
      </form>
    </section>
  );
}

type PlatformApp = Awaited<ReturnType<typeof client.installations.applyApp>>;

const CHANGES = {
  created: "The app is created.",
  updated: "The app is updated.",
  unchanged: "The app is up to date.",
};

/** The step that stays: only a person installs the app. */
function Applied({ app }: { readonly app: PlatformApp }) {
  return (
    <div className="note" role="status">
      <p className="grow">
        {CHANGES[app.change]}{" "}
        {app.needs_install && "Events come over HTTP. One click is left: install it in your workspace."}
      </p>
      {app.needs_install && (
        <a className="btn" href={app.install_url}>
          Install it
        </a>
      )}
    </div>
  );
}

function TokenField({
  label,
  onChange,
  value,
}: {
  readonly label: string;
  readonly onChange: (value: string) => void;
  readonly value: string;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        className="input"
        id={id}
        type="password"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
