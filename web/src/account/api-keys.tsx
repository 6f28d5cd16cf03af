import type { IssuedApiKey } from "@errand/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmedButton } from "../parts/confirmed-button.tsx";
import { copy } from "../parts/copy.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";

/** The API keys of a member. A new key is shown once. */
export function ApiKeys({ uid }: { readonly uid: string }) {
  const [name, setName] = useState("");
  const [issued, setIssued] = useState<IssuedApiKey>();
  const keys = useQuery({
    queryKey: ["keys"],
    queryFn: ({ signal }) => client.keys.list({ principal: uid }, { signal }),
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ["keys"] });
  const create = useMutation({
    mutationFn: () => client.keys.create({ name: name.trim() }),
    onSuccess: (key) => {
      setIssued(key);
      setName("");
    },
    onError: sayProblem,
    onSettled: refresh,
  });
  const usable = keys.data?.keys.filter(({ revoked_at }) => revoked_at === undefined) ?? [];
  return (
    <section className="section">
      <h2>API keys</h2>
      {keys.error && <Problem error={keys.error} />}
      {issued && (
        <div className="note done" role="status">
          <div className="grow">
            <p>
              The key <b>{issued.name}</b>. It is shown only now:
            </p>
            <pre className="command">
              <code>{issued.key}</code>
            </pre>
          </div>
          <button type="button" className="btn" onClick={() => void copy(issued.key, "Key")}>
            <Icon name="copy" /> Copy
          </button>
        </div>
      )}
      {usable.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Key</th>
              <th scope="col">Scopes</th>
              <th scope="col">Last used</th>
              <th scope="col">Expires</th>
              <th scope="col">
                <span className="sr">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {usable.map(({ id, name: keyName, hint, scopes, last_used_at, expires_at }) => (
              <tr key={id}>
                <td dir="auto">{keyName}</td>
                <td>
                  <code>{hint}</code>
                </td>
                <td data-title="Scopes">{scopes.join(", ")}</td>
                <td data-title="Last used">{last_used_at ? <Ago time={last_used_at} /> : "never"}</td>
                <td data-title="Expires">
                  {expires_at ? new Date(expires_at).toLocaleDateString() : "never"}
                </td>
                <td className="r">
                  <ConfirmedButton
                    question={`Revoke the key “${keyName}”?`}
                    consequence="Programs that use it stop working."
                    verb="Revoke key"
                    action={async () => {
                      await client.keys.revoke(id);
                      await refresh();
                    }}
                  >
                    Revoke<span className="sr"> {keyName}</span>
                  </ConfirmedButton>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {keys.data && usable.length === 0 && <p className="muted sm">You have no key.</p>}
      <form
        className="row gap-above"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <label className="sr" htmlFor="key-name">
          Name of the new key
        </label>
        <input
          id="key-name"
          className="input key-name"
          placeholder="Name, such as: laptop"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <button type="submit" className="btn" disabled={name.trim() === "" || create.isPending}>
          {create.isPending ? "Creating…" : "New key"}
        </button>
      </form>
    </section>
  );
}
