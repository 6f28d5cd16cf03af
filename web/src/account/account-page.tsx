import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PageHead } from "../frame/page-head.tsx";
import { areKeysOff, switchKeys } from "../frame/single-keys.ts";
import { exactTime } from "../parts/format.ts";
import { Loading, Problem } from "../parts/problem.tsx";
import { platformName } from "../parts/source.ts";
import { Ago } from "../parts/time.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { queries, whoamiQuery } from "../server/queries.ts";
import { ApiKeys } from "./api-keys.tsx";

/** `/account`: the user's keys, sign-ins and linked accounts. */
export function AccountPage() {
  const { data: whoami, error } = useQuery(whoamiQuery);
  if (whoami === undefined) {
    return (
      <div className="page">
        <PageHead title="Your account" />
        {error ? <Problem error={error} /> : <Loading what="your account" />}
      </div>
    );
  }
  const { principal, team, is_administrator } = whoami;
  const name = principal.display_name ?? principal.email ?? principal.uid;
  return (
    <div className="page">
      <PageHead
        title="Your account"
        text={`${name}, ${is_administrator ? "administrator" : "member"} of the team ${team.name}`}
      >
        <form method="post" action="/signout">
          <button type="submit" className="btn">
            Sign out
          </button>
        </form>
      </PageHead>
      <ApiKeys uid={principal.uid} />
      <SignIns />
      <LinkedAccounts uid={principal.uid} />
      <Preferences />
    </div>
  );
}

const METHODS: Readonly<Record<string, string>> = {
  api_key: "API key",
  oidc: "Identity provider",
  slack: "Slack",
  github: "GitHub",
  link: "One-time link",
};

function SignIns() {
  const signIns = useQuery({
    queryKey: ["sign-ins"],
    queryFn: ({ signal }) => client.signIns.list({ signal }),
  });
  const end = useMutation({
    mutationFn: (id: string) => client.signIns.end(id),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["sign-ins"] }),
  });
  return (
    <section className="section">
      <h2>Sign-ins</h2>
      {signIns.error && <Problem error={signIns.error} />}
      {signIns.data && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Signed in with</th>
              <th scope="col">Browser</th>
              <th scope="col">Last seen</th>
              <th scope="col">Expires</th>
              <th scope="col">
                <span className="sr">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {signIns.data.sign_ins.map(
              ({ id, method, user_agent, address, last_seen_at, expires_at, current }) => (
                <tr key={id}>
                  <td>
                    {METHODS[method] ?? method}
                    {current && <span className="faint"> (this browser)</span>}
                  </td>
                  <td>
                    {browserOf(user_agent)} <span className="faint">{address}</span>
                  </td>
                  <td data-title="Last seen">
                    <Ago time={last_seen_at} />
                  </td>
                  <td data-title="Expires" title={exactTime(expires_at)}>
                    {new Date(expires_at).toLocaleString()}
                  </td>
                  <td className="r">
                    {!current && (
                      <button
                        type="button"
                        className="btn danger"
                        disabled={end.isPending}
                        onClick={() => end.mutate(id)}
                      >
                        End<span className="sr"> the sign-in of {browserOf(user_agent)}</span>
                      </button>
                    )}
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      )}
    </section>
  );
}

function browserOf(userAgent: string | undefined): string {
  const name = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent ?? "")?.[1];
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(userAgent ?? "")?.[1];
  return [{ Edg: "Edge", OPR: "Opera" }[name ?? ""] ?? name, system].filter(Boolean).join(", ") || "unknown";
}

function LinkedAccounts({ uid }: { readonly uid: string }) {
  const links = useQuery({
    queryKey: ["identity-links"],
    queryFn: ({ signal }) => client.identityLinks.list({ signal }),
  });
  const remove = useMutation({
    mutationFn: (id: string) => client.identityLinks.delete(id),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["identity-links"] }),
  });
  const mine = links.data?.links.filter(({ principal_uid }) => principal_uid === uid) ?? [];
  return (
    <section className="section">
      <h2>Linked accounts</h2>
      {links.error && <Problem error={links.error} />}
      {links.data && mine.length === 0 && (
        <p className="muted sm">
          None. Sign in with Slack or GitHub, or ask the bot for a link: what you ask for there is then yours
          here.
        </p>
      )}
      <ul className="sm">
        {mine.map(({ id, adapter, subject }) => (
          <li key={id} className="row">
            <span>
              {platformName(adapter)} <span className="faint">{subject}</span>
            </span>
            <button
              type="button"
              className="btn ghost danger"
              disabled={remove.isPending}
              onClick={() => remove.mutate(id)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Preferences() {
  const [isOff, setOff] = useState(areKeysOff);
  const [theme, setTheme] = useState(() => localStorage.getItem("errand.theme") ?? "");
  return (
    <section className="section">
      <h2>In this browser</h2>
      <label className="check">
        <input
          type="checkbox"
          checked={!isOff}
          onChange={({ target }) => {
            switchKeys(!target.checked);
            setOff(!target.checked);
          }}
        />
        Single keys as shortcuts (? shows them)
      </label>
      <div className="field theme">
        <label htmlFor="theme">Colours</label>
        <select
          id="theme"
          className="select"
          value={theme}
          onChange={({ target: { value } }) => {
            setTheme(value);
            localStorage.setItem("errand.theme", value);
            document.documentElement.dataset.theme = value;
          }}
        >
          <option value="">As the system</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </div>
    </section>
  );
}
